import t from 'tap'
import { production } from '#test/support/app/production.ts'
import { createDatabase, createOwnedDatabase } from '#test/support/database/database.ts'
import { query } from '#test/support/database/raw-sql.ts'
import { until } from '#test/support/database/until.ts'
import { runProgram } from '#test/support/processes/program.ts'

t.test('migrate and seed prepare a database and report when there is nothing to do', async (t) => {
  const database = await createDatabase(t)
  await database.admin.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  await database.admin.query('GRANT ALL ON SCHEMA public TO test_owner')
  const env = {
    NODE_ENV: 'production',
    DATABASE_OWNER_URL: database.ownerUrl,
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
  }
  const first = await runProgram(t, ['migrate'], env)
  t.equal(await first.ended, 0)
  t.match(
    first.output(),
    /^applied 0_baseline\napplied app:shop:0_shop\nreplaced functions, policies, triggers and privileges$/m,
  )
  const second = await runProgram(t, ['migrate'], env)
  t.equal(await second.ended, 0)
  t.equal(second.results(), 'The database is up to date.\n')
  const seeded = await runProgram(t, ['seed'], env)
  t.equal(await seeded.ended, 0)
  t.equal(seeded.results(), 'Seeded.\n')
  const reports: [string, object][] = [
    ['migrate', { applied: [], defined: false, createdRoles: [], ahead: [] }],
    ['seed', { seeded: false }],
  ]
  for (const [command, report] of reports) {
    const program = await runProgram(t, [command, '--json'], env)
    t.equal(await program.ended, 0)
    t.same(JSON.parse(program.results()), report)
  }
  const without = await runProgram(t, ['migrate'], { NODE_ENV: 'production' })
  t.equal(await without.ended, 1)
  t.match(without.output(), /DATABASE_OWNER_URL: is missing[\s\S]*DATABASE_URL: is missing/)
})

t.test('migrate names a URL whose role cannot be read', async (t) => {
  const { ownerUrl, url } = await createDatabase(t)
  const withUser = (user: string) => url.replace(/\/\/[^@]*@/, `//${user}`)
  const urls: [object, RegExp][] = [
    [{ DATABASE_URL: withUser('') }, /- DATABASE_URL: names no user/],
    [
      { DATABASE_URL: url, DATABASE_WORKER_URL: withUser('') },
      /- DATABASE_WORKER_URL: names no user/,
    ],
    [{ DATABASE_URL: withUser('app:5%off@') }, /- DATABASE_URL: a % .* must be written %25/],
  ]
  for (const [given, fault] of urls) {
    const env = { NODE_ENV: 'production', DATABASE_OWNER_URL: ownerUrl, ...given }
    const program = await runProgram(t, ['migrate'], env)
    t.equal(await program.ended, 1)
    t.match(program.output(), fault)
  }
})

/** What somebody changes by hand, how it is named, and whether `migrate` alone can take it back. */
const changes: Readonly<Record<string, { sql: string; problem: RegExp; remedy: RegExp }>> = {
  'the body of a function': {
    sql: `CREATE OR REPLACE FUNCTION ticket_hash(ticket bytea) RETURNS bytea LANGUAGE sql IMMUTABLE
      RETURN ticket`,
    problem: /function ticket_hash\(bytea\) was changed by hand/,
    remedy: /Run `gatehouse migrate`/,
  },
  'a policy': {
    sql: 'ALTER POLICY tenant_scope ON invoices USING (current_tenant_id() IS NOT NULL)',
    problem: /policy tenant_scope of the table invoices was changed by hand/,
    remedy: /Run `gatehouse migrate`/,
  },
  'a privilege': {
    sql: 'GRANT DELETE ON audit_log TO test_app',
    problem: /test_app may DELETE audit_log, which it does not need/,
    remedy: /Run `gatehouse migrate`/,
  },
  'an owner': {
    sql: 'ALTER FUNCTION ticket_hash(bytea) OWNER TO postgres',
    problem: /function ticket_hash\(bytea\) .*owner postgres instead of test_owner/,
    remedy: /As a superuser:\s+ALTER\s+FUNCTION\s+ticket_hash\(bytea\)\s+OWNER\s+TO\s+test_owner;/,
  },
}

for (const [name, { sql, problem, remedy }] of Object.entries(changes)) {
  t.test(`serve and doctor refuse a database with ${name} changed by hand`, async (t) => {
    const database = await createOwnedDatabase(t)
    const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
    await database.admin.query(sql)
    for (const command of ['serve', 'doctor']) {
      const program = await runProgram(t, [command], env)
      t.equal(await program.ended, 1, command)
      t.match(program.output(), problem, command)
      t.match(program.output(), remedy, command)
      t.notMatch(program.output(), /"msg":"started"/)
    }
    const migrated = await runProgram(t, ['migrate'], env)
    if (name === 'an owner') {
      t.equal(await migrated.ended, 1)
      t.match(migrated.output(), /must be owner of function ticket_hash/)
      return
    }
    t.equal(await migrated.ended, 0)
    t.equal(migrated.results(), 'replaced functions, policies, triggers and privileges\n')
    const serve = await runProgram(t, ['serve'], env)
    await serve.says(/"msg":"started"/)
  })
}

t.test(
  'a migrate that is killed half-way leaves the old functions, and the next one completes',
  async (t) => {
    const database = await createOwnedDatabase(t)
    const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
    const { admin } = database
    // As a release before this one would have left it.
    await admin.query(`
    CREATE OR REPLACE FUNCTION ticket_hash(ticket bytea) RETURNS bytea LANGUAGE sql IMMUTABLE RETURN ticket;
    DROP FUNCTION touch_session(bytea); DROP POLICY tenant_scope ON invoices`)
    const state = async () =>
      (
        await admin.query(
          `SELECT to_regproc('touch_session') AS touch, ticket_hash('x') = 'x' AS old,
           (SELECT count(*)::int FROM pg_policy WHERE polrelid = 'invoices'::regclass
            AND polname = 'tenant_scope') AS policies,
           (SELECT count(*)::int FROM schema_releases) AS releases`,
        )
      ).rows[0]
    const before = await state()
    t.match(before, { touch: null, old: true, policies: 0 })
    const holder = await admin.connect()
    await holder.query('BEGIN; LOCK TABLE invoices IN SHARE MODE')
    const first = await runProgram(t, ['migrate'], env)
    // The new functions are there, and the policies come next.
    const halfway = `SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = 'gatehouse migrate' AND wait_event_type = 'Lock'`
    await Promise.race([until(database, halfway), first.ended])
    t.equal(first.child.exitCode, null, first.output())
    first.child.kill('SIGKILL')
    await first.ended
    await holder.query('ROLLBACK')
    holder.release()
    t.strictSame(
      await state(),
      before,
      'of the functions, policies and the record, nothing changed',
    )

    const second = await runProgram(t, ['migrate'], env)
    t.equal(await second.ended, 0, second.output())
    t.match(await state(), { touch: 'touch_session', old: false, policies: 1 })
    const doctor = await runProgram(t, ['doctor'], env)
    await doctor.ended
    t.notMatch(doctor.output(), /by hand|missing/)
  },
)

t.test('doctor names a table without policies, with the statement that it lacks', async (t) => {
  const database = await createOwnedDatabase(t)
  const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
  await query(database.ownerUrl, 'CREATE TABLE notes (tenant_id uuid NOT NULL)')
  const doctor = await runProgram(t, ['doctor'], env)
  t.equal(await doctor.ended, 1)
  t.match(
    doctor.results(),
    /notes is not under row-level .*\n.*\nCREATE POLICY tenant_scope ON notes/,
  )
})
