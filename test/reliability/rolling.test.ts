import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import { createUser } from '#dev/testing/people.ts'
import { testSettings } from '#dev/testing/settings.ts'
import { version } from '#src/runtime/assets.ts'
import { crashSettings, runCrashRounds } from '#test/billing/crash-rounds.ts'
import { checkHistory } from '#test/billing/history.ts'
import { ownHalf } from '#test/billing/killable.ts'
import { root } from '#test/docs/page.ts'
import { createOwnedDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { onCluster } from '#test/support/database/raw-sql.ts'
import { serverUrls } from '#test/support/database/template.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { chosenSeed } from '#test/support/models/seeded.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { askPatiently, type Instance, reasonsOf, startInstance, troublesOf } from './instance.ts'
import { findLastRelease, type Release } from './last-release.ts'
import { clients, type Load, startLoad } from './load.ts'
import { makeFurtherReleases, makeNextRelease, type NextRelease } from './next-release.ts'

const rounds = Number(process.env.CRASH_ROUNDS ?? 200)
const seconds = Number(process.env.CRASH_SECONDS ?? 10)
const seed = chosenSeed()

t.test('rolling upgrades: expand, contract and expand again, and no request fails', async (t) => {
  const next = await makeNextRelease(t)
  const [second, third] = await makeFurtherReleases(t, next)
  const old = await findLastRelease(t, next.folder)
  if (old === null) throw new Error('The release that was tagged is not found.')
  const named = await runProgram(t, ['version'], {}, old)
  t.equal(await named.ended, 0)
  t.match(named.output(), `gatehouse ${version} `, 'the old code is that of the tag')

  const database = await createOwnedDatabase(t)
  let ended: Load | undefined
  for (const [step, before, after] of [
    ['expand', old, next],
    ['contract', next, second],
    ['expand again', second, third],
  ] as const) {
    t.comment(step)
    const upgraded = await upgradeUnderLoad(t, { database, old: before, next: after, ended })
    ended = upgraded.load
    t.match(String(upgraded.line2), step === 'expand' ? /^R-\d+$/ : /^undefined$/)
    if (step === 'expand') await repairByNewer(t, database, old, next)
  }
})

/** A change by hand is found by the older release too, and repaired by the newer one alone. */
async function repairByNewer(t: Test, database: TestDatabase, old: Release, next: NextRelease) {
  await database.admin.query('GRANT DELETE ON order_labels TO test_app')
  t.match(await doctor(t, database, old), [
    `test_app may DELETE order_labels, which it does not need. The database is of release ${next.version}: run \`gatehouse migrate\` of that release`,
  ])
  t.match(await migrateBy(t, database, old), /A newer release .* of that release\.\n$/)
  t.equal((await doctor(t, database, old)).length, 1, 'its own migrate changes nothing')
  await migrateBy(t, database, next)
  t.strictSame(await doctor(t, database, old), [], 'that of the next release repairs it')
}

type Upgrade = {
  database: TestDatabase
  old: Release
  next: NextRelease
  /** The load of the upgrade before. */
  ended: Load | undefined
}

/**
 * While a load is served, `migrate` of the next release runs; the old process verifies the database again
 * and goes on; it is replaced by a process of its own release, by one of the next release, by one of its own
 * (back), and again by one of the next release.
 * @returns the load, and of an order's address what the next release says
 */
async function upgradeUnderLoad(t: Test, { database, old, next, ended }: Upgrade) {
  const running = await startInstance(t, database, {}, old)
  const instances = [running]
  const load = await startLoad(t, database, [running], ended)
  await load.more(50)
  const answered = load.answered()
  t.match(await migrateBy(t, database, next), /^replaced functions, policies/m)
  t.ok(load.answered() > answered, 'requests are answered meanwhile')
  await untilVerified(running)
  await load.more(50)
  t.strictSame(await doctor(t, database, old), [], 'the old release tolerates what is newer')
  let serving = running
  for (const release of [old, next, old, next]) {
    const fresh = await startInstance(t, database, {}, release)
    instances.push(fresh)
    load.instances.push(fresh)
    await load.more(20)
    serving.child.kill('SIGTERM')
    t.equal(await serving.ended, 0)
    serving = fresh
    await untilVerified(fresh)
    await load.more(50)
  }
  const order = { path: `/orders/${load.order}`, headers: { cookie: load.cookie } }
  const { body } = await askPatiently(serving, order)
  await load.stop()
  await checkLoad(t, database, load, instances)
  serving.child.kill('SIGTERM')
  t.equal(await serving.ended, 0)
  const { other } = reasonsOf(instances, load.refusals)
  // ALTER TABLE may hold its lock longer than a request waits, if the machine is slow.
  const isAllowed = (reason: string) => next.adds.length > 0 && /lock timeout/.test(reason)
  t.strictSame(
    other.filter((reason) => !isAllowed(reason)),
    [],
  )
  return { load, line2: JSON.parse(body).shippingAddress.line2 }
}

/** Resolves once a verification has begun and ended: the one that ends first may have begun before. */
async function untilVerified(instance: Instance): Promise<void> {
  const count = () => instance.output().split('verified again').length
  const before = count()
  await untilTrue(async () => count() >= before + 2)
}

const lastRelease = await findLastRelease(t, root)
const skip = lastRelease === null && 'no release has a tag, and TEST_LAST_RELEASE names no binary'

t.test('rolling upgrade: from the last release to this one', { skip }, async (t) => {
  if (lastRelease === null) return
  const database = await createEmptyDatabase(t)
  await migrateBy(t, database, lastRelease)
  await upgrade(t, database, lastRelease, { entry: join(root, 'src/cli.ts') })
})

/**
 * Old processes serve a load; `migrate` of the next release runs; one old process more and a new one
 * start; then the processes of the old release that served before stop. No request fails.
 * @param database of the old release
 */
async function upgrade(t: Test, database: TestDatabase, old: Release, next: Release) {
  const first = await startInstance(t, database, {}, old)
  const load = await startLoad(t, database, [first])
  await load.more(50)

  const counts = () => ({ answered: load.answered(), busy: load.busy() })
  const before = counts()
  t.match(await migrateBy(t, database, next), /^replaced functions, policies/m)
  const after = counts()
  await load.more(50)
  await untilTrue(async () => (await fetch(`${first.admin}/readyz`)).ok)
  t.strictSame(await doctor(t, database, old), [], 'the old release tolerates what is newer')

  const again = await startInstance(t, database, {}, old)
  load.instances.push(again)
  const fresh = await startInstance(t, database, {}, next)
  load.instances.push(fresh)
  await load.more(150)
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  await load.more(50)
  await load.stop()
  await checkLoad(t, database, load, [first, again, fresh])
  // A busy machine exceeds the database timeouts of a few; a migration with long locks, of many.
  const [answered, refused] = [after.answered - before.answered, after.busy - before.busy]
  t.ok(answered > 0, 'requests are answered meanwhile')
  t.ok(refused <= Math.max(clients, answered / 10), 'at most a tenth was refused')
}

async function checkLoad(
  t: Test,
  database: TestDatabase,
  load: Load,
  instances: readonly Instance[],
): Promise<void> {
  t.strictSame(load.failures, [])
  t.strictSame(troublesOf(instances, load), [])
  await until(
    database,
    `SELECT WHERE NOT EXISTS (SELECT FROM received_events WHERE status <> 'processed')`,
  )
  t.strictSame(await checkHistory(database.admin, load.history), [])
  t.comment(`${load.answered()} requests, ${load.busy()} refused by a busy machine`)
}

/** An empty database of the tests' owner. */
async function createEmptyDatabase(t: Test): Promise<TestDatabase> {
  const [cluster = ''] = serverUrls()
  const name = `test_rolling_${randomBytes(6).toString('hex')}`
  await createOwnerAndDatabase(cluster, logins.owner, name)
  const urls = urlsOf(cluster, name)
  const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
  admin.on('error', () => {}) // the database is dropped under it
  t.teardown(async () => {
    await admin.end()
    await onCluster(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  return { ...urls, admin }
}

async function migrateBy(t: Test, database: TestDatabase, release: Release): Promise<string> {
  const program = await runProgram(t, ['migrate'], settingsOf(database), release)
  t.equal(await program.ended, 0)
  return program.output()
}

/** What the doctor of a release finds in the database. */
async function doctor(t: Test, database: TestDatabase, release: Release): Promise<string[]> {
  const program = await runProgram(t, ['doctor', '--json'], testSettings(database), release)
  await program.ended
  const findings: { subject: string; faults: string[] }[] = JSON.parse(program.results())
  const ofDatabase = findings.filter(({ subject }) => subject.startsWith('database'))
  t.equal(ofDatabase.length, 2)
  return ofDatabase.flatMap(({ faults }) => faults)
}

function settingsOf(database: TestDatabase) {
  return {
    NODE_ENV: 'production',
    DATABASE_OWNER_URL: database.ownerUrl,
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
  }
}

t.test('two releases with a web and a worker each on one database are killed', async (t) => {
  t.comment(`TEST_SEED=${seed} CRASH_ROUNDS=${rounds}`)
  const next = await makeNextRelease(t)
  const database = await createOwnedDatabase(t)
  await migrateBy(t, database, next)
  await createUser(database, { billingCustomer: 'cus_1' })
  const halves = [ownHalf, next.half]
  const run = await runCrashRounds(database, crashSettings(database), {
    ...{ rounds, seed, seconds, target: 'connections', halves, processKills: 8 },
  })
  t.strictSame(run.violations, [], `seed ${seed}`)
  t.comment(`${run.rounds} rounds, ${run.acknowledged} events acknowledged`)
  t.ok(run.acknowledged > 0)
})
