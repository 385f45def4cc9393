import t from 'tap'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const url = 'https://8.8.8.8/hook'

t.test('events are listed by type, and an event shows its deliveries', async (t) => {
  const { test, one, admin, stranger, viewer } = await webhookVisitors(shared)
  t.match((await admin.open('/app/events')).body, 'No events yet')
  const endpointId = await createEndpoint(test.database, one, { url })
  const deliveryId = await createDelivery(test.database, { ...one, endpointId })
  const { rows } = await test.database.admin.query(
    `UPDATE outbound_events SET cause = 'request:abc', body = '{"x":"<i>"}' RETURNING id, type`,
  )
  const [event] = rows
  const path = `/app/events/${event.id}`
  const list = (await admin.open('/app/events')).body
  t.match(list, `<a href="${path}">${event.type}</a>`)
  t.match((await admin.open(`/app/events?type=${event.type}`)).body, path)
  t.notMatch((await admin.open('/app/events?type=subscription.activated')).body, path)
  t.equal((await admin.open('/app/events?type=None')).statusCode, 400)
  t.notMatch((await admin.open('/app/events?type=none')).body, path)

  const { body } = await admin.open(path)
  t.match(body, `<a href="/app/deliveries/${deliveryId}"><bdi>${url}</bdi></a>`)
  t.match(body, 'Request <code>abc</code>')
  t.match(body, '{\n  &quot;x&quot;: &quot;&lt;i&gt;&quot;\n}', 'indented')
  t.notMatch(body, '<i>')
  t.equal((await stranger.open(path)).statusCode, 404)
  t.notMatch((await stranger.open('/app/events')).body, path)
  t.equal((await viewer.open('/app/events')).statusCode, 403)
  t.equal((await viewer.open(path)).statusCode, 403)
})

t.test('events are found by their id and by the id of their object', async (t) => {
  const { test, one, admin, stranger } = await webhookVisitors(shared)
  const { admin: db } = test.database
  const endpointId = await createEndpoint(test.database, one, { url })
  await createDelivery(test.database, { ...one, endpointId, eventType: 'invoice.created' })
  await createDelivery(test.database, { ...one, endpointId, status: 'pending', attempts: 0 })
  await db.query(
    `INSERT INTO outbound_events (tenant_id, id, type, body)
     SELECT $1, 'msg_' || n, 'post.updated',
       '{"id":"msg_' || n || '","type":"post.updated","createdAt":"x","data":{"id":' || n || ',"title":"\\u0000"}}'
     FROM unnest(ARRAY[7, 77]) AS n`,
    [one.tenantId],
  )
  const idsOf = (body: string) => [...body.matchAll(/events\/(msg_[^"]+)"/g)].map(([, id]) => id)
  const all = (await admin.open('/app/events')).body
  t.equal(idsOf(all).length, 4)
  t.match(all, '<a href="/app/invoices/1">Invoice 1</a>')
  t.match(all, '<a href="/app/posts/77">Post 77</a>')
  t.match(all, '<bdi>Order 1</bdi>', 'an order is for its owner')
  for (const text of ['1 failed', '1 waiting', 'Not sent']) t.match(all, text)
  const found = async (query: string) => idsOf((await admin.open(`/app/events?${query}`)).body)
  t.same(await found('search=7'), ['msg_7'], 'of an object, exactly')
  t.same(await found('search=msg_77'), ['msg_77'], 'of an event')
  t.equal((await found('search=1')).length, 2)
  t.equal((await found('search=1&type=invoice.created')).length, 1)
  t.match((await admin.open('/app/events?search=8')).body, 'No matching events')
  t.same(idsOf((await stranger.open('/app/events?search=msg_7')).body), [])
})

t.test('the list of events has links to older and newer ones', async (t) => {
  const { test, one, admin } = await webhookVisitors(shared)
  await test.database.admin.query(
    `INSERT INTO outbound_events (tenant_id, id, type, body)
     SELECT $1, 'msg_' || lpad(n::text, 43, '0'), 'order.updated', '{}' FROM generate_series(1, 30) AS n`,
    [one.tenantId],
  )
  const idsOf = (body: string) => [...body.matchAll(/events\/msg_0+(\d+)"/g)].map(([, id]) => id)
  const link = (body: string, rel: string) =>
    new RegExp(`href="([^"]+)" rel="${rel}"`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const first = (await admin.open('/app/events')).body
  const second = (await admin.open(link(first, 'next'))).body
  t.equal(idsOf(first)[0], '30', 'newest first')
  t.same([...idsOf(first), ...idsOf(second)].length, 30)
  t.same(idsOf((await admin.open(link(second, 'prev'))).body), idsOf(first))
})
