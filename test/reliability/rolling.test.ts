import t, { type Test } from 'tap'
import { verifyDatabase } from '#src/schema/verify.ts'
import { crashSettings, runCrashRounds } from '#test/billing/crash-rounds.ts'
import { checkHistory } from '#test/billing/history.ts'
import { ownHalf } from '#test/billing/killable.ts'
import { createUser } from '#test/support/callers/callers.ts'
import { createOwnedDatabase } from '#test/support/database/database.ts'
import { until } from '#test/support/database/until.ts'
import { chosenSeed } from '#test/support/models/seeded.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { ask, startInstance, troublesOf } from './instance.ts'
import { startLoad } from './load.ts'
import { makeNextRelease } from './next-release.ts'

const rounds = Number(process.env.CRASH_ROUNDS ?? 200)
const seconds = Number(process.env.CRASH_SECONDS ?? 10)
const seed = chosenSeed()

/** A database of this release that can be migrated to the next. */
async function prepare(t: Test) {
  const database = await createOwnedDatabase(t)
  const env = {
    NODE_ENV: 'production',
    DATABASE_OWNER_URL: database.ownerUrl,
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
  }
  return { database, env, next: await makeNextRelease(t) }
}

t.test('rolling upgrade: two releases on one database, and no request fails', async (t) => {
  const { database, env, next } = await prepare(t)
  const old = await startInstance(t, database)
  const load = await startLoad(t, database, [old])
  const order = { path: `/orders/${load.order}`, headers: { cookie: load.cookie } }
  await load.more(50)

  const migration = await runProgram(t, ['migrate'], env, { entry: next.entry })
  t.equal(await migration.ended, 0)
  t.equal(
    migration.output(),
    `${next.adds.map((one) => `applied ${one}\n`).join('')}replaced functions, policies, triggers and privileges\n`,
  )
  await load.more(50)
  for (const [url, duty] of [
    [database.url, 'web'] as const,
    [database.workerUrl, 'worker'] as const,
  ]) {
    const everyMinute = await verifyDatabase(url, duty, 'catalogue')
    t.strictSame(everyMinute, [], 'the old release tolerates what the new one has recorded')
  }
  await database.admin.query('GRANT DELETE ON order_labels TO test_app')
  t.match(await verifyDatabase(database.url, 'web', 'catalogue'), [
    { problem: /may DELETE order_labels, which it does not need/ },
  ])
  await database.admin.query('REVOKE DELETE ON order_labels FROM test_app')

  const again = await startInstance(t, database)
  load.instances.push(again)
  const fresh = await startInstance(t, database, {}, { entry: next.entry })
  load.instances.push(fresh)
  await load.more(150)
  const line2 = async (instance: typeof old) => {
    const { body } = await ask(instance, order)
    return JSON.parse(body).shippingAddress.line2
  }
  t.equal(await line2(old), undefined)
  t.equal(await line2(again), undefined, 'the old release starts on the newer schema')
  t.equal(await line2(fresh), `R-${load.order}`, 'the new release reads its column')

  const stale = await runProgram(t, ['migrate'], env)
  t.equal(await stale.ended, 0)
  t.match(stale.output(), /A newer release has applied .*\. Nothing was changed\.\n$/)

  for (const { child } of [old, again]) child.kill('SIGTERM')
  t.strictSame(await Promise.all([old.ended, again.ended]), [0, 0])
  await load.more(50)
  await load.stop()
  t.strictSame(load.failures, [])
  t.strictSame([old, again, fresh].flatMap(troublesOf), [])
  await until(
    database,
    `SELECT WHERE NOT EXISTS (SELECT FROM received_events WHERE status <> 'processed')`,
  )
  t.strictSame(await checkHistory(database.admin, load.history), [])
  t.comment(`${load.answered()} requests, ${load.busy()} refused by a busy machine`)
})

t.test('two releases with a web and a worker each on one database are killed', async (t) => {
  t.comment(`TEST_SEED=${seed} CRASH_ROUNDS=${rounds}`)
  const { database, env, next } = await prepare(t)
  const migration = await runProgram(t, ['migrate'], env, { entry: next.entry })
  t.equal(await migration.ended, 0)
  await createUser(database, { billingCustomer: 'cus_1' })
  const halves = [ownHalf, next.half]
  const run = await runCrashRounds(database, crashSettings(database), {
    ...{ rounds, seed, seconds, target: 'connections', halves, processKills: 8 },
  })
  t.strictSame(run.violations, [], `seed ${seed}`)
  t.comment(`${run.rounds} rounds, ${run.acknowledged} events acknowledged`)
  t.ok(run.acknowledged > 0)
})
