import t from 'tap'
import { corruptSignature, makeKey, rotatedKey } from '#test/support/provider/hostile-tokens.ts'
import {
  isSignedIn,
  type LogoutFaults,
  logoutClock,
  logoutEvent,
  logoutSeconds,
  postLogout,
  signedInFrom,
  signLogoutToken,
} from '#test/support/provider/logout-request.ts'
import { accounts, auditTrail, buildWithProvider } from '#test/support/provider/sign-in-journey.ts'

const ecKey = await makeKey('ES256', 'ec-1')
const stranger = await makeKey('RS256', 'rsa-1')

t.beforeEach(() => {
  logoutClock.seconds = logoutSeconds
})

const accepted: [string, LogoutFaults][] = [
  ['typ JWT', { header: { typ: 'JWT' } }],
  ['typ logout+jwt', { header: { typ: 'logout+jwt' } }],
  ['a list of our client id alone', { claims: { aud: ['gatehouse-test'] } }],
  ['an event with members', { claims: { events: { [logoutEvent]: { a: 1 }, other: 1 } } }],
  ['iat 600 s ago', { claims: { iat: logoutSeconds - 600 } }],
  ['iat 600 s in the future', { claims: { iat: logoutSeconds + 600, exp: logoutSeconds + 700 } }],
  ['exp 29 s ago', { claims: { exp: logoutSeconds - 29 } }],
  ['a lifetime of a day', { claims: { exp: logoutSeconds + 86_400 } }],
  ['no kid, one key', { header: { kid: undefined } }],
]

t.test('optional parts of the standard are accepted', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  for (const [name, faults] of accepted) {
    const token = await signLogoutToken(journey, logoutClock, faults)
    t.equal((await postLogout(journey, token)).statusCode, 200, name)
  }
})

const event = (events: unknown): LogoutFaults => ({ claims: { events } })

const invalid: [string, LogoutFaults, string][] = [
  ['L2 alg none', { header: { alg: 'none' } }, 'algorithm'],
  ['alg None', { header: { alg: 'None' } }, 'algorithm'],
  ['HS256 with our own secret', { header: { alg: 'HS256' } }, 'algorithm'],
  ['alg missing', { header: { alg: undefined } }, 'algorithm'],
  ['L5 published key, alg not configured', { key: ecKey }, 'algorithm'],
  ['crit', { header: { crit: ['b64'], b64: true } }, 'malformed'],
  ['typ at+jwt', { header: { typ: 'at+jwt' } }, 'type'],
  ['typ text/logout+jwt', { header: { typ: 'text/logout+jwt' } }, 'type'],
  ['L3 no event', event(undefined), 'event'],
  ['L7 another event', event({ [`${logoutEvent}s`]: {} }), 'event'],
  ['event is a list', event([logoutEvent]), 'event'],
  ['event member is text', event({ [logoutEvent]: 'x' }), 'event'],
  ['event member is null', event({ [logoutEvent]: null }), 'event'],
  ['event member is a list', event({ [logoutEvent]: [] }), 'event'],
  ['events is null', event(null), 'event'],
  ['L4 with nonce', { claims: { nonce: 'x' } }, 'nonce'],
  ['nonce null', { claims: { nonce: null } }, 'nonce'],
  ['L6 wrong aud', { claims: { aud: 'gatehouse-testINVALID' } }, 'audience'],
  ['no aud', { claims: { aud: undefined } }, 'audience'],
  ['aud with another client', { claims: { aud: ['gatehouse-test', 'x'] } }, 'audience'],
  ['L8 wrong iss', { claims: { iss: 'http://127.0.0.1/INVALID' } }, 'issuer'],
  ['no iss', { claims: { iss: undefined } }, 'issuer'],
  ['neither sub nor sid', { claims: { sub: undefined, sid: undefined } }, 'subject'],
  ['sub is a number', { claims: { sub: 1 } }, 'subject'],
  ['sub is empty', { claims: { sub: '', sid: undefined } }, 'subject'],
  ['sub and sid are empty', { claims: { sub: '', sid: '' } }, 'subject'],
  ['sid with a NUL', { claims: { sid: 'a\u0000' } }, 'subject'],
  ['sid is a list', { claims: { sid: ['provider-session-1'] } }, 'subject'],
  ['no jti', { claims: { jti: undefined } }, 'jti'],
  ['jti empty', { claims: { jti: '' } }, 'jti'],
  ['jti a number', { claims: { jti: 1 } }, 'jti'],
  ['no iat', { claims: { iat: undefined } }, 'issued-at'],
  ['iat 601 s ago', { claims: { iat: logoutSeconds - 601 } }, 'issued-at'],
  [
    'iat 601 s in the future',
    { claims: { iat: logoutSeconds + 601, exp: logoutSeconds + 700 } },
    'issued-at',
  ],
  ['no exp', { claims: { exp: undefined } }, 'expired'],
  ['exp 30 s ago', { claims: { exp: logoutSeconds - 30 } }, 'expired'],
  ['exp 31 s ago', { claims: { exp: logoutSeconds - 31 } }, 'expired'],
  ['a lifetime of a day and 1 s', { claims: { exp: logoutSeconds + 86_401 } }, 'lifetime'],
]

