import t from 'tap'
import { rotatedKey } from '#test/support/provider/hostile-tokens.ts'
import {
  auditTrail,
  buildWithProvider,
  comeBack,
  openTab,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const clock = { seconds: Date.UTC(2031, 4, 6) / 1000, now: () => new Date(clock.seconds * 1000) }

t.test('the server starts without its provider; sessions work while it is down', async (t) => {
  const journey = await buildWithProvider(t, {}, clock)
  const { app, op } = journey
  op.fault = { metadataAnswer: 'reset', jwksAnswer: 'reset', token: 'reset' }
  const down = await visit(app, { cookie: '' }, '/auth/login?provider=demo')
  t.equal(down.statusCode, 503)
  t.match(down.headers['retry-after'], /^\d+$/)
  t.equal((await visit(app, { cookie: '' }, '/')).statusCode, 200, 'only sign-in is affected')

  op.fault = {}
  const browser = { cookie: '' }
  t.equal((await signInThrough(journey, browser)).statusCode, 302, 'sign-in works after recovery')

  op.fault = { metadataAnswer: 'reset', jwksAnswer: 'reset', token: 'reset' }
  clock.seconds += 3_601
  const calls = { ...op.calls }
  t.equal(
    (await visit(app, browser, '/me')).statusCode,
    200,
    'a session works without the provider',
  )
  t.equal((await visit(app, browser, '/')).statusCode, 200)
  t.strictSame(op.calls, calls, 'and causes no call to it')
  t.equal((await visit(app, { cookie: '' }, '/auth/login?provider=demo')).statusCode, 503)
  t.equal((await visit(app, browser, '/auth/logout', { method: 'POST' })).statusCode, 204)
  t.equal((await visit(app, browser, '/me')).statusCode, 401)
})

t.test('two tabs, the key fetch fails in between: 503, then a new start works', async (t) => {
  const journey = await buildWithProvider(t, {}, clock)
  const { app, op } = journey
  const browser = { cookie: '' }
  const [first, second] = [await openTab(app, browser), await openTab(app, browser)]
  op.fault = { jwksAnswer: { status: 503, headers: { 'retry-after': '7' } } }
  const refused = await comeBack(app, browser, op.approve(first))
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['retry-after'], '7', 'the provider’s Retry-After')
  t.equal((await auditTrail(journey)).at(-1), 'sign-in unavailable server-error')
  op.fault = {}
  t.equal(
    (await comeBack(app, browser, op.approve(second))).statusCode,
    302,
    'the other tab succeeds',
  )
})

t.test('two tabs during a key rotation: C5 in one, C6 in the other', async (t) => {
  const journey = await buildWithProvider(t, {}, clock)
  const { app, op } = journey
  await signInThrough(journey, { cookie: '' })
  t.equal(op.calls.jwks, 1)
  const browser = { cookie: '' }
  const [first, second] = [await openTab(app, browser), await openTab(app, browser)]
  op.fault = {
    beforeSigning: async () => void op.keys.splice(0, op.keys.length, await rotatedKey('RS256')),
  }
  t.equal((await comeBack(app, browser, op.approve(second))).statusCode, 302)
  t.equal(op.calls.jwks, 2)
  clock.seconds += 60
  t.equal((await comeBack(app, browser, op.approve(first))).statusCode, 302)
  t.equal(op.calls.jwks, 3)
  t.equal((await visit(app, browser, '/me')).statusCode, 200)
})
