import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { chooseAccount } from '#dev/demo/postgres/os-account.ts'
import { noRedis, startRedis } from '#test/instances/redis.ts'
import { startOwnServer } from '#test/reliability/own-server.ts'
import { startPair } from '#test/reliability/standby.ts'
import { production } from '#test/support/app/production.ts'
import { createDatabase, createOwnedDatabase } from '#test/support/database/database.ts'
import { pgbouncer, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { createAuthority, selfSigned } from '#test/support/processes/certificates.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { startMailServer } from '#test/support/receiver/mail-server.ts'

/** The faults by subject. The doctor exits with 1, because the provider of these tests is not there. */
async function doctor(t: Test, env: Record<string, string>): Promise<Record<string, string[]>> {
  const program = await runProgram(t, ['doctor', '--json'], env)
  t.equal(await program.ended, 1)
  const findings: { subject: string; faults: string[] }[] = JSON.parse(program.results())
  return Object.fromEntries(findings.map(({ subject, faults }) => [subject, faults]))
}

t.test('a Redis that is down or refuses the password is named', { skip: noRedis }, async (t) => {
  const env = production(await createDatabase(t))
  const port = await findFreePort()
  await startRedis(t, port, ['--requirepass', 'right'])
  const faultsWith = async (url: string) =>
    (await doctor(t, { ...env, REDIS_URL: url })).Redis?.join()
  t.equal(await faultsWith(`redis://:right@127.0.0.1:${port}`), '')
  const refused =
    /^Redis at 127\.0\.0\.1:\d+ refuses the login: .*Check the password in REDIS_URL\.$/
  t.match(await faultsWith(`redis://:wrong@127.0.0.1:${port}`), refused)
  t.match(await faultsWith(`redis://127.0.0.1:${port}`), refused, 'without a password')
  t.match(
    await faultsWith('redis://:right@127.0.0.1:9'),
    /^Redis at 127\.0\.0\.1:9 cannot be used: connect ECONNREFUSED .*Check REDIS_URL and that Redis/,
  )
})

t.test('a mail server that is down, refuses the login or is not trusted is named', async (t) => {
  const env = { ...production(await createDatabase(t)), ALERT_FROM: 'gatehouse@example.com' }
  const faultsWith = async (url: string) =>
    (await doctor(t, { ...env, SMTP_URL: url }))['mail server']?.join()
  const server = await startMailServer(t, {
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: false,
    onAuth: ({ password }, _session, callback) =>
      password === 'right' ? callback(null, { user: 'ada' }) : callback(new Error('no')),
  })
  t.equal(await faultsWith(server.url.replace('//', '//ada:right@')), '')
  t.match(
    await faultsWith(server.url.replace('//', '//ada:wrong@')),
    /^The mail server 127\.0\.0\.1:\d+ refuses the login\. Check user and password in SMTP_URL\.$/,
  )
  t.match(
    await faultsWith('smtp://127.0.0.1:9'),
    /^The mail server 127\.0\.0\.1:9 cannot be used: .*ECONNREFUSED.* Check SMTP_URL/,
  )
  const certified = selfSigned({ addresses: ['127.0.0.1'] })
  const secure = await startMailServer(t, { ...certified, secure: true })
  t.match(
    await faultsWith(`smtps://127.0.0.1:${secure.port}`),
    /^The mail server 127\.0\.0\.1:\d+ has a certificate that is not trusted: .*NODE_EXTRA_CA_CERTS/,
  )
})

t.test(
  'a certificate that is not trusted is told apart from a provider that is away',
  async (t) => {
    const env = production(await createDatabase(t))
    const server = createServer(selfSigned({ addresses: ['127.0.0.1'] })).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const issuer = `https://127.0.0.1:${port}`
    const found = await doctor(t, { ...env, OIDC_ACME_LOGIN_ISSUER: issuer })
    t.match(found[`provider acme_login (${issuer})`], [
      /^The certificate of the provider is not trusted\. .*NODE_EXTRA_CA_CERTS/,
    ])
    const away = 'https://127.0.0.1:9'
    t.match(
      (await doctor(t, { ...env, OIDC_ACME_LOGIN_ISSUER: away }))[`provider acme_login (${away})`],
      [/^The provider cannot be reached, .* Check OIDC_ACME_LOGIN_ISSUER/],
    )
  },
)

t.test(
  'a certificate of PostgreSQL that is not trusted is named, and trusted by its authority',
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-certified-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    await chmod(folder, 0o711)
    const authority = createAuthority('own')
    const { key, cert } = authority.certify({ names: ['localhost'], addresses: ['127.0.0.1'] })
    const account = await chooseAccount(folder)
    for (const [name, text] of Object.entries({ key, cert, authority: authority.cert })) {
      await writeFile(join(folder, name), text, { mode: 0o600 })
      if (account) await chown(join(folder, name), account.uid, account.gid)
    }
    const settings = {
      ...{ ssl: 'on', ssl_cert_file: join(folder, 'cert'), ssl_key_file: join(folder, 'key') },
    }
    const server = await startOwnServer(t, { folder, settings })
    const verified = (url: string) => `${url}?sslmode=verify-full`
    const urls = { url: verified(server.url), workerUrl: verified(server.workerUrl) }
    const found = await doctor(t, production(urls))
    const untrusted =
      /^The certificate of \S+ in DATABASE_(WORKER_)?URL is not trusted: .*NODE_EXTRA/
    for (const subject of [
      'database, application role',
      'queue',
      'quarantine',
      'encryption keys',
    ]) {
      t.match(found[subject], [untrusted], subject)
    }
    const migrating = await runProgram(t, ['migrate'], {
      ...production(urls),
      DATABASE_OWNER_URL: verified(server.ownerUrl),
    })
    t.equal(await migrating.ended, 1)
    t.match(migrating.messages(), /The certificate of \S+ in DATABASE_OWNER_URL is not trusted/)
    const trusting = { ...production(urls), NODE_EXTRA_CA_CERTS: join(folder, 'authority') }
    t.strictSame((await doctor(t, trusting))['database, application role'], [])
  },
)

