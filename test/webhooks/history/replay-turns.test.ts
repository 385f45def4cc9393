import t, { type Test } from 'tap'
import type { TestUser } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { openDatabase } from '#src/db/database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createReplay, turnQueue, workReplayTurn } from '#src/webhooks/history/replays.ts'
import { startWorker } from '#src/worker.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { until, untilBlocked } from '#test/support/database/until.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

// A worker deletes what is older than ninety days.
const begun = Date.now() - 40 * 86_400_000
const day = (number: number) => new Date(begun + number * 86_400_000).toISOString()
const range = { from: day(1), to: day(31) }
const dates = { from: new Date(range.from), to: new Date(range.to) }

/** An endpoint of the tenant, at a refused address, with exhausted deliveries; resolves to its id. */
async function endpointWith(database: TestDatabase, tenant: TestUser, deliveries: number) {
  const endpointId = await createEndpoint(database, tenant, { url: 'https://10.0.0.1/' })
  for (let n = 1; n <= deliveries; n++) {
    await createDelivery(database, { ...tenant, endpointId, createdAt: day(n), attempts: 0 })
  }
  return endpointId
}

async function jobsOf({ admin }: TestDatabase): Promise<number> {
  const { rows } = await admin.query(`SELECT FROM pgboss.job WHERE name = 'tenant-replay'`)
  return rows.length
}

/** Takes turns as a worker does, one page of one delivery each; resolves to the tenants, in order. */
async function takeTurns(t: Test, { workerUrl }: TestDatabase): Promise<string[]> {
  // A test looks whether a turn waits for a lock.
  const limits = { ...patient.limits, lockMs: 4_500 }
  const db = openDatabase(workerUrl, 2, { limits })
  const queue = openQueue(workerUrl, 'worker', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await db.close()
  })
  const turns: string[] = []
  for (;;) {
    const [job] = await queue.fetch<{ tenantId: string }>(turnQueue, { groupConcurrency: 1 })
    if (job === undefined) return turns
    turns.push(job.data.tenantId)
    const entry = enterJobs(turnQueue, [job.id])
    await workReplayTurn(db, queue, { job, entry }, new Date(), { most: 1, mostRead: 10 })
  }
}

t.test('an endpoint has at most two open replays, and a tenant five', async (t) => {
  const { test, one, other, send, sendAsOther } = await twoAdmins(await build(t))
  const { database } = test
  const endpoints: string[] = []
  for (let n = 0; n < 4; n++) endpoints.push(await endpointWith(database, one, 1))
  const replay = async (endpointId = '') =>
    send('POST', `/webhook-endpoints/${endpointId}/replay`, range)
  const [first = '', ...more] = endpoints

  const atOnce = await Promise.all(Array.from({ length: 6 }, () => replay(first)))
  const statuses = atOnce.map(({ statusCode }) => statusCode).toSorted()
  t.strictSame(statuses, [202, 202, 429, 429, 429, 429], 'of requests at once too')
  const refused = atOnce.find(({ statusCode }) => statusCode === 429)
  t.match(refused?.json(), { type: '/docs/errors/too-many-requests' })
  t.match(refused?.json().detail, /^At most 2 replays of an endpoint and 5 of a tenant/)
  t.equal(refused?.headers['retry-after'], '30')

  const spread = [more[0], more[0], more[1], more[1], more[2]]
  const answers: number[] = []
  for (const endpointId of spread) answers.push((await replay(endpointId)).statusCode)
  t.strictSame(answers, [202, 202, 202, 429, 429])
  const { rows } = await database.admin.query('SELECT FROM endpoint_replays')
  t.equal(rows.length, 5, 'nothing is left of a refused request')
  t.equal(await jobsOf(database), 1, 'one job, however many replays')

  const theirs = await endpointWith(database, other, 1)
  const answer = await sendAsOther('POST', `/webhook-endpoints/${theirs}/replay`, range)
  t.equal(answer.statusCode, 202, 'other tenants have their own')
  await takeTurns(t, database)
  t.equal((await replay(first)).statusCode, 202, 'a finished replay makes room')
})

t.test('a replay of nothing is finished at once and costs no job', async (t) => {
  const { test, one, send } = await twoAdmins(await build(t))
  const endpointId = await endpointWith(test.database, one, 0)
  for (let n = 0; n < 4; n++) {
    const answer = await send('POST', `/webhook-endpoints/${endpointId}/replay`, range)
    t.equal(answer.statusCode, 202)
    t.match(answer.json(), { total: 0, done: 0, finishedAt: /Z$/ })
  }
  t.equal(await jobsOf(test.database), 0)
})

