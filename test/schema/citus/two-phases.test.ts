import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { openDatabase } from '#src/db/database.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase, type DistributedDatabase } from './distributed-database.ts'

/*
 * An event is on the node of its tenant and the job of its endpoint on the coordinator. A commit that
 * waits for a standby which does not exist is durable and not yet reported: that holds the transaction at
 * an exact place, where the coordinator is killed.
 */

async function setUp(t: Test) {
  const distributed = await createDistributedDatabase(t)
  const { database } = distributed
  // What a crash has left is ended at once.
  await database.admin.query(`ALTER SYSTEM SET citus.recover_2pc_interval = '1s'`)
  await database.admin.query('SELECT pg_reload_conf()')
  const enter = await allowScopes<TestUser>(database)
  const tenant = await createUser(database)
  await createEndpoint(database, tenant, { url: 'https://receiver.example' })
  /** Publishes an event, as a process that starts with this. */
  const add = async (): Promise<string> => {
    const db = openDatabase(database.url, 2, patient)
    try {
      return await db.write(enter(tenant), async (tx) => {
        const { eventId } = await publish(tx, tenant, anyEvent('order.updated', {}), new Date())
        return eventId
      })
    } finally {
      await db.close()
    }
  }
  return { distributed, tenant, add }
}

/** Rows of one event: on the node, and on the coordinator. */
async function countParts({ database }: DistributedDatabase, { tenantId }: TestUser) {
  const count = async (sql: string) => (await database.admin.query(sql, [tenantId])).rows[0]?.count
  return {
    events: await count('SELECT count(*)::int FROM outbound_events WHERE tenant_id = $1'),
    attempts: await count('SELECT count(*)::int FROM due_attempts WHERE tenant_id = $1'),
    jobs: await count(
      `SELECT count(*)::int FROM pgboss.job_common WHERE data->>'tenantId' = $1::uuid::text`,
    ),
  }
}

const standby = `ALTER SYSTEM SET synchronous_standby_names = 'none'`
const prepared = 'SELECT FROM pg_prepared_xacts'
const isHeld = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event = 'SyncRep'`

/** Kills the coordinator while the commits of these nodes are held, and starts it again. */
async function crashWhileHeld(
  { cluster, servers }: DistributedDatabase,
  held: DistributedDatabase['servers'],
  work: () => Promise<unknown>,
): Promise<void> {
  const [, ...workers] = servers
  for (const { admin } of held) {
    await admin.query(standby)
    await admin.query('SELECT pg_reload_conf()')
  }
  const working = work().then(
    () => 'answered',
    () => 'failed',
  )
  const found = async (on: DistributedDatabase['servers'], sql: string) =>
    (await Promise.all(on.map(({ admin }) => admin.query(sql)))).some(({ rowCount }) => rowCount)
  await untilTrue(async () => (await found(workers, prepared)) && (await found(held, isHeld)))
  for (const { admin } of held) await admin.query('ALTER SYSTEM RESET synchronous_standby_names')
  await cluster.servers[0]?.crash()
  await working
  for (const { admin } of held) await admin.query('SELECT pg_reload_conf()').catch(() => {}) // gone
  await cluster.servers[0]?.start()
  // What the crash has left is ended by the coordinator.
  await untilTrue(async () => !(await found(workers, prepared)))
}

t.test('an event and its job are one commit', { skip: skipWithoutCluster }, async (t) => {
  const { distributed, tenant, add } = await setUp(t)
  const [coordinator, ...workers] = distributed.servers
  if (coordinator === undefined) throw new Error('A cluster has a coordinator.')

  await t.test('killed before the coordinator’s commit: neither is there', async (t) => {
    await crashWhileHeld(distributed, workers, add)
    t.strictSame(await countParts(distributed, tenant), { events: 0, attempts: 0, jobs: 0 })
  })

  await t.test('killed after the coordinator’s commit: both are there', async (t) => {
    await crashWhileHeld(distributed, [coordinator], add)
    t.strictSame(await countParts(distributed, tenant), { events: 1, attempts: 1, jobs: 1 })
  })

  await t.test('the next event of the tenant is published', async (t) => {
    await add()
    t.match(await countParts(distributed, tenant), { events: 2, attempts: 2, jobs: 1 })
  })
})
