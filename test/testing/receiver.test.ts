import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'

t.test('the receiver records requests byte for byte', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const body = Buffer.from([0, 255, 10, 13])
  const answer = await fetch(`${receiver.url}/a?b=c`, {
    method: 'POST',
    headers: { 'x-y': 'z' },
    body,
  })
  t.equal(answer.status, 204)
  const recorded = await receiver.next()
  t.match(recorded, { method: 'POST', url: '/a?b=c', headers: { 'x-y': 'z' } })
  t.same(recorded.body, body)
  t.equal(receiver.requests.length, 1)
})

t.test('`next` returns each request once, in order, and waits for it', async (t) => {
  const receiver = await startReceiver((_request, response) => response.end('first'))
  t.teardown(() => receiver.close())
  const waiting = [receiver.next(), receiver.next()]
  t.equal(await (await fetch(`${receiver.url}/1`)).text(), 'first')
  receiver.respond((_request, response) => response.writeHead(500).end())
  t.equal((await fetch(`${receiver.url}/2`)).status, 500)
  await fetch(`${receiver.url}/3`)
  const urls = (await Promise.all([...waiting, receiver.next()])).map(({ url }) => url)
  t.same(urls, ['/1', '/2', '/3'])
})

t.test('`close` ends a request without a response', async (t) => {
  const receiver = await startReceiver(() => {})
  const request = fetch(receiver.url).catch(() => 'broken off')
  await receiver.next()
  await receiver.close()
  t.equal(await request, 'broken off')
})
