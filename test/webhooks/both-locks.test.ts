import t from 'tap'
import type { TestUser } from '#dev/testing/people.ts'
import type { Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import {
  changeEndpoint,
  deleteEndpoint,
  enableEndpoint,
  findEndpoint,
  listEndpoints,
  rotateSecret,
} from '#src/webhooks/endpoints/endpoints.ts'
import { readFeed } from '#src/webhooks/events/feed.ts'
import { findDelivery, findSentRequest, listDeliveries } from '#src/webhooks/history/deliveries.ts'
import { createReplay, findReplay, replayDelivery } from '#src/webhooks/history/replays.ts'
import { measureEndpoints, measurePeriod } from '#src/webhooks/history/stats.ts'
import { sendTest, testType } from '#src/webhooks/probe/test-event.ts'
import { build } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { createReplayOf, twoAdmins, url } from '#test/support/callers/webhook-admin.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { exhaustedDelivery } from '#test/support/receiver/delivery.ts'
import { testKeys } from '#test/support/receiver/webhook-endpoint.ts'

const tables = [
  'webhook_endpoints',
  'endpoint_states',
  'endpoint_probes',
  'outbound_events',
  'deliveries',
  'delivery_attempts',
  'endpoint_replays',
]
const now = new Date('2026-03-01T10:00:00Z')
const range = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }

t.test('query scope alone: without row-level security a foreign row is still a 404', async (t) => {
  const { test, one, other, sendAsOther } = await twoAdmins(await build(t))
  const { id, endpointId } = await exhaustedDelivery(test.database, one)
  const replayId = await createReplayOf(test.database, one, endpointId)
  const app = await appCaller(test)
  for (const table of tables) {
    await test.database.admin.query(`ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`)
  }
  const before = await everything()
  const endpoint = `/webhook-endpoints/${endpointId}`
  const routes = [
    ['GET', endpoint],
    ['PATCH', endpoint, { description: 'mine', url }],
    ['DELETE', endpoint],
    ['POST', `${endpoint}/rotate-secret`],
    ['POST', `${endpoint}/enable`],
    ['POST', `${endpoint}/test`],
    ['POST', `${endpoint}/replay`, range],
    ['GET', `${endpoint}/replays/${replayId}`],
    ['GET', `${endpoint}/deliveries`],
    ['GET', `/deliveries/${id}`],
    ['POST', `/deliveries/${id}/replay`],
  ] as const
  for (const [method, path, body] of routes) {
    t.equal((await sendAsOther(method, path, body)).statusCode, 404, `${method} ${path}`)
  }
  const named = `/tenants/${other.tenantId}/webhook-endpoints`
  t.equal((await app.use('DELETE', `${named}/${endpointId}`)).statusCode, 404, 'nor for the app')
  t.strictSame((await app.use('GET', named)).json().data, [])
  const tabs = ['', '/deliveries', '/settings', '/probe'].map(
    (tab) => `/app/webhooks/${endpointId}${tab}`,
  )
  const pages = [...tabs, `/app/deliveries/${id}`]
  for (const page of pages) t.equal((await sendAsOther('GET', page)).statusCode, 404, page)
  const overview = (await sendAsOther('GET', '/app/webhooks')).body
  t.match(overview, 'No endpoints yet.')
  t.notMatch(overview, 'class="strip"')
  for (const list of ['/webhook-endpoints', '/events']) {
    t.strictSame((await sendAsOther('GET', list)).json().data, [], list)
  }
  t.strictSame(await everything(), before, 'nothing was changed')

  async function everything() {
    const rows = tables.map((table) => `SELECT row_to_json(x)::text AS row FROM ${table} x`)
    return (await test.database.admin.query(`${rows.join(' UNION ALL ')} ORDER BY 1`)).rows
  }
})

t.test('row-level security alone: a query with another tenant finds nothing', async (t) => {
  const { test, one, other } = await twoAdmins(await build(t))
  const { id, endpointId } = await exhaustedDelivery(test.database, one)
  const replayId = await createReplayOf(test.database, one, endpointId)
  const { db, queue, answers } = test.app
  const enter = await allowScopes<TestUser>(test.database)
  const clientInfo = { userAgent: null, ip: null }
  const by = { ...one, clientInfo }
  const page = { limit: 50, after: null }
  const rotation = { keys: testKeys, now, overlap: 60 }
  const dates = { from: new Date(range.from), to: new Date(range.to), status: null }
  const attempts: Record<string, (tx: Tx) => Promise<unknown>> = {
    find: (tx) => findEndpoint(tx, one, endpointId),
    change: (tx) => changeEndpoint(tx, by, endpointId, { description: 'mine' }, now),
    rotate: (tx) => rotateSecret(tx, by, endpointId, rotation),
    enable: (tx) => enableEndpoint(tx, by, endpointId, now),
    deliveries: (tx) => listDeliveries(tx, one, endpointId, {}, page),
    delivery: (tx) => findDelivery(tx, one, id),
    replay: (tx) => replayDelivery(tx, by, id, now),
    'replay of a range': (tx) => createReplay(tx, queue, by, endpointId, dates, now),
    statistics: (tx) => measurePeriod(tx, one, new Date(), endpointId, 'day'),
    progress: (tx) => findReplay(tx, one, { endpointId, id: replayId }),
  }
  for (const [name, attempt] of Object.entries(attempts)) {
    t.equal(await db.write(enter(other), attempt), null, name)
    t.ok(await db.write(enter(one), attempt), `${name}, by its own`)
  }
  t.notOk(await db.write(enter(other), (tx) => deleteEndpoint(tx, by, endpointId)))
  t.match(await db.read(enter(other), (tx) => listEndpoints(tx, one, page)), { data: [] })
  const measure = (tx: Tx) => measureEndpoints(tx, one, new Date())
  t.equal((await db.read(enter(other), measure)).size, 0)
  t.equal((await db.read(enter(one), measure)).size, 1)
  const { rows } = await test.database.admin.query('SELECT event_id FROM deliveries')
  const sent = (tx: Tx) => findSentRequest(tx, one, { endpointId, eventId: rows[0].event_id })
  t.equal(await db.read(enter(other), sent), null)
  t.ok(await db.read(enter(one), sent))
  t.match(await db.read(enter(other), (tx) => readFeed(tx, one, page)), { data: [] })
  // Enters the other tenant, but says that it is this one.
  const foreign: Entry<TestUser> = { ...enter(other), admit: () => one }
  const deps = { queue, answers, keys: testKeys, clientInfo }
  t.equal(await sendTest(db, foreign, { endpointId, type: testType }, deps), null)
})
