import t from 'tap'
import { encryptionKey, webhookSecret } from '#dev/testing/settings.ts'
import { type Killable, startKillable } from '#test/billing/killable.ts'
import { isOfCluster } from '#test/schema/citus/sql.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { makeJobsDue } from '#test/support/database/due-jobs.ts'
import { unaccounted } from '#test/support/database/ledger.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { chosenSeed, randomOf, waitTurns } from '#test/support/models/seeded.ts'
import { allowing, createOutbox, type Outbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { checkDeliveries } from './delivery-history.ts'

const rounds = Number(process.env.CRASH_ROUNDS ?? 60)
const seconds = Number(process.env.CRASH_SECONDS ?? 25)
const seed = chosenSeed()
const eventsPerRound = 4

t.test(
  'kill -9 between response and commit: nothing is lost, and no attempt follows a success',
  async (t) => {
    t.comment(`TEST_SEED=${seed} CRASH_ROUNDS=${rounds}`)
    const random = randomOf(seed)
    const outbox = await createOutbox(t)
    const { database, tenant } = outbox
    const arrived = new Set<string>()
    const receiver = await openReceiver(t, ({ headers, url }, response) => {
      arrived.add(`${headers['webhook-id']} ${url}`)
      response.writeHead(random(3) === 0 ? 500 : 204).end()
    })
    for (const path of ['/a', '/b']) {
      await createEndpoint(database, tenant, { url: `${receiver.url}${path}` })
    }
    const worker = await startKillable('worker', {
      BASE_URL: 'http://localhost:3000',
      DATABASE_URL: database.url,
      DATABASE_WORKER_URL: database.workerUrl,
      SESSION_SECRETS: 'a session secret that is long enough for a test',
      BILLING_WEBHOOK_SECRETS: webhookSecret,
      ENCRYPTION_KEYS: encryptionKey,
      OIDC_PROVIDERS: 'demo',
      OIDC_DEMO_ISSUER: 'http://127.0.0.1:9',
      OIDC_DEMO_CLIENT_ID: 'test',
      OIDC_DEMO_CLIENT_SECRET: 'test',
      OUTBOUND_RETRY_SECONDS: '0,0,0,0,0',
      ...allowing(receiver),
    })
    t.teardown(() => worker.end())
    const published: string[] = []
    const end = performance.now() + seconds * 1_000
    for (let round = 0; round < rounds && performance.now() < end; round++) {
      for (let n = 0; n < eventsPerRound; n++) published.push(await outbox.publish())
      await waitTurns(random(400))
      await strike(database, worker, random(10))
    }
    await settle(outbox)
    t.strictSame(await checkDeliveries(database.admin), [], `seed ${seed}`)
    t.strictSame(await unaccounted(database), [], `seed ${seed}: the ledger`)
    t.equal(arrived.size, published.length * 2, 'every event has arrived at every endpoint')
    t.comment(`${published.length} events, ${receiver.requests.length} requests`)
  },
)

t.test('the checker finds each kind of violation', async (t) => {
  const insertAttempt = `INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
    SELECT tenant_id, id, endpoint_id, now(), series, attempts + 1 FROM deliveries`
  const violations: [string, RegExp][] = [
    [
      `UPDATE deliveries SET status = 'pending', finished_at = NULL`,
      /not delivered.*without a due attempt/,
    ],
    ['DELETE FROM deliveries', /without a delivery/],
    ['UPDATE delivery_attempts SET number = number + 10', /with a gap/],
    ['DELETE FROM delivery_attempts', /another number.*without a success/],
    ['UPDATE delivery_attempts SET status_code = 204', /past success/],
    [`UPDATE deliveries SET status = 'exhausted'`, /too early/],
    [insertAttempt, /past the end/],
  ]
  for (const [sql, violation] of violations) {
    const { database, tenant, publish } = await createOutbox(t)
    await createEndpoint(database, tenant, { url: 'https://receiver.example' })
    await publish()
    await database.admin.query(
      `DELETE FROM due_attempts;
       UPDATE deliveries SET status = 'succeeded', attempts = 2, next_attempt_at = NULL, finished_at = now();
       INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at, duration_ms, status_code)
       SELECT tenant_id, id, 0, n, now(), 1, CASE WHEN n = 1 THEN 500 ELSE 204 END
       FROM deliveries, generate_series(1, 2) n`,
    )
    t.strictSame(await checkDeliveries(database.admin), [])
    await database.admin.query(sql)
    t.match((await checkDeliveries(database.admin)).join('; '), violation)
  }
})

/** Kills connections most often: that is fast, and hits between any two statements. */
async function strike(database: TestDatabase, worker: Killable, dice: number): Promise<void> {
  if (dice === 0) return worker.kill()
  const servers = [database.admin, ...(database.nodes ?? [])]
  // A node of a cluster has connections of the coordinator.
  await servers[dice % servers.length]?.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename LIKE '%worker'
       AND (application_name LIKE 'gatehouse%' OR ${isOfCluster})`,
  )
}

/** Makes the turns of dead workers due now, until nothing is left. */
async function settle({ database }: Outbox): Promise<void> {
  await untilTrue(async () => {
    const { rows } = await database.admin.query(
      `SELECT count(*)::int AS left FROM deliveries WHERE status = 'pending'`,
    )
    if (rows[0].left === 0) return true
    await makeJobsDue(
      database,
      `name = 'endpoint-turn' AND state = 'active'
        AND heartbeat_on < now() - interval '2 seconds'`,
    )
    await waitTurns(50)
    return false
  })
}
