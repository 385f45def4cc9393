import t from 'tap'
import { createDatabase } from '#test/support/helper.ts'
import { leak, production } from '#test/support/production.ts'
import { runProgram } from '#test/support/program.ts'

t.test('doctor reports what is wrong and how to fix it', async (t) => {
  const database = await createDatabase(t)
  const env = production(database)
  const sick = await runProgram(t, ['doctor'], {
    ...env,
    TRUST_PROXY: '',
    DATABASE_URL: database.superuserUrl,
    DATABASE_WORKER_URL: 'postgres://nobody:nothing@127.0.0.1:9/none',
    OIDC_ACME_LOGIN_ISSUER: 'https://127.0.0.1:9',
  })
  t.equal(await sick.ended, 1)
  t.match(sick.output(), /FAULT +settings\n.*TRUST_PROXY/)
  t.match(sick.output(), /FAULT +database, application role\n.*bypass row-level security/)
  t.match(sick.output(), /FAULT +database, worker role\n.*DATABASE_WORKER_URL/)
  t.match(sick.output(), /FAULT +queue\n/)
  await database.admin.query(leak)
  const leaking = await runProgram(t, ['doctor'], env)
  await leaking.ended
  t.match(leaking.output(), /FAULT +database, application role\n.*posts accepts what.*Restore/)
  t.match(sick.output(), /FAULT +provider acme_login .*\n.*OIDC_ACME_LOGIN_ISSUER/)
})

t.test('doctor --json has the same findings and exit status', async (t) => {
  const database = await createDatabase(t)
  const env = { ...production(database), DATABASE_URL: database.superuserUrl }
  const program = await runProgram(t, ['doctor', '--json'], env)
  t.equal(await program.ended, 1)
  const findings: { subject: string; faults: string[] }[] = JSON.parse(program.results())
  const faultsOf = (subject: string) => findings.find((one) => one.subject === subject)?.faults
  t.match(faultsOf('database, application role'), [/bypass row-level security/])
  t.same(faultsOf('settings'), [])
})
