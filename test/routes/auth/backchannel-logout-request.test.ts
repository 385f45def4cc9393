import t from 'tap'
import { rotatedKey } from '#test/support/provider/hostile-tokens.ts'
import {
  isSignedIn,
  logoutClock,
  logoutPath,
  logoutSeconds,
  postLogout,
  signedInFrom,
  signLogoutToken,
} from '#test/support/provider/logout-request.ts'
import { auditTrail, buildWithProvider } from '#test/support/provider/sign-in-journey.ts'

t.beforeEach(() => {
  logoutClock.seconds = logoutSeconds
})

t.test('the cached keys of sign-in are used and renewed at most once per minute', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const { op } = journey
  await signedInFrom(journey, 'provider-session-1')
  t.equal(op.calls.jwks, 1)
  await postLogout(journey, await signLogoutToken(journey, logoutClock))
  t.equal(op.calls.jwks, 1, 'no second fetch')
  const key = await rotatedKey('RS256')
  op.keys.splice(0, 1, key)
  const rotated = await signLogoutToken(journey, logoutClock, { key })
  t.equal((await postLogout(journey, rotated)).statusCode, 200)
  t.equal(op.calls.jwks, 2)
  const rows: [number, number][] = [
    [0, 2],
    [59, 2],
    [60, 3],
    [61, 3],
  ]
  for (const [after, fetches] of rows) {
    logoutClock.seconds = logoutSeconds + after
    const unknown = await signLogoutToken(journey, logoutClock, { header: { kid: 'unknown' } })
    t.equal((await postLogout(journey, unknown)).statusCode, 400)
    t.equal(op.calls.jwks, fetches, `after ${after} s`)
  }
})

t.test(
  'a forged token with an unknown key costs nobody the known keys or their renewal',
  async (t) => {
    const journey = await buildWithProvider(t, {}, logoutClock)
    const { op } = journey
    const honest = await signLogoutToken(journey, logoutClock)
    t.equal((await postLogout(journey, honest)).statusCode, 200)
    op.fault = { jwksAnswer: { status: 500 } }
    const forged = await signLogoutToken(journey, logoutClock, { header: { kid: 'unknown' } })
    t.equal((await postLogout(journey, forged)).statusCode, 400)
    const next = await signLogoutToken(journey, logoutClock)
    t.equal((await postLogout(journey, next)).statusCode, 200, 'the known keys are still there')
    op.fault = {}
    op.keys.splice(0, 1, await rotatedKey('RS256'))
    const browser = await signedInFrom(journey, 'provider-session-1')
    t.ok(await isSignedIn(journey, browser), 'a sign-in fetches rotated keys')
  },
)

t.test('concurrent tokens share the first key fetch', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const tokens = await Promise.all([1, 2, 3, 4].map(() => signLogoutToken(journey, logoutClock)))
  const answers = await Promise.all(tokens.map((token) => postLogout(journey, token)))
  t.ok(answers.every(({ statusCode }) => statusCode === 200))
  t.match(journey.op.calls, { metadata: 1, jwks: 1 })
})

t.test('without the provider’s keys a token is 400; later it is accepted', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const token = await signLogoutToken(journey, logoutClock)
  const faults = [
    { metadataAnswer: { status: 500 } },
    { jwksAnswer: { status: 500 } },
    { jwksAnswer: { status: 404 } },
    { jwksAnswer: { body: '{"keys":{}}' } },
    { jwksAnswer: { body: '{"keys":["x"]}' } },
  ]
  for (const fault of faults) {
    journey.op.fault = fault
    t.equal((await postLogout(journey, token)).statusCode, 400)
    const last = (await auditTrail(journey)).at(-1)
    t.equal(last, 'sign-out unavailable logout-provider-unavailable')
  }
  journey.op.fault = {}
  t.equal((await postLogout(journey, token)).statusCode, 200)
})

t.test('only a small form with one token for a configured provider is accepted', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const json = { 'content-type': 'application/json' }
  const token = await signLogoutToken(journey, logoutClock)
  const rows: [string, Record<string, string>, string | undefined][] = [
    ['no body', {}, undefined],
    ['no token', form, 'unknown=1'],
    ['an empty token', form, 'logout_token='],
    ['two tokens', form, `logout_token=${token}&logout_token=${token}`],
    ['JSON', json, JSON.stringify({ logout_token: token })],
    ['too large', form, `logout_token=${token}&unknown=${'a'.repeat(16_384)}`],
  ]
  for (const [name, headers, payload] of rows) {
    const response = await journey.app.inject({
      method: 'POST',
      url: logoutPath,
      headers,
      ...(payload === undefined ? {} : { payload }),
    })
    t.equal(response.statusCode, 400, name)
    t.equal(response.headers['cache-control'], 'no-store', name)
    const last = (await auditTrail(journey)).at(-1)
    t.equal(last, 'sign-out refused logout-request-malformed', name)
  }
  t.equal((await postLogout(journey, token, { url: `${logoutPath}s` })).statusCode, 404)
  t.equal((await journey.app.inject({ url: logoutPath })).statusCode, 405, 'there is no GET')
  const typed = await journey.app.inject({
    method: 'POST',
    url: logoutPath,
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    payload: `logout_token=${token}`,
  })
  t.equal(typed.statusCode, 200)
})

t.test('cookie and origin are ignored: the signature authenticates the request', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const browser = await signedInFrom(journey, 'session-1')
  const token = await signLogoutToken(journey, logoutClock, { claims: { sub: 'subject-2' } })
  const headers = {
    cookie: browser.cookie,
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'cross-site',
    origin: 'https://elsewhere.example',
  }
  const payload = `logout_token=${token}`
  const { app } = journey
  const response = await app.inject({ method: 'POST', url: logoutPath, headers, payload })
  t.equal(response.statusCode, 200)
  t.equal(response.headers['set-cookie'], undefined)
  t.equal(
    await isSignedIn(journey, browser),
    true,
    'the session of the cookie is not the one of the token',
  )
})

t.test('requests are limited per address', async (t) => {
  const journey = await buildWithProvider(t, { RATE_LIMIT_LOGOUT: '2/60' }, logoutClock)
  const answers: number[] = []
  for (const remoteAddress of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
    const token = await signLogoutToken(journey, logoutClock)
    answers.push((await postLogout(journey, token, { remoteAddress })).statusCode)
  }
  t.strictSame(answers, [200, 200, 429, 200])
})