t.test('tenants take turns, however many replays each has', async (t) => {
  const { test, one, other, send, sendAsOther } = await twoAdmins(await build(t))
  const { database } = test
  for (let n = 0; n < 2; n++) {
    const endpointId = await endpointWith(database, one, 3)
    for (let request = 0; request < 2; request++) {
      await send('POST', `/webhook-endpoints/${endpointId}/replay`, range)
    }
  }
  const theirs = await endpointWith(database, other, 3)
  await sendAsOther('POST', `/webhook-endpoints/${theirs}/replay`, range)
  const turns = await takeTurns(t, database)
  const [a, b] = [one.tenantId, other.tenantId]
  // Each of the three deliveries, and a page that finds no more.
  t.strictSame(turns.slice(0, 8), [a, b, a, b, a, b, a, b])
  t.ok(turns.slice(8).every((tenantId) => tenantId === a))
  const { rows } = await database.admin.query(
    'SELECT FROM endpoint_replays WHERE finished_at IS NULL OR done <> total',
  )
  t.equal(rows.length, 0, 'all are finished')
})

t.test('a replay that is asked for while the last one ends has its turn', async (t) => {
  const { test, one, send } = await twoAdmins(await build(t))
  const { database } = test
  const endpointId = await endpointWith(database, one, 1)
  await send('POST', `/webhook-endpoints/${endpointId}/replay`, range)
  const db = openDatabase(database.url, 2, patient)
  const queue = openQueue(database.url, 'web', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await db.close()
  })
  const enter = await allowScopes<TestUser>(database)
  const by = { ...one, clientInfo: { userAgent: null, ip: null } }
  const asked = Promise.withResolvers<void>()
  const commit = Promise.withResolvers<void>()
  // Its tenant has a job already, so it adds none.
  const second = db.write(enter(one), async (tx) => {
    const created = await createReplay(tx, queue, by, endpointId, dates, new Date())
    asked.resolve()
    await commit.promise
    return created
  })
  await asked.promise
  const turns = takeTurns(t, database)
  await untilBlocked(database)
  commit.resolve()
  t.match(await second, { endpointId })
  t.equal((await turns).length, 4, 'two pages of each replay')
  const { rows } = await database.admin.query(
    'SELECT FROM endpoint_replays WHERE finished_at IS NULL',
  )
  t.equal(rows.length, 0)
})

t.test('deleting an endpoint waits for a page of its replay', async (t) => {
  const { test, one, send } = await twoAdmins(await build(t))
  const { database } = test
  const endpointId = await endpointWith(database, one, 1)
  await send('POST', `/webhook-endpoints/${endpointId}/replay`, range)
  const holder = await database.admin.connect()
  t.teardown(() => holder.release())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM endpoint_replays WHERE tenant_id = $1 FOR UPDATE', [one.tenantId])
  const turns = takeTurns(t, database)
  await untilBlocked(database)
  const deletion = send('DELETE', `/webhook-endpoints/${endpointId}`)
  await untilBlocked(database, 2)
  const { rowCount } = await database.admin.query(
    'SELECT FROM webhook_endpoints WHERE tenant_id = $1 FOR KEY SHARE SKIP LOCKED',
    [one.tenantId],
  )
  t.equal(
    rowCount,
    1,
    'the page has locked the endpoint first, and the deletion has locked nothing',
  )
  await holder.query('COMMIT')
  t.equal((await deletion).statusCode, 204)
  await turns
  t.equal((await database.admin.query('SELECT FROM endpoint_replays')).rowCount, 0)
})

t.test('a replay that fails does not hold up the others of its tenant', async (t) => {
  const { test, one, send } = await twoAdmins(await build(t))
  const { database } = test
  for (let n = 0; n < 2; n++) {
    const endpointId = await endpointWith(database, one, 1)
    await send('POST', `/webhook-endpoints/${endpointId}/replay`, range)
  }
  // A page of the first replay cannot be recorded.
  await database.admin.query(`
    ALTER TABLE endpoint_replays ADD CONSTRAINT broken CHECK (done = 0 OR id <> (
      '${(await database.admin.query('SELECT id FROM endpoint_replays ORDER BY created_at, id LIMIT 1')).rows[0].id}'))`)
  const worker = await startWorker(testConfig(database), createLogger('silent'))
  t.teardown(() => worker.stop())
  await until(database, 'SELECT FROM endpoint_replays WHERE finished_at IS NOT NULL')
  const { rows } = await database.admin.query(
    'SELECT done FROM endpoint_replays ORDER BY created_at, id',
  )
  t.strictSame(rows, [{ done: 0 }, { done: 1 }])
})
