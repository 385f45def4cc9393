import t from 'tap'
import { production } from '#test/support/app/production.ts'
import { createDatabase } from '#test/support/database/database.ts'
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
  t.match(first.output(), /^applied \d+_foundation\napplied \d+_provider_grants$/m)
  const second = await runProgram(t, ['migrate'], env)
  t.equal(await second.ended, 0)
  t.equal(second.results(), 'The database is up to date.\n')
  const seeded = await runProgram(t, ['seed'], env)
  t.equal(await seeded.ended, 0)
  t.equal(seeded.results(), 'Seeded.\n')
  const reports: [string, object][] = [
    ['migrate', { applied: [], createdRoles: [], ahead: [] }],
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

t.test(
  'doctor prints the statement that repairs a table, and migrate --repair runs it',
  async (t) => {
    const database = await createDatabase(t)
    await database.admin.query('GRANT CREATE ON SCHEMA public TO test_owner')
    const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
    const repair = async (...args: string[]) => {
      const program = await runProgram(t, ['migrate', '--repair', ...args], env)
      return { status: await program.ended, printed: program.results() }
    }
    t.match(await repair(), { status: 0, printed: 'Nothing had to be repaired.' })

    await database.admin.query('ALTER TABLE invoices NO FORCE ROW LEVEL SECURITY')
    const statement = 'ALTER TABLE "invoices" FORCE ROW LEVEL SECURITY'
    const doctor = await runProgram(t, ['doctor'], env)
    t.equal(await doctor.ended, 1)
    t.match(doctor.results(), `gatehouse migrate --repair`)
    t.match(doctor.results(), `${statement};`)
    t.match(await repair(), { status: 0, printed: `repaired with ${statement}\n` })

    await query(database.ownerUrl, 'CREATE TABLE notes (tenant_id uuid NOT NULL)')
    const { status, printed } = await repair('--json')
    t.equal(status, 1)
    t.match(JSON.parse(printed), { repaired: [], remaining: [{ problem: /notes is not under/ }] })
  },
)
