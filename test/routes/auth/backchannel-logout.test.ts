import t from 'tap'
import { as } from '#dev/testing/people.ts'
import {
  isSignedIn,
  type LogoutFaults,
  logoutClock,
  logoutSeconds,
  postLogout,
  signedInFrom,
  signLogoutToken,
} from '#test/support/provider/logout-request.ts'
import {
  accounts,
  auditTrail,
  buildWithProvider,
  rsaKey,
} from '#test/support/provider/sign-in-journey.ts'

t.beforeEach(() => {
  logoutClock.seconds = logoutSeconds
})

t.test('L1 with sid exactly the sessions of that provider session end immediately', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const [here, there] = [
    await signedInFrom(journey, 'session-1'),
    await signedInFrom(journey, 'session-2'),
  ]
  const trail = (await auditTrail(journey)).length
  const token = await signLogoutToken(journey, logoutClock, { claims: { sid: 'session-1' } })
  const response = await postLogout(journey, token)
  t.equal(response.statusCode, 200)
  t.equal(response.body, '')
  t.equal(response.headers['cache-control'], 'no-store')
  t.equal(response.headers['set-cookie'], undefined)
  t.equal(await isSignedIn(journey, here), false)
  t.equal(await isSignedIn(journey, there), true)
  t.strictSame((await auditTrail(journey)).slice(trail), ['sign-out done provider-request'])
  t.notMatch(journey.log.join(''), token, 'the token is in no log')
})

t.test('without sid all sessions of the subject end and no others', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const browsers = [
    await signedInFrom(journey, 'session-1'),
    await signedInFrom(journey, undefined),
    await signedInFrom(journey, 'session-3', 'subject-2'),
  ]
  await journey.database.admin.query(
    `INSERT INTO sessions (id_hash, user_id, provider, expires_at)
     SELECT sha256('elsewhere'), user_id, 'other', now() + interval '1 day'
     FROM oauth_identities WHERE provider_user_id = 'subject-1'`,
  )
  const trail = (await auditTrail(journey)).length
  const token = await signLogoutToken(journey, logoutClock, { claims: { sid: undefined } })
  t.equal((await postLogout(journey, token)).statusCode, 200)
  const still = await Promise.all(browsers.map((browser) => isSignedIn(journey, browser)))
  t.strictSame(still, [false, false, true])
  t.match(await accounts(journey), { signed_in: 2 }, 'the session through another provider remains')
  const { rows } = await journey.database.admin.query(
    `SELECT action, outcome, provider, user_id IS NOT NULL AS named FROM audit_log
     ORDER BY id OFFSET $1`,
    [trail],
  )
  const ended = { action: 'sign-out', outcome: 'done', provider: 'demo', named: true }
  t.strictSame(rows, [ended, ended], 'one entry per session')
})

t.test('what a provider writes in another form is the same logout', async (t) => {
  const forms: LogoutFaults[] = [
    { header: { typ: 'jwt' } },
    { header: { typ: 'logout+jwt' } },
    { header: { typ: 'Logout+JWT' } },
    { header: { typ: 'application/logout+jwt' } },
    { header: { typ: '' } },
    { claims: { iat: logoutSeconds - 0.5, exp: logoutSeconds + 120.5 } },
    { claims: { sid: null } },
    { claims: { sid: '' } },
    { claims: { sub: null } },
    { claims: { sub: '' } },
  ]
  for (const form of forms) {
    const journey = await buildWithProvider(t, {}, logoutClock)
    const browser = await signedInFrom(journey, 'provider-session-1')
    const { jwk } = rsaKey
    journey.op.fault = { jwks: { keys: [jwk, { ...jwk, use: null }] } }
    const token = await signLogoutToken(journey, logoutClock, form)
    t.equal((await postLogout(journey, token)).statusCode, 200, JSON.stringify(form))
    t.equal(await isSignedIn(journey, browser), false)
  }
})

t.test('a configured audience beside this client is none too many, if azp names it', async (t) => {
  const settings = { OIDC_DEMO_AUDIENCES: 'api' }
  const journey = await buildWithProvider(t, settings, logoutClock)
  const browser = await signedInFrom(journey, 'provider-session-1')
  const both = ['gatehouse-test', 'api']
  const statusOf = async (claims: NonNullable<LogoutFaults['claims']>) =>
    (await postLogout(journey, await signLogoutToken(journey, logoutClock, { claims }))).statusCode
  t.equal(await statusOf({ aud: both }), 400)
  t.equal(await statusOf({ aud: [...both, 'other'], azp: 'gatehouse-test' }), 400)
  t.equal(await isSignedIn(journey, browser), true)
  t.equal(await statusOf({ aud: both, azp: 'gatehouse-test' }), 200)
  t.equal(await isSignedIn(journey, browser), false)
})

