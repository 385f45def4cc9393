import { Signer } from '@fastify/cookie'
import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { newAnonymousId } from '#src/auth/sessions/session-id.ts'
import { createLogger } from '#src/observability/logger.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { until } from '#test/support/database/until.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

t.test('a session ends at its limits, by the clock of the database', async (t) => {
  const test = await build(t, { SESSION_IDLE_SECONDS: '60', SESSION_ABSOLUTE_SECONDS: '600' })
  const cases: [string, string, number][] = [
    ['idle, before the limit', "last_seen_at = now() - interval '50 s'", 200],
    ['idle, after the limit', "last_seen_at = now() - interval '61 s'", 401],
    ['before the absolute limit', "expires_at = now() + interval '10 s'", 200],
    ['at the absolute limit', 'expires_at = now()', 401],
  ]
  for (const [name, change, status] of cases) {
    const { cookie } = await signIn(test, await createUser(test.database))
    await test.database.admin.query(`UPDATE sessions SET ${change}`)
    t.equal(await statusOf(test, cookie), status, name)
    await test.database.admin.query('DELETE FROM sessions')
  }
})

t.test('a request extends the idle limit, never the absolute one', async (t) => {
  const { cookie } = await signIn(test, await createUser(test.database))
  const { admin } = test.database
  const expiry = async () => (await admin.query('SELECT expires_at FROM sessions')).rows[0]
  const before = await expiry()
  await admin.query("UPDATE sessions SET last_seen_at = now() - interval '2 min'")
  t.equal(await statusOf(test, cookie), 200)
  await until(test.database, "SELECT FROM sessions WHERE last_seen_at > now() - interval '1 min'")
  t.strictSame(await expiry(), before)
})

t.test('a forged, foreign, duplicate or empty cookie does not authenticate', async (t) => {
  const { cookie, cookieId } = await signIn(test, await createUser(test.database))
  const other = await signIn(test, await createUser(test.database))
  const cases: [string, string][] = [
    ['unsigned', `sid=${cookieId}`],
    ['signed with another secret', `sid=${new Signer('x'.repeat(32)).sign(cookieId)}`],
    ['with a broken signature', `${cookie}x`],
    ['of nobody', `sid=${new Signer(test.config.session.secrets[0]).sign('unknown')}`],
    ['empty', 'sid='],
    ['doubled', `${cookie}; ${cookie}`],
    ['doubled with another one', `${other.cookie}; ${cookie}`],
    ['doubled with spaces', `${cookie};  sid =x`],
  ]
  for (const [name, value] of cases) t.equal(await statusOf(test, value), 401, name)
  t.equal(await statusOf(test, `a=b; ${cookie}; sidx=1`), 200, 'beside other cookies it counts')
})

t.test('every configured secret verifies a cookie, any other does not', async (t) => {
  const [now, before] = ['n'.repeat(32), 'b'.repeat(32)]
  const test = await build(t, { SESSION_SECRETS: `${now},${before}` })
  const { cookieId } = await signIn(test, await createUser(test.database))
  t.equal(await statusOf(test, `sid=${new Signer(before).sign(cookieId)}`), 200)
  t.equal(await statusOf(test, `sid=${new Signer(now).sign(cookieId)}`), 200)
  t.equal(await statusOf(test, `sid=${new Signer('o'.repeat(32)).sign(cookieId)}`), 401)
})

