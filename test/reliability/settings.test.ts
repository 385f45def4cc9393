import pg from 'pg'
import t, { type Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { defaultLimits } from '#src/db/connections/pool-options.ts'
import { createLogger } from '#src/observability/logger.ts'
import { migrate } from '#src/schema/migrate.ts'
import { repeatVerification, verifyDatabase } from '#src/schema/verification/verify.ts'
import { startWorker } from '#src/worker.ts'
import { send } from '#test/routes/webhooks/send-event.ts'
import { production } from '#test/support/app/production.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import {
  applySettings,
  calmSuperuser,
  clientSettings,
  hostile,
  hostileSettings,
  otherSettings,
  settingStatements,
} from '#test/support/database/hostile-settings.ts'
import { pgbouncer, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { startInstance } from './instance.ts'
import { type OwnServer, startOwnServer } from './own-server.ts'

/* No setting of a server, a database or a role changes what the program finds, computes or prints. */

const roles = Object.values(logins).map(({ name }) => name)

/** What has the settings: the whole server, the database of this name, or each role of the program. */
type Level = (database: string) => string[]

const ofRoles: Level = () => roles.map((role) => `ALTER ROLE ${role}`)
const levels: Readonly<Record<string, Level>> = {
  server: () => ['ALTER SYSTEM'],
  database: (database) => [`ALTER DATABASE ${database}`],
  role: ofRoles,
}

t.test('settings of a server, a database and a role', async (t) => {
  const server = await startOwnServer(t)
  await calmSuperuser(server.superuserUrl)
  const expected = { printed: await print(t, server), record: await readRecord(server) }

  t.test('every setting of connections is in the table', async (t) => {
    const { rows } = await server.admin.query<{ name: string }>(clientSettings)
    const known = { ...hostile, ...otherSettings }
    t.strictSame(
      rows.map(({ name }) => name).filter((name) => !Object.hasOwn(known, name)),
      [],
    )
  })

  for (const [name, level] of Object.entries(levels)) {
    t.test(`of the ${name}, from the first migrate on`, async (t) => {
      const database = await createEmpty(t, server, `from_${name}`)
      await setAll(t, server, level, `from_${name}`)
      t.match(await migrate(database), { defined: true })
      t.match(await migrate(database), { applied: [], defined: false })
      t.strictSame(await readRecord(database), expected.record)
      t.strictSame(await verifyDatabase(database.url, 'web'), [])
      t.strictSame(await verifyDatabase(database.workerUrl, 'worker'), [])
      t.strictSame(await print(t, database), expected.printed)
    })

    t.test(`of the ${name}, while a process runs`, async (t) => {
      const verify = repeatVerification(server.url)
      t.strictSame(await verify(), [])
      await setAll(t, server, level, databaseOf(server))
      t.strictSame(await verify(), [])
      t.match(await migrate(server), { applied: [], defined: false })
    })
  }

  t.test('each of them alone', async (t) => {
    for (const [name, value] of Object.entries(hostile)) {
      const reset = await change(server, [`ALTER ROLE ${logins.app.name}`], { [name]: value })
      t.strictSame(await verifyDatabase(server.url, 'web', 'catalogue'), [], name)
      await reset()
    }
  })

  t.test('of the role: migrate, serve with its worker, and doctor', async (t) => {
    await setAll(t, server, ofRoles, databaseOf(server))
    const migrated = await runProgram(t, ['migrate'], {
      DATABASE_OWNER_URL: server.ownerUrl,
      ...production(server),
    })
    t.equal(await migrated.ended, 0, migrated.output())
    const instance = await startInstance(t, server)
    await untilTrue(async () => (await fetch(`${instance.admin}/readyz`)).ok)
    const doctor = await runProgram(t, ['doctor', '--json'], production(server))
    await doctor.ended
    const findings: { subject: string; faults: string[] }[] = JSON.parse(doctor.results())
    const ofDatabase = findings.filter(({ subject }) => /database|queue/.test(subject))
    t.ok(ofDatabase.length >= 3)
    t.strictSame(
      ofDatabase.flatMap(({ faults }) => faults),
      [],
    )
    instance.child.kill('SIGTERM')
    t.equal(await instance.ended, 0)
  })

  t.test('a setting that the program cannot or must not replace is named', async (t) => {
    const set = (name: string, value: string) =>
      change(server, [`ALTER ROLE ${logins.app.name}`], { [name]: value })
    const verify = repeatVerification(server.url)
    t.strictSame(await verify(), [])
    const withTriggers = await set('session_replication_role', 'replica')
    t.match(await verify(), [{ problem: /session_replication_role/ }])
    t.match(await verifyDatabase(server.url, 'web'), [{ problem: /session_replication_role/ }])
    await withTriggers()
    t.strictSame(await verify(), [])
    const open = await set('default_transaction_read_only', 'on')
    t.strictSame(await verify(), [], 'it breaks no lock')
    t.match(await verifyDatabase(server.url, 'web'), [{ remedy: /RESET default_transaction_read/ }])
    await open()
    const object = [`ALTER ROLE ${logins.owner.name}`]
    const reopen = await change(server, object, { default_transaction_read_only: 'on' })
    await t.rejects(migrate(server), /default_transaction_read_only is on/)
    await reopen()
    t.match(await migrate(server), { defined: false })
  })

  const skip = pgbouncer === null && 'no pgbouncer on this machine: npm does not bring one along'
  t.test('of the role, behind PgBouncer', { skip }, async (t) => {
    const database = await createEmpty(t, server, 'pooled')
    await migrate(database)
    const { statementMs, lockMs, idleInTransactionMs } = defaultLimits
    await setEach(t, server, ofRoles('pooled'), {
      ...hostileSettings,
      // The tests before this one have taken them back.
      statement_timeout: `${statementMs}`,
      lock_timeout: `${lockMs}`,
      idle_in_transaction_session_timeout: `${idleInTransactionMs}`,
    })
    const pooler = await startPgbouncer(t, database.url, 20)
    const pooled = {
      ...database,
      url: pooler.through(database.url),
      workerUrl: pooler.through(database.workerUrl),
    }
    t.strictSame(await verifyDatabase(pooled.url, 'web'), [])
    t.strictSame(await verifyDatabase(pooled.workerUrl, 'worker'), [])
    t.strictSame(await repeatVerification(pooled.url)(), [])
    t.strictSame(await print(t, pooled), expected.printed)
  })
})

function databaseOf({ url }: Pick<TestDatabase, 'url'>): string {
  return new URL(url).pathname.slice(1)
}

async function createEmpty(t: Test, server: OwnServer, name: string): Promise<TestDatabase> {
  await createOwnerAndDatabase(server.superuserUrl, logins.owner, name)
  const urls = urlsOf(server.superuserUrl, name)
  const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
  t.teardown(() => admin.end())
  return { ...urls, admin }
}

function setAll(t: Test, server: OwnServer, level: Level, database: string): Promise<void> {
  return setEach(t, server, level(database), hostile)
}

/** Until the test ends. */
async function setEach(
  t: Test,
  server: OwnServer,
  objects: readonly string[],
  values: Readonly<Record<string, string>>,
): Promise<void> {
  t.teardown(await change(server, objects, values))
}

/** @returns takes the settings back */
async function change(
  { admin }: OwnServer,
  objects: readonly string[],
  values: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const run = async (statements: readonly string[]) => {
    const client = await admin.connect()
    await applySettings(client, statements)
    client.release()
  }
  await run(objects.flatMap((object) => settingStatements(object, values)))
  const names = Object.keys(values)
  return () => run(objects.flatMap((object) => names.map((name) => `${object} RESET ${name}`)))
}

/** What `migrate` has recorded. */
async function readRecord({ admin }: Pick<TestDatabase, 'admin'>): Promise<object[]> {
  const { rows } = await admin.query(
    `SELECT kind, name, part, facts FROM schema_objects ORDER BY kind COLLATE "C", name COLLATE "C"`,
  )
  return rows
}

/** Responses of the program to reads and writes, and what its worker has made of an event. */
async function print(t: Test, database: TestDatabase): Promise<string[]> {
  const config = testConfig(database)
  const app = await buildApp(config, createLogger('silent'))
  const worker = await startWorker(config, createLogger('silent'))
  try {
    const user = await createUser(database, { role: 'admin', billingCustomer: 'cus_1' })
    const order = await createOrder(database, user)
    await database.admin.query(`UPDATE orders SET created_at = '2026-02-03 04:05:06.789+00'`)
    const { cookie } = await signIn({ config, database }, user)
    const ask = as({ app }, { cookie })
    const charge = { customer: 'cus_1', amount: 4900, currency: 'eur' }
    const event = { id: 'evt_1', type: 'charge.succeeded', data: { object: charge } }
    const recorded = await send(app, event)
    await until(database, `SELECT FROM received_events HAVING every(status = 'processed')`)
    const post = { title: "It's 1\\2", body: 'Text', department: 'sales' }
    const answers = [
      recorded,
      await send(app, event),
      await ask('POST', '/posts', post),
      await ask('GET', `/orders/${order}`),
      await ask('GET', '/orders?limit=5'),
      await ask('GET', '/posts'),
      await ask('GET', '/invoices'),
      await ask('GET', '/events'),
      await ask('GET', '/auth/sessions'),
    ]
    t.strictSame(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 201, 200, 200, 200, 200, 200, 200],
    )
    return answers.map(({ statusCode, body }) => `${statusCode} ${withoutVarying(body)}`)
  } finally {
    await app.close()
    await worker.stop()
  }
}

const fixed = '2026-02-03T04:05:06.789Z'

/** Ids and times differ between two databases; a time in another form stays. */
function withoutVarying(body: string): string {
  return body
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|msg_[\w-]{43}/g, '(id)')
    .replaceAll(/"nextCursor":"[^"]+"/g, '"nextCursor":"(cursor)"')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (time) =>
      time === fixed ? time : '(time)',
    )
}