t.test('an invalid token is 400 without a reason, ends no session, fetches nothing', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  journey.op.keys.push(ecKey)
  const browser = await signedInFrom(journey, 'provider-session-1')
  const calls = { ...journey.op.calls }
  const before = await accounts(journey)
  for (const [name, faults, reason] of invalid) {
    const trail = (await auditTrail(journey)).length
    const token = await signLogoutToken(journey, logoutClock, faults)
    const response = await postLogout(journey, token)
    t.equal(response.statusCode, 400, name)
    t.equal(response.headers['cache-control'], 'no-store', name)
    t.match(response.json(), { type: '/docs/errors/logout-refused' }, name)
    t.notMatch(response.body, 'logout-token', `${name}: the response has no reason`)
    const entry = `sign-out refused logout-token-${reason}`
    t.strictSame((await auditTrail(journey)).slice(trail), [entry], name)
    t.notMatch(journey.log.join(''), token, `${name}: not logged`)
  }
  t.strictSame(await accounts(journey), before)
  t.strictSame(journey.op.calls, calls, 'no call to the provider')
  t.equal(await isSignedIn(journey, browser), true)
  const { rows } = await journey.database.admin.query('SELECT FROM logout_tokens')
  t.equal(rows.length, 0)
})

t.test('an invalid signature is 400', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const browser = await signedInFrom(journey, 'provider-session-1')
  const own = { jwk: stranger.jwk, jku: `${journey.op.issuer}/stolen` }
  const honest = await signLogoutToken(journey, logoutClock)
  const rows: [string, string, string][] = [
    ['broken', corruptSignature(honest), 'signature'],
    ['cut off', honest.replace(/[^.]*$/, ''), 'signature'],
    [
      'unpublished key',
      await signLogoutToken(journey, logoutClock, { key: stranger }),
      'signature',
    ],
    [
      'key in the header',
      await signLogoutToken(journey, logoutClock, { key: stranger, header: own }),
      'signature',
    ],
    ['unknown kid', await signLogoutToken(journey, logoutClock, { header: { kid: 'x' } }), 'key'],
    ['two parts', honest.split('.', 2).join('.'), 'malformed'],
    ['five parts', `${honest}.x.y`, 'malformed'],
    ['not a JWT', 'x', 'malformed'],
  ]
  for (const [name, token, reason] of rows) {
    const trail = (await auditTrail(journey)).length
    t.equal((await postLogout(journey, token)).statusCode, 400, name)
    const entry = `sign-out refused logout-token-${reason}`
    t.strictSame((await auditTrail(journey)).slice(trail), [entry], name)
  }
  t.equal(await isSignedIn(journey, browser), true)
  t.notOk(journey.op.requests.some(({ url }) => url === '/stolen'))
})

t.test('without kid and with several matching keys the token is refused', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  journey.op.keys.push(await rotatedKey('RS256'))
  const token = await signLogoutToken(journey, logoutClock, { header: { kid: undefined } })
  t.equal((await postLogout(journey, token)).statusCode, 400)
  t.strictSame(await auditTrail(journey), ['sign-out refused logout-token-key'])
})

t.test('a flood of forged logout tokens costs a few rows of the audit log', async (t) => {
  const journey = await buildWithProvider(t, {}, logoutClock)
  const token = corruptSignature(await signLogoutToken(journey, logoutClock))
  const flood = 150
  for (let index = 0; index < flood; index += 1) {
    t.equal((await postLogout(journey, token)).statusCode, 400)
  }
  await journey.app.refusals.close()
  const { rows } = await journey.database.admin.query<{ occurrences: number }>(
    `SELECT occurrences FROM audit_log WHERE reason = 'logout-token-signature'`,
  )
  // One at once and one for the rest; another for each minute that this took.
  t.ok(rows.length < 10, `${rows.length} rows`)
  t.equal(
    rows.map(({ occurrences }) => occurrences).reduce((sum, one) => sum + one),
    flood,
  )
  const metrics = await journey.app.metrics.registry.metrics()
  t.match(
    metrics,
    `gatehouse_provider_logouts_refused_total{provider="demo",reason="logout-token-signature"} ${flood}`,
  )
})

t.test('the logout route has a limit of its own', async (t) => {
  const journey = await buildWithProvider(
    t,
    { RATE_LIMIT_LOGOUT: '2/60', RATE_LIMIT_WEBHOOKS: '10000/60' },
    logoutClock,
  )
  const token = await signLogoutToken(journey, logoutClock)
  const statuses: number[] = []
  for (let index = 0; index < 3; index += 1) {
    statuses.push((await postLogout(journey, token)).statusCode)
  }
  t.strictSame(statuses, [200, 400, 429])
  const refused = await postLogout(journey, token)
  t.ok(Number(refused.headers['retry-after']) > 0)
  const elsewhere = await postLogout(journey, token, { remoteAddress: '192.0.2.7' })
  t.equal(elsewhere.statusCode, 400, 'another address is not limited')
})