t.test('sid without sub is enough; a session through another provider remains', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const browser = await signedInFrom(journey, 'session-1')
  await journey.database.admin.query(
    `INSERT INTO sessions (id_hash, user_id, provider, provider_session, expires_at)
     SELECT sha256('elsewhere'), id, 'other', 'session-1', now() + interval '1 day' FROM users`,
  )
  const claims = { sub: undefined, sid: 'session-1' }
  const token = await signLogoutToken(journey, logoutClock, { claims })
  t.equal((await postLogout(journey, token)).statusCode, 200)
  t.equal(await isSignedIn(journey, browser), false)
  t.match(
    await accounts(journey),
    { signed_in: 1 },
    'the session through the other provider remains',
  )
})

t.test('an unknown session without sub or an unknown subject is 200 as well', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const browser = await signedInFrom(journey, 'session-1')
  const trail = (await auditTrail(journey)).length
  const unknown = [{ sub: undefined, sid: 'unknown' }, { sub: 'unknown' }]
  for (const claims of unknown) {
    const token = await signLogoutToken(journey, logoutClock, { claims })
    const response = await postLogout(journey, token)
    t.equal(response.statusCode, 200)
    t.equal(response.headers['cache-control'], 'no-store')
  }
  const none = 'sign-out done provider-request-no-session'
  t.strictSame((await auditTrail(journey)).slice(trail), [none, none])
  t.equal(await isSignedIn(journey, browser), true)
})

t.test('with sub and an unknown sid those of its sessions end whose sid is unknown', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const browsers = [
    await signedInFrom(journey, 'session-1'),
    await signedInFrom(journey, undefined),
    await signedInFrom(journey, undefined, 'subject-2'),
  ]
  const token = await signLogoutToken(journey, logoutClock, { claims: { sid: 'unknown' } })
  t.equal((await postLogout(journey, token)).statusCode, 200)
  const still = await Promise.all(browsers.map((browser) => isSignedIn(journey, browser)))
  t.strictSame(still, [true, false, true])
})

t.test('who signs out here and then at the provider stays signed in elsewhere', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const [here, elsewhere] = [
    await signedInFrom(journey, 'session-1'),
    await signedInFrom(journey, 'session-2'),
  ]
  const { cookie } = here
  const signedOut = await as(journey, { cookie })('POST', '/auth/logout')
  t.equal(signedOut.statusCode, 204)
  const token = await signLogoutToken(journey, logoutClock, { claims: { sid: 'session-1' } })
  t.equal((await postLogout(journey, token)).statusCode, 200)
  t.equal(await isSignedIn(journey, elsewhere), true)
})

t.test('a repeated jti is 400 and changes nothing, also for concurrent requests', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  await signedInFrom(journey, 'provider-session-1')
  const token = await signLogoutToken(journey, logoutClock)
  const answers = await Promise.all([1, 2, 3].map(() => postLogout(journey, token)))
  t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [200, 400, 400])
  const browser = await signedInFrom(journey, 'provider-session-1')
  t.equal((await postLogout(journey, token)).statusCode, 400)
  t.equal(await isSignedIn(journey, browser), true, 'a new session with the same sid remains')
  t.match(await auditTrail(journey), ['sign-in done create'])
  t.equal((await auditTrail(journey)).at(-1), 'sign-out refused logout-token-replayed')
  const { rows } = await journey.database.admin.query(
    "SELECT provider, expires_at - now() > interval '20 minutes' AS outlives FROM logout_tokens",
  )
  t.strictSame(
    rows,
    [{ provider: 'demo', outlives: true }],
    'stored longer than the token is valid',
  )
})

t.test('a logout deletes no used tokens, and an expired one counts as unused', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const token = await signLogoutToken(journey, logoutClock)
  await postLogout(journey, token)
  const { admin } = journey.database
  await admin.query(`
    INSERT INTO logout_tokens (provider, jti_hash, expires_at)
    SELECT 'demo', sha256(n::text::bytea), now() - interval '1 day' FROM generate_series(1, 100) n`)
  t.equal((await postLogout(journey, token)).statusCode, 400)
  await admin.query(`UPDATE logout_tokens SET expires_at = now() - interval '1 second'`)
  t.equal((await postLogout(journey, token)).statusCode, 200, 'its time is over')
  t.equal((await postLogout(journey, token)).statusCode, 400)
  t.equal((await admin.query('SELECT FROM logout_tokens')).rows.length, 101)
})

t.test('single use, sessions and audit entry are one transaction', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const browser = await signedInFrom(journey, 'provider-session-1')
  const token = await signLogoutToken(journey, logoutClock)
  const { admin } = journey.database
  await admin.query('REVOKE INSERT ON audit_log FROM test_app')
  const failed = await postLogout(journey, token)
  t.equal(failed.statusCode, 500)
  t.equal(failed.headers['cache-control'], 'no-store')
  t.equal(await isSignedIn(journey, browser), true)
  await admin.query('GRANT INSERT ON audit_log TO test_app')
  t.equal((await postLogout(journey, token)).statusCode, 200, 'the same token can be sent again')
  t.equal(await isSignedIn(journey, browser), false)
})
