import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const url = 'https://8.8.8.8/hook'
const fields = { url, description: 'mine', signature: 'spec' }
const day = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
const submission = { submission: '00000000-0000-4000-8000-000000000001' }
const nowhere = '/app/webhooks/00000000-0000-4000-8000-000000000000'

t.test('an endpoint of another tenant is a 404 for every request', async (t) => {
  const { test, other, admin, viewer } = await webhookVisitors(shared)
  const id = await createEndpoint(test.database, other, { url })
  const forms: [string, Record<string, string>][] = [
    ['/settings', { ...fields, url: 'https://10.0.0.1/' }],
    ['/test', submission],
    ['/probe', submission],
    ['/settings/rotate', { ...submission, overlapSeconds: '0' }],
    ['/enable', {}],
    ['/resume', {}],
    ['/settings/pause', { deliveries: 'hold' }],
    ['/settings/remove', { ...submission, confirm: 'yes' }],
    ['/replays', { ...submission, ...day }],
  ]
  const before = await test.database.admin.query('SELECT * FROM webhook_endpoints')
  for (const path of [`/app/webhooks/${id}`, nowhere]) {
    for (const tab of ['', '/deliveries', '/settings', '/probe']) {
      const missing = await admin.open(path + tab)
      t.equal(missing.statusCode, 404, tab)
      t.match(missing.body, 'aria-label="Pages"', 'the navigation stays')
    }
    for (const [action, form] of forms) {
      t.equal((await admin.send(path + action, form)).statusCode, 404, action)
      t.equal((await viewer.send(path + action, form)).statusCode, 403, action)
      const crossSite = { 'sec-fetch-site': 'cross-site' }
      t.equal((await admin.send(path + action, form, crossSite)).statusCode, 403, action)
    }
  }
  t.equal((await viewer.open(nowhere)).statusCode, 403)
  t.equal((await admin.open('/app/webhooks/1')).statusCode, 400)
  t.same((await test.database.admin.query('SELECT * FROM webhook_endpoints')).rows, before.rows)
})

t.test('an endpoint is edited; a refused URL is shown in the form', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const id = await createEndpoint(test.database, one, { url, eventTypes: ['endpoint.test'] })
  const path = `/app/webhooks/${id}/settings`
  t.match((await admin.open(path)).body, 'value="endpoint.test" checked', 'as chosen by the API')

  const change = { ...fields, url: 'https://8.8.4.4/new', eventTypes: 'post.updated' }
  const changed = await admin.send(path, change)
  t.equal(changed.statusCode, 303)
  t.equal(changed.headers.location, `${path}?done=changed`)
  const { body } = await admin.open(`${path}?done=changed`)
  t.match(body, 'class="toast" role="status"><p>Saved.')
  t.match(body, '<h1 class="wrap address"><bdi>https://8.8.4.4/new</bdi></h1>')

  const refused = await admin.send(path, {
    ...fields,
    url: 'https://127.0.0.1/',
    description: 'typed',
  })
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'value="typed"')
  t.match(refused.body, 'The URL must have a host that is reachable')
  t.notMatch((await admin.open(`${path}?done=<i>`)).body, '<i>')
})

