import { prepareByHand } from './by-hand.ts'
import { startGatehouse } from './contender.ts'
import { type Contender, measureContest, startBaseline } from './contest.ts'
import { ratioOf } from './measured.ts'
import { placeOrders } from './orders.ts'
import { onDatabase, type Place } from './place.ts'
import { measureServer } from './processes.ts'
import type { Effort, Section } from './section.ts'

const connections = 64

const note = `POST /orders, and PATCH /orders/:id with an event and one delivery, with a session each. “By hand”
is what a careful team writes with pg: one transaction that checks the session under a lock of the rows that
give the right, sets the scope of row-level security, writes, and publishes
(bench/baselines/write-by-hand.ts); in its favour it counts no quotas and its scope is a setting that any SQL
could set. The limit selects the session and inserts, without transaction, locks and row-level security.
Round trips are those that a response waits for: its additional delay if each takes longer, divided by that;
a test counts them at the socket.`

/** Creating and changing an order, compared with the same by hand and with two bare statements. */
export async function measureWrites(place: Place, effort: Effort): Promise<Section> {
  const contenders = await prepare(place)
  const { at, tripsOf, table } = await measureContest(contenders, connections, effort)
  return {
    title: 'Writes',
    ratios: [
      {
        measure: 'creating: requests/s ÷ the same by hand, 64 connections',
        value: ratioOf(at('create'), at('create by hand'), 'perSecond'),
        goal: '≥ 1.5',
      },
      {
        measure: 'creating: requests/s ÷ a select of the session and an insert, 64',
        value: ratioOf(at('create'), at('create, limit'), 'perSecond'),
        goal: '≥ 0.6',
      },
      {
        measure: 'changing with one delivery: requests/s ÷ the same by hand, 64',
        value: ratioOf(at('change'), at('change by hand'), 'perSecond'),
        goal: '≥ 1.3',
      },
      {
        measure: 'round trips to the database that creating waits for',
        value: tripsOf('create'),
        goal: '≤ 1.1',
      },
      {
        measure: 'round trips that a change with one delivery waits for',
        value: tripsOf('change'),
        goal: '≤ 1.1',
      },
    ],
    measures: table,
    note,
  }
}

async function prepare(place: Place): Promise<Map<string, Contender>> {
  const placed = await placeOrders(place, connections)
  await onDatabase(place.superuserUrl, [anEndpointEach])
  const creates = { creates: placed.map(({ cookie }) => ({ path: '/orders', cookie })) }
  const changes = { changes: placed }
  const gatehouse = { start: (url: string) => startGatehouse({ url }), databaseUrl: place.url }
  // Rows for the statistics, which the next step makes: PostgreSQL plans empty tables otherwise.
  await measureServer(await startGatehouse(place), { connections, seconds: 1, requests: changes })
  const byHand = await prepareByHand(place)
  const hand = { start: startBaseline('write-by-hand.ts'), databaseUrl: byHand }
  const limit = { start: startBaseline('write-limit.ts'), databaseUrl: place.superuserUrl }
  return new Map<string, Contender>([
    ['create', { ...gatehouse, requests: creates }],
    ['create by hand', { ...hand, requests: creates }],
    ['create, limit', { ...limit, requests: creates }],
    ['change', { ...gatehouse, requests: changes }],
    ['change by hand', { ...hand, requests: changes }],
  ])
}

const anEndpointEach = `
  WITH endpoint AS (
    INSERT INTO webhook_endpoints (tenant_id, url, signature, secret)
    SELECT tenant_id, 'https://receiver.example', 'spec', ''
    FROM orders ORDER BY id DESC LIMIT ${connections} RETURNING tenant_id, id)
  INSERT INTO endpoint_states (tenant_id, id) SELECT tenant_id, id FROM endpoint`
