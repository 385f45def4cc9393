import t, { type Test } from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import type { TenantScope } from '#src/access/caller.ts'
import { openDatabase } from '#src/db/database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { deleteEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { workReplayTurn } from '#src/webhooks/history/replays.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import {
  createDelivery,
  exhaustedDelivery,
  waitingAttempts,
} from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const now = new Date('2026-03-01T10:00:00Z')
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`
const range = { from: day(1), to: day(31) }

/** The server, an endpoint with deliveries of five days, and the worker's handler of replays. */
async function setUp(t: Test) {
  const admins = await twoAdmins(await build(t))
  const { database } = admins.test
  const db = openDatabase(database.workerUrl, 4, patient)
  const queue = openQueue(database.workerUrl, 'worker', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await db.close()
  })
  const endpointId = await createEndpoint(database, admins.one, { url: 'https://8.8.8.8/' })
  const ids: string[] = []
  for (let number = 1; number <= 5; number += 1) {
    const status = number === 2 ? ('succeeded' as const) : ('exhausted' as const)
    const delivery = { ...admins.one, endpointId, status, createdAt: day(number) }
    ids.push(await createDelivery(database, delivery))
  }
  const enter = await allowScopes<TestScope & TenantScope>(database)
  const work = (most = 100, mostRead = 10_000) => {
    const entry = enter({ tenantId: admins.one.tenantId })
    return workReplayTurn(db, queue, { job: null, entry }, now, { most, mostRead })
  }
  const replays = `/webhook-endpoints/${endpointId}/replay`
  const progress = async (id: string) => (await admins.send('GET', `${replays}s/${id}`)).json()
  const waiting = async () => (await waitingAttempts(database)).map(({ id }) => id).toSorted()
  const turns = async () => {
    const sql = `SELECT data FROM pgboss.job WHERE name = 'tenant-replay' ORDER BY id`
    return (await database.admin.query(sql)).rows.map(({ data }) => data.tenantId)
  }
  return { ...admins, enter, endpointId, ids, work, replays, progress, waiting, turns }
}

t.test('a range is replayed page by page, and shows its progress', async (t) => {
  const { send, replays, ids, work, progress, waiting, turns, endpointId, one } = await setUp(t)
  const asked = await send('POST', replays, range)
  t.equal(asked.statusCode, 202)
  const replay = asked.json()
  t.equal(asked.headers.location, `${replays}s/${replay.id}`)
  t.match(replay, { ...range, endpointId, status: null, total: 5, done: 0, finishedAt: null })
  t.strictSame(Object.keys(replay).toSorted(), [
    'cancelledAt',
    'createdAt',
    'deliveryIds',
    'done',
    'endpointId',
    'eventId',
    'eventType',
    'finishedAt',
    'from',
    'httpStatus',
    'id',
    'status',
    'to',
    'total',
  ])
  t.strictSame(await turns(), [one.tenantId], 'the job exists with the replay')
  t.strictSame(await waiting(), [], 'nothing is replayed yet')

  await work(2)
  t.strictSame(await waiting(), ids.slice(0, 2).toSorted(), 'the oldest first')
  t.match(await progress(replay.id), { done: 2, total: 5, finishedAt: null })
  t.strictSame(await turns(), [one.tenantId], 'one turn of the tenant waits')
  await work(2)
  await work(2)
  t.match(await progress(replay.id), { done: 5, finishedAt: now.toISOString() })
  t.strictSame(await waiting(), ids.toSorted())
  await work(2)
  t.match(await progress(replay.id), { done: 5 }, 'a finished replay stays finished')
})

t.test('selects by status and time: from inclusive, to exclusive', async (t) => {
  const { send, replays, ids, work, waiting } = await setUp(t)
  const chosen = { from: day(2), to: day(4), status: 'exhausted' }
  const { total } = (await send('POST', replays, chosen)).json()
  t.equal(total, 1)
  await work()
  t.strictSame(await waiting(), [ids[2]])
})

t.test('a page ends when it has compared enough, however few match', async (t) => {
  const { send, replays, ids, work, waiting, progress } = await setUp(t)
  const { id } = (await send('POST', replays, { ...range, status: 'succeeded' })).json()
  await work(100, 1)
  t.strictSame(await waiting(), [])
  t.match(await progress(id), { done: 0, finishedAt: null })
  await work(100, 2)
  t.strictSame(await waiting(), [ids[1]], 'it goes on behind what was read')
  t.match(await progress(id), { done: 1, finishedAt: null })
  await work(100, 3)
  t.match(await progress(id), { done: 1, finishedAt: now.toISOString() })
})

t.test('selects by the HTTP status of the latest attempt, by type and by event', async (t) => {
  const { test, send, replays, ids, work, waiting, endpointId } = await setUp(t)
  const { admin } = test.database
  await admin.query(
    `UPDATE deliveries SET stored_attempts = 1, event_type = 'post.updated',
       http_status = CASE id WHEN $1 THEN 404 WHEN $2 THEN 503 WHEN $3 THEN 0 WHEN $4 THEN 204 ELSE 200 END,
       unusual_status = CASE id WHEN $1 THEN 404 WHEN $2 THEN 503 WHEN $3 THEN 0 END,
       unusual_class = CASE id WHEN $1 THEN 4 WHEN $2 THEN 5 WHEN $3 THEN 0 END`,
    ids.slice(0, 4),
  )
  const counts: Record<string, number> = {
    '404': 1,
    '4xx': 1,
    '5xx': 1,
    none: 1,
    '200': 1,
    '204': 1,
    '2xx': 2,
    '3xx': 0,
    '500': 0,
  }
  const list = `/webhook-endpoints/${endpointId}/deliveries`
  for (const [httpStatus, count] of Object.entries(counts)) {
    const counted = await send('GET', `${list}/count?httpStatus=${httpStatus}`)
    t.strictSame(counted.json(), { count, isPartial: false }, httpStatus)
    const { data } = (await send('GET', `${list}?httpStatus=${httpStatus}`)).json()
    t.equal(data.length, count, `the list by ${httpStatus}`)
  }
  const [, , third] = ids
  const { rows } = await admin.query('SELECT event_id FROM deliveries WHERE id = $1', [third])
  const eventId = rows[0].event_id
  const chosen = { ...range, httpStatus: 'none', eventType: 'post.updated', eventId }
  const replay = (await send('POST', replays, chosen)).json()
  t.match(replay, { ...chosen, total: 1, deliveryIds: null })
  t.equal((await send('POST', replays, { ...chosen, eventType: 'post.deleted' })).json().total, 0)
  await work()
  t.strictSame(await waiting(), [third])
})

t.test('sends selected deliveries, each once, and no other', async (t) => {
  const { send, replays, ids, work, progress, waiting } = await setUp(t)
  const [first, , third] = ids
  const deliveryIds = [third, first, first]
  const asked = await send('POST', replays, { deliveryIds })
  t.equal(asked.statusCode, 202)
  const replay = asked.json()
  t.match(replay, { total: 2, deliveryIds: [third, first] })
  await work(1)
  t.strictSame(await waiting(), [first], 'the oldest first')
  await work(1)
  await work(1)
  t.strictSame(await waiting(), [first, third].toSorted())
  t.match(await progress(replay.id), { done: 2, finishedAt: now.toISOString() })
})

t.test('a selection with a delivery of another endpoint or tenant is a 404', async (t) => {
  const { test, one, other, send, replays, ids, work, waiting } = await setUp(t)
  const { id: foreign } = await exhaustedDelivery(test.database, other)
  const { id: ofOtherEndpoint } = await exhaustedDelivery(test.database, one)
  const missing = '00000000-0000-4000-8000-000000000000'
  for (const [name, id] of Object.entries({ foreign, ofOtherEndpoint, missing })) {
    const refused = await send('POST', replays, { deliveryIds: [ids[0], id] })
    t.equal(refused.statusCode, 404, name)
  }
  await work()
  t.strictSame(await waiting(), [], 'nothing of the selections was sent')
})

t.test('a cancelled replay sends nothing more', async (t) => {
  const { test, one, send, sendAsOther, replays, ids, work, progress, waiting } = await setUp(t)
  const { tenantId } = one
  const editor = await createUser(test.database, { tenantId, role: 'editor' })
  const sendAsEditor = as(test, { cookie: (await signIn(test, editor)).cookie })
  const { id } = (await send('POST', replays, range)).json()
  await work(2)
  const cancel = `${replays}s/${id}/cancel`
  t.equal((await sendAsOther('POST', cancel)).statusCode, 404, 'of another tenant')
  t.equal((await sendAsEditor('POST', cancel)).statusCode, 403, 'by an editor')
  t.match(await progress(id), { done: 2, finishedAt: null }, 'it still runs')
  const cancelled = await send('POST', cancel)
  t.equal(cancelled.statusCode, 200)
  t.match(cancelled.json(), { done: 2, total: 5, cancelledAt: String, finishedAt: String })
  t.strictSame((await send('POST', cancel)).json(), cancelled.json(), 'once is enough')
  await work(2)
  t.strictSame(await waiting(), ids.slice(0, 2).toSorted())
  t.match(await progress(id), { done: 2 })
  t.equal((await send('POST', replays, range)).statusCode, 202, 'another one may begin')
})

t.test('a finished replay cannot be cancelled any more', async (t) => {
  const { send, replays, work, progress } = await setUp(t)
  const { id } = (await send('POST', replays, range)).json()
  await work()
  const before = await progress(id)
  t.strictSame((await send('POST', `${replays}s/${id}/cancel`)).json(), before)
  t.equal(before.cancelledAt, null)
})

t.test('filters that could match nothing are refused', async (t) => {
  const { send, replays, endpointId, ids } = await setUp(t)
  const wrong = [
    { httpStatus: '4x' },
    { httpStatus: '4XX' },
    { httpStatus: '999' },
    { httpStatus: 404 },
    { eventId: 'msg_\u0000' },
    { eventId: 'x'.repeat(65) },
    { eventId: '' },
    { eventType: 'Order.eaten' },
    { deliveryIds: [ids[0]] },
  ]
  for (const filter of wrong) {
    const body = { ...range, ...filter }
    t.equal((await send('POST', replays, body)).statusCode, 400, JSON.stringify(filter))
  }
  const selections = [[], ['x'], [ids[0], null], Array(101).fill(ids[0])]
  for (const deliveryIds of selections) {
    t.equal((await send('POST', replays, { deliveryIds })).statusCode, 400)
  }
  const list = `/webhook-endpoints/${endpointId}/deliveries`
  const queries = ['httpStatus=%00', 'httpStatus=4040', 'eventId=%00', `eventId=${'x'.repeat(65)}`]
  for (const query of queries) {
    t.equal((await send('GET', `${list}?${query}`)).statusCode, 400, query)
    t.equal((await send('GET', `${list}/count?${query}`)).statusCode, 400, query)
  }
})

t.test('two replays of one range at once send each delivery once', async (t) => {
  const { send, replays, ids, work, waiting } = await setUp(t)
  const both = await Promise.all([send('POST', replays, range), send('POST', replays, range)])
  t.strictSame(
    both.map(({ statusCode }) => statusCode),
    [202, 202],
  )
  await work()
  await work()
  t.strictSame(await waiting(), ids.toSorted())
})

t.test('a page processed twice at once counts once', async (t) => {
  const { send, replays, work, progress } = await setUp(t)
  const { id } = (await send('POST', replays, range)).json()
  await Promise.all([work(), work()])
  t.match(await progress(id), { done: 5 })
})

t.test('deliveries of another endpoint or tenant are not part of it', async (t) => {
  const { test, one, other, send, sendAsOther, replays, ids, work, waiting } = await setUp(t)
  await exhaustedDelivery(test.database, one)
  await exhaustedDelivery(test.database, other)
  await test.database.admin.query(
    `UPDATE deliveries SET created_at = '2026-01-09'
    WHERE NOT id = ANY ($1)`,
    [ids],
  )
  const { id } = (await send('POST', replays, range)).json()
  await work()
  t.strictSame(await waiting(), ids.toSorted())
  t.equal((await sendAsOther('GET', `${replays}s/${id}`)).statusCode, 404)
})

t.test('a disabled endpoint gets no replay, and one in progress ends', async (t) => {
  const { test, send, replays, work, progress, waiting } = await setUp(t)
  const { id } = (await send('POST', replays, range)).json()
  await test.database.admin.query(
    `UPDATE endpoint_states SET status = 'disabled', disabled_at = now()`,
  )
  await work()
  t.match(await progress(id), { done: 0, finishedAt: now.toISOString() })
  t.strictSame(await waiting(), [])
  const refused = await send('POST', replays, range)
  t.equal(refused.statusCode, 409)
  t.match(refused.json().detail, /disabled\. Enable it first/)
})

t.test('`from` must be before `to`, by at most ninety days', async (t) => {
  const { send, replays } = await setUp(t)
  const wrong = [
    undefined,
    {},
    { from: day(1) },
    { to: day(1) },
    { from: day(2), to: day(1) },
    { from: day(1), to: day(1) },
    { from: day(1), to: '2026-04-01T00:00:00.001Z' },
    { from: 'yesterday', to: day(1) },
    { from: day(1), to: '2026-01-31T23:59:60Z' },
    { ...range, status: 'failed' },
    { ...range, status: null },
    { ...range, endpointId: 'x' },
    { ...range, tenantId: 'x' },
    { ...range, total: 1 },
  ]
  for (const body of wrong) {
    t.equal((await send('POST', replays, body)).statusCode, 400, JSON.stringify(body))
  }
  const widest = { from: day(1), to: '2026-04-01T00:00:00.000Z' }
  t.equal((await send('POST', replays, widest)).statusCode, 202, 'ninety days')
})

t.test('a replay waits for a deletion of its endpoint, and is not left behind', async (t) => {
  const { test, one, endpointId, send, enter } = await setUp(t)
  const by = { ...one, clientInfo: { ip: '127.0.0.1', userAgent: null } }
  const deleted = Promise.withResolvers<void>()
  const mayCommit = Promise.withResolvers<void>()
  const deletion = test.app.db.write(enter(one), async (tx) => {
    t.ok(await deleteEndpoint(tx, by, endpointId))
    deleted.resolve()
    await mayCommit.promise
  })
  await deleted.promise
  const asking = send('POST', `/webhook-endpoints/${endpointId}/replay`, range)
  await untilBlocked(test.database)
  mayCommit.resolve()
  await deletion
  t.equal((await asking).statusCode, 404)
  const { rows } = await test.database.admin.query('SELECT id FROM endpoint_replays')
  t.strictSame(rows, [])
})