t.test('a test event is sent and its response shown, escaped', async (t) => {
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(404).end('<script>alert(1)</script>'),
  )
  t.teardown(() => receiver.close())
  const settings = { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` }
  const { test, one, other, admin, stranger } = await webhookVisitors(await build(t, settings))
  await startCallers(t, test)
  const id = await createEndpoint(test.database, one, {
    url: `${receiver.url}/`,
    status: 'disabled',
  })
  const sent = await admin.submit(`/app/webhooks/${id}/test`)
  t.equal(sent.statusCode, 303)
  t.equal((await receiver.next()).headers['content-type'], 'application/json')
  const { body } = await admin.open(String(sent.headers.location))
  t.match(body, 'Test result')
  t.match(body, />404<\/span> Attempt 1, [\d.]+ m?s/)
  t.match(body, 'The path of the URL does not exist.')
  t.match(body, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.notMatch(body, '<script>')

  const query = String(sent.headers.location).split('?')[1]
  const theirs = await createEndpoint(test.database, other, { url })
  const foreign = await stranger.open(`/app/webhooks/${theirs}?${query}`)
  t.equal(foreign.statusCode, 200)
  t.notMatch(foreign.body, 'Test result')
})

t.test('a rotated secret is shown once, with the time until which the old one signs', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const id = await createEndpoint(test.database, one, { url })
  const rotate = (overlapSeconds: string) =>
    admin.submit(`/app/webhooks/${id}/settings/rotate`, { overlapSeconds })
  const result = async (overlapSeconds: string) =>
    admin.open(String((await rotate(overlapSeconds)).headers.location))
  const rotated = await result('3600')
  t.equal(rotated.headers['cache-control'], 'no-store')
  t.match(rotated.body, /<code id="new-secret-text">whsec_[\w+/]{43}=<\/code>/)
  t.match(rotated.body, 'also signed with the old secret')
  t.match((await result('0')).body, 'The old secret is no longer used.')
  t.equal((await rotate('1')).statusCode, 400)
  for (const tab of ['', '/settings'])
    t.notMatch((await admin.open(`/app/webhooks/${id}${tab}`)).body, 'whsec_')
})

t.test('an inactive endpoint can be enabled, and deleted only with confirmation', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const id = await createEndpoint(test.database, one, { url, status: 'disabled' })
  const path = `/app/webhooks/${id}`
  t.match((await admin.open(path)).body, 'Enable endpoint')
  t.equal((await admin.send(`${path}/enable`)).headers.location, `${path}?done=enabled`)
  const { body } = await admin.open(path)
  t.match(body, 'Healthy')
  t.notMatch(body, 'Enable endpoint')

  t.equal((await admin.submit(`${path}/settings/remove`)).statusCode, 400)
  t.equal((await admin.open(path)).statusCode, 200)
  const removed = await admin.submit(`${path}/settings/remove`, { confirm: 'yes' })
  t.equal(removed.headers.location, '/app/webhooks?done=removed')
  t.equal((await admin.open(path)).statusCode, 404)
})

t.test('an endpoint is paused in its settings and resumed on its page', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  const id = await createEndpoint(test.database, one, { url })
  const path = `/app/webhooks/${id}`
  t.notMatch((await admin.open(path)).body, 'Resume endpoint')
  const pause = (deliveries: string) => admin.send(`${path}/settings/pause`, { deliveries })
  t.equal((await pause('both')).statusCode, 400)
  t.equal((await pause('drop')).headers.location, `${path}?done=paused`)
  const { body } = await admin.open(path)
  t.match(body, />Paused<[\s\S]*Nothing waits: replay what it missed/)
  t.notMatch((await admin.open(`${path}/settings`)).body, 'Pause endpoint')
  const replay = await admin.submit(`${path}/replays`, day)
  t.equal(replay.statusCode, 409)
  t.match(
    replay.body,
    'The endpoint is paused, so nothing was replayed. Resume the endpoint first.',
  )
  t.equal((await admin.send(`${path}/resume`)).headers.location, `${path}?done=resumed`)
  t.match((await admin.open(path)).body, />Healthy</)
})

t.test(
  'deliveries are filtered by status and event type, newest first, page by page',
  async (t) => {
    const { test, one, admin } = await webhookVisitors(shared)
    const endpointId = await createEndpoint(test.database, one, { url })
    const path = `/app/webhooks/${endpointId}/deliveries`
    t.match((await admin.open(path)).body, 'No deliveries yet.')
    const ids: string[] = []
    for (let made = 0; made < 23; made += 1) {
      const createdAt = new Date(Date.UTC(2026, 0, 1, 0, made)).toISOString()
      const delivery = { ...one, endpointId, createdAt, attempts: 1 }
      const kept = made === 3 ? ({ status: 'succeeded', eventType: 'post.deleted' } as const) : {}
      ids.unshift(await createDelivery(test.database, { ...delivery, ...kept }))
    }
    const shown = (body: string) =>
      [...body.matchAll(/"\/app\/deliveries\/([\w-]+)"/g)].map(([, id]) => id)
    const first = await admin.open(path)
    t.same(shown(first.body), ids.slice(0, 20))
    t.match(first.body, />It has an error of its own\./, 'what the status does not say comes first')
    const [, older = ''] = /href="([^"]*)" rel="next"/.exec(first.body) ?? []
    const second = await admin.open(older.replaceAll('&amp;', '&'))
    t.same(shown(second.body), ids.slice(20))
    t.notMatch(second.body, 'rel="next"')
    const [, newer = ''] = /href="([^"]*)" rel="prev"/.exec(second.body) ?? []
    t.same(shown((await admin.open(newer.replaceAll('&amp;', '&'))).body), ids.slice(0, 20))
    t.match(first.body, '23 in all.')
    t.match(first.body, 'data-live=')
    t.notMatch(second.body, 'data-live=', 'an older page stays as it is')

    const only = async (query: string) => shown((await admin.open(`${path}?${query}`)).body)
    t.same(await only('status=succeeded&eventType='), [ids[19]])
    t.same(await only('status=&eventType=post.deleted'), [ids[19]])
    const searched = 'Searched in the newest 10,000 deliveries.'
    for (const query of ['status=pending', 'eventType=post.deleted', 'httpStatus=2xx']) {
      t.match((await admin.open(`${path}?${query}`)).body, searched, query)
    }
    for (const query of ['', `event=${ids[7]}`, 'httpStatus=5xx', 'since=hour']) {
      t.notMatch((await admin.open(`${path}?${query}`)).body, searched, query)
    }
    t.same(await only('status=pending&eventType=post.deleted'), [])
    t.same(await only('from=2026-01-01T00:02&to=2026-01-01T00:04'), ids.slice(19, 21))
    t.same((await only('sort=createdAt')).slice(0, 2), [ids[22], ids[21]], 'oldest first')
    t.notMatch((await admin.open(`${path}?sort=createdAt`)).body, 'data-live=')
    const range = 'from=2026-01-01T00:02:00.500&to=2026-01-02T00:00&httpStatus=5xx'
    const { body: ranged } = await admin.open(`${path}?${range}`)
    const replays = path.replace(/deliveries$/, 'replays/new?')
    const again =
      'httpStatus=5xx&amp;from=2026-01-01T00%3A02%3A00.500&amp;to=2026-01-02T00%3A00%3A00.000'
    t.match(ranged, `href="${replays}${again}">Replay all that match`)
    t.match(ranged, '<details class="more" open>', 'a range in use is shown')
    t.match(ranged, '20 in all.')
    const review = await admin.open(`${replays}${again.replaceAll('&amp;', '&')}`)
    t.match(review.body, 'Replay 20 deliveries?')
    t.same(await only(`event=${ids[7]}`), [ids[7]], 'the id of a delivery')
    t.same(await only('httpStatus=404'), [])
    t.same((await only('httpStatus=5xx&eventType=')).length, 20)
    const bads = ['status=lost', 'eventType=X', 'cursor=x', 'httpStatus=9xx']
    for (const bad of [...bads, 'httpStatus=%00', 'event=%00', `event=${'x'.repeat(65)}`])
      t.equal((await admin.open(`${path}?${bad}`)).statusCode, 400, bad)
  },
)

t.test(
  'a receiver is checked from the page: its grade, its faults, and no second check',
  async (t) => {
    let count = 0
    const receiver = await startReceiver((_request, response) => {
      count += 1
      response.writeHead(200).end()
    })
    t.teardown(() => receiver.close())
    const settings = { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` }
    const { test, one, admin, viewer } = await webhookVisitors(await build(t, settings))
    await startCallers(t, test)
    const id = await createEndpoint(test.database, one, { url: `${receiver.url}/` })
    const path = `/app/webhooks/${id}/probe`
    t.match((await admin.open(path)).body, 'grades from A to F')
    t.equal((await viewer.submit(path)).statusCode, 403)

    const form = { submission: randomUUID() }
    const checked = await admin.send(path, form)
    t.equal(checked.headers.location, `${path}?done=probed`)
    const { body } = await admin.open(path)
    t.match(body, 'Grade F', 'a receiver that accepts everything')
    t.match(body, 'The signature is not verified')
    t.match(body, 'Verify every request before you use it')
    const made = count
    t.equal((await admin.send(path, form)).headers.location, `${path}?done=probing`)
    const again = await admin.submit(path)
    t.equal(again.statusCode, 429)
    t.match(again.headers['retry-after'], /^\d+$/)
    t.match(again.body, 'It can be checked again after')
    t.equal(count, made, 'nothing more was sent')
  },
)
