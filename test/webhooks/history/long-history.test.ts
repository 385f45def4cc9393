import t from 'tap'
import type { TenantScope } from '#src/access/caller.ts'
import { openDatabase, type Tx } from '#src/db/database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { countDeliveries, listDeliveries } from '#src/webhooks/history/deliveries.ts'
import { createReplay, workReplayTurn } from '#src/webhooks/history/replays.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { openPatiently, patient } from '#test/support/database/open.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'
import { createDelivery, waitingAttempts } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const now = new Date('2026-03-01T10:00:00Z')
const range = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2026-01-31T00:00:00Z') }
const page = { limit: 10, after: null }
const clientInfo = { ip: null, userAgent: null }

/** An endpoint with deliveries of five days: two that failed, then three that succeeded. */
async function setUp() {
  const { test, one } = await twoAdmins(shared)
  const { database } = test
  const { tenantId, userId } = one
  const db = openPatiently(t, database.url, 2)
  const endpointId = await createEndpoint(database, one, { url: 'https://8.8.8.8/' })
  const ids: string[] = []
  for (const day of [1, 2, 3, 4, 5]) {
    const status = day <= 2 ? ('exhausted' as const) : ('succeeded' as const)
    const createdAt = `2026-01-0${day}T00:00:00.000Z`
    ids.push(await createDelivery(database, { tenantId, endpointId, status, createdAt }))
  }
  const enter = await allowScopes<TestScope & TenantScope>(database)
  const inTenant = <T>(work: (tx: Tx) => Promise<T>) => db.write(enter({ tenantId }), work)
  const by = { userId, tenantId, serviceId: null, clientInfo }
  return { test, database, enter, inTenant, by, tenantId, endpointId, ids }
}

t.test('a filter without an index searches the newest deliveries of the range', async (t) => {
  const { inTenant, tenantId, endpointId, ids } = await setUp()
  const newest = ids.toReversed()
  const oldest = { ...page, isReversed: true }
  const before = { to: '2026-01-04T00:00:00.000Z' }
  for (const [filter, found, of] of [
    [{}, newest],
    [{ status: 'succeeded' }, newest.slice(0, 3)],
    [{ status: 'exhausted' }, [ids[1]]],
    [{ status: 'exhausted' }, [ids[1]], oldest],
    [{ status: 'exhausted', ...before }, [ids[1], ids[0]]],
    [{ eventType: 'order.updated' }, newest.slice(0, 4)],
    [{ httpStatus: '2xx' }, []],
    [{ httpStatus: '5xx' }, newest],
    [{ httpStatus: '5xx', status: 'exhausted' }, [ids[1]]],
    [{ ids: [ids[0] ?? ''], status: 'exhausted' }, [ids[0]]],
  ] as const) {
    const listed = await inTenant((tx) =>
      listDeliveries(tx, { tenantId }, endpointId, filter, of ?? page, 4),
    )
    t.strictSame(
      listed?.data.map(({ id }) => id),
      found,
      JSON.stringify(filter),
    )
  }
})

t.test(
  'a count reads the newest deliveries of the range, and says if there are more',
  async (t) => {
    const { inTenant, tenantId, endpointId } = await setUp()
    for (const [filter, most, count, isPartial] of [
      [{}, 5, 5, false],
      [{}, 4, 5, true],
      [{}, 2, 3, true],
      [{ status: 'exhausted' }, 5, 2, false],
      [{ status: 'exhausted' }, 2, 0, true],
      [{ status: 'exhausted', to: '2026-01-03T00:00:00.000Z' }, 2, 2, false],
    ] as const) {
      const total = await inTenant((tx) =>
        countDeliveries(tx, { tenantId }, endpointId, filter, most),
      )
      t.strictSame(total, { count, isPartial }, `${JSON.stringify(filter)}, ${most}`)
    }
  },
)

t.test('a replay sends all that match, also those that were not counted', async (t) => {
  const { test, database, enter, inTenant, by, endpointId, ids } = await setUp()
  const { queue } = test.app
  const selection = { ...range, status: 'exhausted' as const }
  const replay = await inTenant((tx) => createReplay(tx, queue, by, endpointId, selection, now, 2))
  t.match(replay, { total: 0, finishedAt: null }, 'what is counted says nothing of the rest')
  const db = openDatabase(database.workerUrl, 1, patient)
  const worker = openQueue(database.workerUrl, 'worker', () => {})
  await worker.start()
  t.teardown(async () => {
    await worker.stop({ graceful: false })
    await db.close()
  })
  const turn = { job: null, entry: enter({ tenantId: by.tenantId }) }
  const totals: unknown[] = []
  for (let n = 0; n < 3; n++) {
    await workReplayTurn(db, worker, turn, now, { most: 1, mostRead: 10_000 })
    const { rows } = await database.admin.query(
      'SELECT total, done, finished_at IS NOT NULL AS finished FROM endpoint_replays',
    )
    totals.push(rows[0])
  }
  t.strictSame(totals, [
    { total: 1, done: 1, finished: false },
    { total: 2, done: 2, finished: false },
    { total: 2, done: 2, finished: true },
  ])
  t.strictSame(
    (await waitingAttempts(database)).map(({ id }) => id).toSorted(),
    ids.slice(0, 2).toSorted(),
  )
})

t.test('with too many open replays nothing is counted', async (t) => {
  const { test, inTenant, by, endpointId } = await setUp()
  const create = (selection: Parameters<typeof createReplay>[4]) =>
    inTenant((tx) => createReplay(tx, test.app.queue, by, endpointId, selection, now))
  const missing = { ids: [crypto.randomUUID()] }
  t.equal(await create(missing), null)
  for (let n = 0; n < 2; n++) t.match(await create(range), { total: 5 })
  t.equal(await create(missing), 'too-many', 'before the selection is read')
})
