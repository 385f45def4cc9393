import t from 'tap'
import { testSettings } from '#dev/testing/settings.ts'
import { untilAnnounced } from '#test/reliability/instance.ts'
import { leak, production } from '#test/support/app/production.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { type Program, runProgram } from '#test/support/processes/program.ts'

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
  t.match(
    leaking.output(),
    /FAULT +database, application role\n.*policy wide of the table posts is in no file.*gatehouse migrate/,
  )
  t.match(sick.output(), /FAULT +provider acme_login .*\n.*OIDC_ACME_LOGIN_ISSUER/)
})

t.test('doctor --json has the same findings and exit status', async (t) => {
  const database = await createDatabase(t)
  const env = { ...production(database), DATABASE_URL: database.superuserUrl }
  const program = await runProgram(t, ['doctor', '--json'], env)
  t.equal(await program.ended, 1)
  t.match(faultsOf(program, 'database, application role'), [/bypass row-level security/])
  t.same(faultsOf(program, 'settings'), [])
})

t.test('doctor checks only what the role of the process needs', async (t) => {
  const database = await createDatabase(t)
  const {
    DATABASE_URL = '',
    DATABASE_WORKER_URL = '',
    SESSION_SECRETS = '',
    ...rest
  } = production(database)
  const subjectsFor = async (env: Record<string, string>) => {
    const program = await runProgram(t, ['doctor', '--json'], { ...rest, ...env })
    await program.ended
    const findings: { subject: string; faults: string[] }[] = JSON.parse(program.results())
    const own = findings.filter(({ subject }) => !subject.startsWith('provider'))
    t.strictSame(
      own.flatMap(({ faults }) => faults),
      [],
      program.results(),
    )
    return own.map(({ subject }) => subject)
  }
  const web = { ROLE: 'web', DATABASE_URL, SESSION_SECRETS }
  t.same(await subjectsFor(web), [
    'settings',
    'database, application role',
    'queue',
    'processes and clocks',
    'events and deliveries',
  ])
  const worker = { ROLE: 'worker', DATABASE_WORKER_URL }
  t.same(await subjectsFor(worker), [
    'settings',
    'database, worker role',
    'queue',
    'processes and clocks',
    'events and deliveries',
    'quarantine',
    'encryption keys',
  ])
})

t.test('doctor and serve name PgBouncer if PgBouncer is down', async (t) => {
  const database = await createDatabase(t)
  const pooled = 'postgres://app:hidden@127.0.0.1:9/gatehouse?pgbouncer=true'
  const env = { ...production(database), DATABASE_URL: pooled, DATABASE_WORKER_URL: pooled }
  const doctor = await runProgram(t, ['doctor', '--json'], env)
  t.equal(await doctor.ended, 1)
  const findings: { subject: string; faults: string[] }[] = JSON.parse(doctor.results())
  const named = /^PgBouncer at 127\.0\.0\.1:9 cannot be reached: .*ECONNREFUSED.* Check DATABASE_/
  const ofDatabase = findings.filter(({ subject }) => /database|queue|keys/.test(subject))
  t.equal(ofDatabase.length, 4)
  for (const { subject, faults } of ofDatabase) t.match(faults, [named], subject)
  const serve = await runProgram(t, ['serve'], env)
  t.equal(await serve.ended, 1)
  t.match(serve.messages(), /PgBouncer at 127\.0\.0\.1:9 cannot be reached/)
  t.notMatch(doctor.output() + serve.output(), 'hidden')
})

t.test('doctor and a starting process notice two installations on one database', async (t) => {
  const database = await createDatabase(t)
  const env = { ...testSettings(database), LOG_LEVEL: 'info' }
  const first = await runProgram(t, ['serve'], { ...env, BASE_URL: 'http://localhost:3000' })
  await first.says(/"started"/)
  await untilAnnounced(database, 1)
  const doctor = await runProgram(t, ['doctor', '--json'], {
    ...env,
    BASE_URL: 'http://127.0.0.1:3000',
  })
  await doctor.ended
  t.match(
    faultsOf(doctor, 'processes and clocks'),
    [/localhost:3000 \(1\), http:\/\/127.0.0.1:3000 \(1\)\. If these are two/],
    'before the second one starts',
  )
  const same = await runProgram(t, ['doctor', '--json'], {
    ...env,
    BASE_URL: 'http://localhost:3000',
  })
  await same.ended
  t.strictSame(faultsOf(same, 'processes and clocks'), [])
  const second = await runProgram(t, ['serve'], { ...env, BASE_URL: 'http://127.0.0.1:3000' })
  await second.says(/"level":"warn".*different BASE_URLs run on this database/)
  t.notMatch(first.output(), 'different BASE_URLs')
})

t.test('doctor and a starting process notice a clock that is wrong by minutes', async (t) => {
  const database = await createDatabase(t)
  const env = { ...testSettings(database), LOG_LEVEL: 'info' }
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  const late = await runProgram(t, ['doctor', '--json'], { ...env, GATEHOUSE_NOW: inMinutes(-5) })
  await late.ended
  t.match(faultsOf(late, 'processes and clocks'), [/this machine is [45] min \d+ s behind .* NTP/])
  const early = await runProgram(t, ['serve'], { ...env, GATEHOUSE_NOW: inMinutes(5) })
  await early.says(
    /"level":"warn".*The clock of a process with ROLE=all is [45] min \d+ s ahead of/,
  )
  const right = await runProgram(t, ['doctor', '--json'], env)
  await right.ended
  t.match(
    faultsOf(right, 'processes and clocks'),
    [/a process with ROLE=all is [45] min \d+ s ahead of/],
    'the running process, not this machine',
  )
})

function faultsOf({ results }: Program, subject: string): string[] | undefined {
  const findings: { subject: string; faults: string[] }[] = JSON.parse(results())
  return findings.find((one) => one.subject === subject)?.faults
}
