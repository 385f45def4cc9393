import t from 'tap'
import { production } from '#test/support/app/production.ts'
import { createDatabase, createOwnedDatabase } from '#test/support/database/database.ts'
import { query } from '#test/support/database/raw-sql.ts'
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
    /^applied 0_baseline\nreplaced functions, policies, triggers and privileges$/m,
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

t.test('doctor names what was changed by hand, and migrate restores it', async (t) => {
  const database = await createOwnedDatabase(t)
  const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
  await database.admin.query('ALTER TABLE invoices NO FORCE ROW LEVEL SECURITY')
  const doctor = await runProgram(t, ['doctor'], env)
  t.equal(await doctor.ended, 1)
  t.match(doctor.results(), /invoices is not forced on its owner. Run `gatehouse migrate`/)
  const migrated = await runProgram(t, ['migrate'], env)
  t.equal(await migrated.ended, 0)
  t.equal(migrated.results(), 'replaced functions, policies, triggers and privileges\n')

  await query(database.ownerUrl, 'CREATE TABLE notes (tenant_id uuid NOT NULL)')
  const again = await runProgram(t, ['doctor'], env)
  t.equal(await again.ended, 1)
  t.match(
    again.results(),
    /notes is not under row-level .*\n.*\nCREATE POLICY tenant_scope ON notes/,
  )
})
