import pg from 'pg'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { openDatabase } from '#src/db/database.ts'
import { isDatabaseUnavailable, isRefusedValue } from '#src/db/errors.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { Problem } from '#src/http/problems.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'

const nowhere = 'postgres://nobody:nothing@127.0.0.1:9/none'

function errorWith(members: object, message = 'x'): Error {
  return Object.assign(new Error(message), members)
}

t.test('states after which a request can be retried are told from mistakes', async (t) => {
  const states =
    '08006 25006 25P03 25P04 40001 40003 40P01 53300 55006 55P03 57014 57P01 58000 58030'
  const codes = 'ECONNREFUSED ECONNRESET ETIMEDOUT EPIPE P1001 P2024 P2034'
  for (const code of `${states} ${codes}`.split(' ')) {
    t.ok(isDatabaseUnavailable(errorWith({ code })), code)
    t.notOk(isRefusedValue(errorWith({ code })), code)
  }
  const others = '22021 23505 25001 42P01 42501 58P01 P2002 P2025 P1000 5700 08 57'
  for (const code of [...others.split(' '), '']) {
    t.notOk(isDatabaseUnavailable(errorWith({ code })), code)
  }
})

t.test('a statement that met a migration can be sent again', async (t) => {
  const message = 'structure of query does not match function result type'
  t.ok(isDatabaseUnavailable(errorWith({ code: '42804' }, message)))
  t.notOk(isDatabaseUnavailable(errorWith({ code: '42804' })))
})

t.test('a value that PostgreSQL refuses is told from other mistakes (class 22)', async (t) => {
  for (const code of ['22021', '22008', '22P02']) {
    t.ok(isRefusedValue(errorWith({ code })), code)
    const cause = { kind: 'InvalidInputValue', originalCode: code }
    t.ok(isRefusedValue(errorWith({ meta: { driverAdapterError: errorWith({ cause }) } })), code)
  }
  for (const code of ['23505', '42P01', '57014', 'P2007', '2200', '']) {
    t.notOk(isRefusedValue(errorWith({ code })), code)
  }
  t.notOk(isRefusedValue({ code: '22021' }), 'not an error')
})

t.test('a value that is not an error is not “unavailable”', async (t) => {
  for (const value of [null, undefined, 'ECONNREFUSED', 57, { code: '57P01' }, []]) {
    t.notOk(isDatabaseUnavailable(value))
  }
  for (const code of [57014, null, {}]) t.notOk(isDatabaseUnavailable(errorWith({ code })))
  t.notOk(isDatabaseUnavailable(new Problem('not-found')))
})

t.test(
  'the error is found in the causes, in `cause` and in `meta.driverAdapterError`',
  async (t) => {
    const cause = { code: '57P01' }
    t.ok(isDatabaseUnavailable(new Error('outer', { cause: new Error('inner', { cause }) })))
    t.ok(isDatabaseUnavailable(errorWith({ meta: { driverAdapterError: errorWith({ cause }) } })))
    t.notOk(isDatabaseUnavailable(errorWith({ meta: { driverAdapterError: null }, cause: 1 })))
    t.notOk(isDatabaseUnavailable(errorWith({ meta: null })))
    const circle = errorWith({ code: 'P2002' })
    circle.cause = circle
    t.notOk(isDatabaseUnavailable(circle), 'an error that is its own cause')
  },
)

t.test('the errors of a failing PostgreSQL are recognised', async (t) => {
  const { url, admin } = await createDatabase(t)
  const user = (await allowScopes({ admin }))(await createUser({ url, admin } as never))
  const db = openDatabase(url, 2, patient)
  const systemDb = openSystemDatabase(url, 2, patient)
  t.teardown(() => Promise.all([db.close(), systemDb.close()]))
  const killAll = () =>
    admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND pid <> pg_backend_pid()`)
  const failures: Record<string, () => Promise<unknown>> = {
    'a statement that takes too long': () =>
      db.write(user, async (tx) => {
        await tx.sql`SET LOCAL statement_timeout = 20`
        await tx.sql`SELECT pg_sleep(60)`
      }),
    'a lock that is not given up': () =>
      db.write(user, async (tx) => {
        const holder = await admin.connect()
        await holder.query('BEGIN; LOCK TABLE teams')
        await tx.sql`SET LOCAL lock_timeout = 20`
        await tx.team.findFirst().finally(() => holder.release(true))
      }),
    'a backend that is killed between two queries': () =>
      db.read(user, async (tx) => {
        await tx.team.findFirst()
        await killAll()
        await tx.team.findFirst()
      }),
    'a backend that is killed before the commit': () =>
      db.write(user, async (tx) => {
        await tx.team.findFirst()
        await killAll()
      }),
    'a server that has become read-only': () =>
      db.write(user, async (tx) => {
        await tx.sql`SET TRANSACTION READ ONLY`
        await tx.sql`UPDATE teams SET updated_at = now()`
      }),
    'a port where nobody listens': async () => {
      const other = openDatabase(nowhere, 2)
      await other.read(user, (tx) => tx.team.findFirst()).finally(() => other.close())
    },
    'the same for the identity plane': async () => {
      const other = openSystemDatabase(nowhere, 2)
      await other.sql`SELECT 1`.finally(() => other.close())
    },
  }
  for (const [name, fail] of Object.entries(failures)) {
    const error = await fail().then(
      () => null,
      (error: unknown) => error,
    )
    t.ok(isDatabaseUnavailable(error), `${name}: ${error}`)
  }
  await t.rejects(db.read(user, (tx) => tx.sql`SELEC`))
  const mistake = await systemDb.sql`SELEC`.catch((error: unknown) => error)
  t.type(mistake, pg.DatabaseError)
  t.notOk(isDatabaseUnavailable(mistake), 'a mistake in a statement is ours')
})