t.test(
  'a PgBouncer without ?pgbouncer=true is named',
  {
    skip: pgbouncer === null && 'no pgbouncer on this machine',
  },
  async (t) => {
    const database = await createOwnedDatabase(t)
    const pooler = await startPgbouncer(t, database.url, 3)
    const unmarked = {
      url: pooler.through(database.url, { marked: false }),
      workerUrl: pooler.through(database.workerUrl, { marked: false }),
    }
    const found = await doctor(t, production(unmarked))
    t.match(found['database, application role'], [
      /^A pooler answers .* Add \?pgbouncer=true to DATABASE_URL\.$/,
    ])
    t.match(found.queue, [/Add \?pgbouncer=true to DATABASE_WORKER_URL\.$/])
    const migrating = await runProgram(t, ['migrate'], {
      ...production(unmarked),
      DATABASE_OWNER_URL: pooler.through(database.ownerUrl, { marked: false }),
    })
    t.equal(await migrating.ended, 1)
    t.match(migrating.messages(), /Let DATABASE_OWNER_URL lead to PostgreSQL itself/)
    const direct = await runProgram(t, ['migrate'], {
      ...production(unmarked),
      DATABASE_OWNER_URL: database.ownerUrl,
    })
    t.equal(await direct.ended, 0, direct.messages())
  },
)

t.test('the URL of a standby, and one of several hosts, are named', async (t) => {
  const { standby, ...primary } = await startPair(t)
  const found = await doctor(t, production(standby))
  const isStandby = /^The database is a standby, .*lead to the primary/
  t.match(found['database, application role'], [isStandby])
  t.match(found['database, worker role'], [isStandby])
  const urls = {
    DATABASE_OWNER_URL: standby.ownerUrl,
    DATABASE_URL: standby.url,
    DATABASE_WORKER_URL: standby.workerUrl,
  }
  const migrating = await runProgram(t, ['migrate'], { NODE_ENV: 'production', ...urls })
  t.equal(await migrating.ended, 1)
  t.match(migrating.messages(), /The database is a standby/)
  const leading = await doctor(t, production(primary))
  t.strictSame(leading['database, application role'], [], 'the URL leads to the primary')

  const several = standby.url.replace('127.0.0.1', '127.0.0.1:9,127.0.0.1')
  t.match(await doctor(t, { ...production(standby), DATABASE_URL: several }), {
    settings: [/^DATABASE_URL: names several hosts/],
  })
})

t.test('a privilege too many is named', async (t) => {
  const database = await createDatabase(t)
  await database.admin.query('GRANT DELETE ON audit_log TO test_app')
  t.match((await doctor(t, production(database)))['database, application role'], [
    /test_app may DELETE audit_log, which it does not need\. Run `gatehouse migrate`/,
  ])
})
