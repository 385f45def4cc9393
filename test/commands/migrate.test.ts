import t from 'tap'
import { createDatabase } from '#test/support/helper.ts'
import { runProgram } from '#test/support/program.ts'

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
