import { Signer } from '@fastify/cookie'
import t from 'tap'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { build, createUser, signIn, type TestApp, testConfig } from '#test/support/helper.ts'

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
  const test = await build(t)
  const { cookie } = await signIn(test, await createUser(test.database))
  const { admin } = test.database
  const expiry = async () => (await admin.query('SELECT expires_at FROM sessions')).rows[0]
  const before = await expiry()
  await admin.query("UPDATE sessions SET last_seen_at = now() - interval '2 min'")
  t.equal(await statusOf(test, cookie), 200)
  const { rows } = await admin.query(
    "SELECT last_seen_at > now() - interval '1 min' AS moved FROM sessions",
  )
  t.strictSame(rows, [{ moved: true }])
  t.strictSame(await expiry(), before)
})

t.test('a forged, foreign, duplicate or empty cookie does not authenticate', async (t) => {
  const test = await build(t)
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

t.test('a revoked session is refused by every process from the next request on', async (t) => {
  const test = await build(t)
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
  const test = await build(t)
  await test.database.admin.query(
    `INSERT INTO sessions (id_hash, expires_at)
     VALUES (sha256('anonymous'), now() + interval '1 h')`,
  )
  const cookie = `sid=${new Signer([...test.config.session.secrets]).sign('anonymous')}`
  t.equal(await statusOf(test, cookie), 401)
})

async function statusOf({ app }: TestApp, cookie: string): Promise<number> {
  return (await app.inject({ url: '/me', headers: { cookie } })).statusCode
}