t.test('no response clears or replaces a cookie that came with the request', async (t) => {
  const [now, before] = ['n'.repeat(32), 'b'.repeat(32)]
  const test = await build(t, { SESSION_SECRETS: `${now},${before}` })
  const { admin } = test.database
  const user = await createUser(test.database)
  const { cookie, cookieId } = await signIn(test, user)
  const ended = await signIn(test, user)
  await admin.query('DELETE FROM sessions WHERE id_hash = sha256(sha256($1))', [
    Buffer.from(ended.cookieId),
  ])
  const cookies: Record<string, string> = {
    'signed with the first secret': cookie,
    'signed with the previous secret': `sid=${new Signer(before).sign(cookieId)}`,
    'signed with a secret that another process has already': `sid=${new Signer('o'.repeat(32)).sign(cookieId)}`,
    'of a session that has ended, or changed its id': ended.cookie,
    'encoded in another way': cookie.replace('.', '%2E'),
    unsigned: `sid=${cookieId}`,
    'with a broken signature': `${cookie}x`,
    'of another kind': 'sid=x',
    doubled: `${cookie}; ${cookie}`,
    'beside an older one': `${ended.cookie}; ${cookie}`,
  }
  for (const [name, value] of Object.entries(cookies)) {
    for (const url of ['/', '/me', '/orders/x', '/app/orders/1', '/auth/signed-out']) {
      const answer = await test.app.inject({ url, headers: { cookie: value } })
      t.equal(answer.headers['set-cookie'], undefined, `${name}: ${url} ${answer.statusCode}`)
    }
    const posted = await test.app.inject({
      method: 'POST',
      url: '/orders',
      headers: { cookie: value, 'sec-fetch-site': 'same-origin' },
      payload: {},
    })
    t.equal(posted.headers['set-cookie'], undefined, `${name}: POST ${posted.statusCode}`)
  }
  t.equal(await statusOf(test, cookie), 200)
})

t.test('a response to an older id does not touch the newer cookie', async (t) => {
  const user = await createUser(test.database)
  const { cookie } = await signIn(test, user)
  const { tenantId } = await createUser(test.database)
  await test.database.admin.query(
    'INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, $3)',
    [tenantId, user.userId, 'viewer'],
  )
  const switchTenant = () =>
    test.app.inject({
      method: 'POST',
      url: '/session/tenant',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      payload: { tenantId },
    })
  const first = await switchTenant()
  t.equal(first.cookies.length, 1, `${first.statusCode}: ${first.body}`)
  const second = await switchTenant()
  t.equal(second.statusCode, 401)
  t.equal(second.headers['set-cookie'], undefined, 'the second click of a double click')
})

t.test('a revoked session is refused by every process from the next request on', async (t) => {
  const { admin } = test.database
  const second = await buildApp(testConfig(test.database), createLogger('silent'))
  t.teardown(() => second.close())
  const user = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, user)
  const me = async () => (await second.inject({ url: '/me', headers: { cookie } })).json()
  t.match(await me(), { role: 'admin' })

  await admin.query(`UPDATE memberships SET role = 'viewer', department = 'sales'`)
  t.match(await me(), { role: 'viewer', department: 'sales', permissions: ['post:read'] })

  await admin.query('DELETE FROM memberships')
  t.match(await me(), { status: 401 }, 'whoever is removed loses the sessions in the tenant')
})

t.test('an anonymous session does not authenticate', async (t) => {
  await test.database.admin.query(
    `INSERT INTO sessions (id_hash, expires_at)
     VALUES (sha256(sha256('anonymous')), now() + interval '1 h')`,
  )
  const cookie = `sid=${new Signer([...test.config.session.secrets]).sign('anonymous')}`
  t.equal(await statusOf(test, cookie), 401)
})

t.test('the database is asked only for a session that somebody has signed in to', async (t) => {
  const test = await build(t)
  const { cookie, cookieId } = await signIn(test, await createUser(test.database))
  const anonymous = `sid=${new Signer([...test.config.session.secrets]).sign(newAnonymousId())}`
  let reads = 0
  const { read } = test.app.db
  test.app.db.read = (entry, work) => {
    reads++
    return read(entry, work)
  }
  const ask = (url: string, sent: { cookie?: string }) =>
    test.app.inject({ url, headers: { accept: 'text/html', ...sent } })
  const doubled = { cookie: `${cookie}; ${cookie}` }
  for (const sent of [{}, { cookie: `sid=${cookieId}` }, doubled]) {
    for (const url of ['/', '/me', '/no/such/page']) await ask(url, sent)
  }
  t.equal(reads, 0, 'without a valid cookie')
  await ask('/no/such/page', { cookie: anonymous })
  t.equal(reads, 0, 'an error page for an anonymous session')
  await ask('/no/such/page', { cookie })
  t.equal(reads, 1)
})

async function statusOf({ app }: TestApp, cookie: string): Promise<number> {
  return (await app.inject({ url: '/me', headers: { cookie } })).statusCode
}
