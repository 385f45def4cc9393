import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { chosenSeed } from '#test/support/models/seeded.ts'
import { crashSettings, runCrashRounds } from './crash-rounds.ts'
import { startDurableDatabase } from './durable-database.ts'
import { checkHistory } from './history.ts'

const rounds = Number(process.env.CRASH_ROUNDS ?? 200)
const seconds = Number(process.env.CRASH_SECONDS ?? 25)
const seed = chosenSeed()

t.test(`kill -9 between any two steps: every 200 exists once and took effect once`, async (t) => {
  const database = await createDatabase(t)
  await survive(t, database, { rounds, target: 'connections' })
})

t.test('kill -9 of the database server with synchronous commits', async (t) => {
  const database = await startDurableDatabase(t)
  await survive(t, database, { rounds: Math.ceil(rounds / 8), target: 'server' })
})

async function survive(
  t: Test,
  database: TestDatabase,
  options: { rounds: number; target: 'connections' | 'server' },
): Promise<void> {
  t.comment(`TEST_SEED=${seed} CRASH_ROUNDS=${rounds}`)
  await createUser(database, { billingCustomer: 'cus_1' })
  const run = await runCrashRounds(database, crashSettings(database), { ...options, seed, seconds })
  t.strictSame(run.violations, [], `seed ${seed}`)
  t.comment(`${run.rounds} rounds, ${run.acknowledged} events acknowledged`)
  t.ok(run.acknowledged > 0)
}

t.test('the checker finds each kind of violation', async (t) => {
  const violations: [string, string, RegExp][] = [
    ['lost', `DELETE FROM received_events`, /acknowledged, but not recorded/],
    ['no effect', `DELETE FROM invoices`, /without effect/],
    ['doubled job', insertJob, /more than one job/],
    ['no job', `DELETE FROM pgboss.job`, /without a job/],
    ['unknown', `DELETE FROM processed_events`, /not known/],
    ['not processed', `UPDATE received_events SET status = 'recorded'`, /not processed/],
    ['never sent', insertStranger, /never sent/],
  ]
  for (const [name, sql, violation] of violations) {
    const database = await createDatabase(t)
    const { tenantId } = await createUser(database)
    await database.admin.query(
      `INSERT INTO processed_events (event_id) VALUES ('a');
       INSERT INTO received_events (event_id, type, body, secret_index, status)
       VALUES ('a', 'charge.succeeded', '{}', 0, 'processed');
       INSERT INTO invoices (tenant_id, amount, currency, status, source_event)
       VALUES ('${tenantId}', 1, 'eur', 'paid', 'a'); ${insertJob}`,
    )
    const history = { acknowledged: new Set(['a']), sent: new Set(['a']) }
    t.strictSame(await checkHistory(database.admin, history), [], name)
    await database.admin.query(sql)
    t.match((await checkHistory(database.admin, history)).join('; '), violation, name)
  }
})

const insertJob = `INSERT INTO pgboss.job (name, data) VALUES ('billing-event', '{"eventId":"a"}')`
const insertStranger = `INSERT INTO received_events (event_id, type, body, secret_index, status)
  VALUES ('b', 'charge.succeeded', '{}', 0, 'processed')`
