import t, { type Test } from 'tap'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

async function withDelivery(t: Test) {
  const visitors = await webhookVisitors(await build(t))
  const { test, one } = visitors
  const endpointId = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/' })
  const path = `/app/webhooks/${endpointId}/deliveries/events`
  const create = (status: 'pending' | 'exhausted') =>
    createDelivery(test.database, { ...one, endpointId, status, attempts: 1 })
  return { ...visitors, path, create, first: await create('exhausted') }
}

/** The ids of the rows in an event. */
function idsIn(text: string): string[] {
  return [...text.matchAll(/\/app\/deliveries\/([\w-]{36})/g)].map(([, id = '']) => id)
}

t.test('new and changed rows arrive, others do not; the page has a link to reload', async (t) => {
  const { test, admin, path, create, first } = await withDelivery(t)
  const page = await admin.open(path.replace('/events', ''))
  t.match(page.body, `data-live="${path}"`)
  t.match(page.body, /<a href="[^"]*" data-reload>Reload<\/a>/)
  t.match(String(page.headers['content-security-policy']), /connect-src 'self'/)

  const address = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const response = await fetch(`${address}${path}?status=&httpStatus=5xx`, {
    headers: { cookie: admin.cookie },
  })
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  const reader = response.body?.getReader()
  const next = async () => {
    let text = ''
    while (idsIn(text).length === 0) text = new TextDecoder().decode((await reader?.read())?.value)
    return idsIn(text)
  }
  t.same(await next(), [first])
  const second = await create('pending')
  t.same(await next(), [second], 'only what is new')
  await test.database.admin.query(
    `UPDATE deliveries SET status = 'exhausted', finished_at = now() WHERE id = $1`,
    [second],
  )
  t.same(await next(), [second], 'only what has changed')
  await reader?.cancel()
})

t.test('a stream is bounded: by person, by right and by session', async (t) => {
  const { test, one, admin, viewer, stranger, path } = await withDelivery(t)
  t.equal((await viewer.open(path)).statusCode, 403)
  t.equal((await stranger.open(path)).statusCode, 404)
  t.equal((await admin.open(`${path}?event=%00`)).statusCode, 400)
  const address = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const follow = () => fetch(`${address}${path}`, { headers: { cookie: admin.cookie } })
  const open = await Promise.all(Array.from({ length: 8 }, follow))
  t.equal((await follow()).status, 429)
  await test.database.admin.query('DELETE FROM sessions WHERE user_id = $1', [one.userId])
  for (const response of open) {
    const events = (await response.text()).split('event: rows').length - 1
    t.ok(events < 10, `${events} events: long before the limit of a stream`)
  }
})

t.test('of an empty list the stream ends at once', async (t) => {
  const { admin, path } = await withDelivery(t)
  const { body } = await admin.open(`${path}?httpStatus=302`)
  t.equal(body, 'event: rows\ndata: {"markup":""}\n\n')
})
