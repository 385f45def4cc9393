import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'
import { createProviderApi, limitByCustomer } from '#src/billing/provider-api.ts'

t.test('requests the object by path, with the key, and accepts only that object', async (t) => {
  const server = await startReceiver((_request, response) =>
    response.end('{"id":"sub_1","status":"active"}'),
  )
  t.teardown(() => server.close())
  const api = createProviderApi({ url: `${server.url}/v1`, key: 'the key' })
  t.same(await api.findSubscription('sub_1'), { id: 'sub_1', status: 'active' })
  t.match(await server.next(), {
    method: 'GET',
    url: '/v1/subscriptions/sub_1',
    headers: { authorization: 'Bearer the key' },
  })
  await t.rejects(api.findSubscription('sub_2'), { message: /another object/ })
})

t.test('only a plain id becomes part of a path', async (t) => {
  const server = await startReceiver()
  t.teardown(() => server.close())
  const api = createProviderApi({ url: server.url, key: 'k' })
  for (const id of ['..', '../charges/1', 'a/b', 'a?b', 'a#b', 'a%2fb', '', 'é', 'x'.repeat(256)]) {
    t.equal(await api.findSubscription(id), 'unknown', id)
  }
  t.equal(server.requests.length, 0)
})

t.test('each status has its meaning', async (t) => {
  const redirected = await startReceiver()
  const server = await startReceiver()
  t.teardown(() => Promise.all([server.close(), redirected.close()]))
  const api = createProviderApi({ url: server.url, key: 'k' })
  const answer = (status: number, body = '', headers = {}) =>
    server.respond((_request, response) => response.writeHead(status, headers).end(body))
  answer(404)
  t.equal(await api.findSubscription('sub_1'), 'unknown')
  answer(410)
  t.equal(await api.findSubscription('sub_1'), 'gone')
  for (const status of [204, 400, 401, 403, 429, 500, 503]) {
    answer(status)
    await t.rejects(api.findSubscription('sub_1'), { message: new RegExp(`answered ${status}`) })
  }
  answer(302, '', { location: redirected.url })
  await t.rejects(api.findSubscription('sub_1'), { message: /answered 302/ })
  t.equal(redirected.requests.length, 0, 'redirects are not followed')
  for (const body of ['', 'null', '[]', '"sub_1"', '{', '{"id":1}']) {
    answer(200, body)
    await t.rejects(api.findSubscription('sub_1'), { message: /another object/ }, body)
  }
  answer(200, JSON.stringify({ id: 'sub_1', padding: 'x'.repeat(300_000) }))
  await t.rejects(api.findSubscription('sub_1'), { message: /too large/ })
})

t.test('an API that does not answer fails with the reason', async (t) => {
  const server = await startReceiver(() => {})
  const api = createProviderApi({ url: server.url, key: 'k', timeoutMs: 50 })
  await t.rejects(api.findSubscription('sub_1'), { message: /timed out/ })
  server.respond((_request, response) => response.writeHead(200).write('{"id":'))
  await t.rejects(api.findSubscription('sub_1'), { message: /timed out/ })
  await server.close()
  await t.rejects(api.findSubscription('sub_1'), { message: /did not answer/ })
})

t.test('calls in progress about one customer are limited', async (t) => {
  const gate = Promise.withResolvers<'gone'>()
  const api = limitByCustomer({ findSubscription: () => gate.promise }, 2)
  const running = [api.findSubscription('sub_1', 'cus_1'), api.findSubscription('sub_2', 'cus_1')]
  await t.rejects(api.findSubscription('sub_3', 'cus_1'), { name: 'CustomerBusy' })
  running.push(api.findSubscription('sub_4', 'cus_2'), api.findSubscription('sub_5'))
  gate.resolve('gone')
  t.same(await Promise.all(running), ['gone', 'gone', 'gone', 'gone'])
  t.equal(await api.findSubscription('sub_3', 'cus_1'), 'gone', 'there is room again')
})

t.test('every call about a customer counts for its limit', async (t) => {
  const gate = Promise.withResolvers<never>()
  const wait = () => gate.promise
  const api = limitByCustomer({ findSubscription: wait, findInvoice: wait, findHolder: wait }, 3)
  const running = Promise.allSettled([
    api.findSubscription('sub_1', 'cus_1'),
    api.findInvoice?.('in_1', 'cus_1'),
    api.findHolder?.('cus_1'),
  ])
  const busy = { name: 'CustomerBusy' }
  await t.rejects(async () => api.findInvoice?.('in_2', 'cus_1'), busy)
  await t.rejects(async () => api.findHolder?.('cus_1'), busy)
  await t.rejects(api.findSubscription('sub_2', 'cus_1'), busy)
  gate.reject(new Error('cut'))
  t.match(await running, [{ status: 'rejected' }, { status: 'rejected' }, { status: 'rejected' }])
})
