import t, { type Test } from 'tap'
import { systemClock } from '#src/runtime/clock.ts'
import {
  type HostileProvider,
  startHostileProvider,
} from '#test/support/provider/hostile-provider.ts'
import { makeKey } from '#test/support/provider/hostile-tokens.ts'
import {
  accounts,
  auditTrail,
  type Browser,
  buildWithProvider,
  comeBack,
  type Journey,
  openTab,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const promised = { authorization_response_iss_parameter_supported: true }

/** The server with two providers: `demo`, the honest one, and `other`. */
async function buildWithTwo(t: Test): Promise<Journey & { other: HostileProvider }> {
  const keys = [await makeKey('RS256', 'other-1')] as const
  const other = await startHostileProvider({ clock: systemClock, keys, secret: 'other secret' })
  t.teardown(() => other.close())
  const journey = await buildWithProvider(t, {
    OIDC_PROVIDERS: 'demo,other',
    OIDC_OTHER_ISSUER: other.issuer,
    OIDC_OTHER_CLIENT_ID: 'gatehouse-other',
    OIDC_OTHER_CLIENT_SECRET: 'other secret',
  })
  return { ...journey, other }
}

async function startAtOther({ app }: Journey, browser: Browser): Promise<URL> {
  const response = await visit(app, browser, '/auth/login?provider=other')
  return new URL(String(response.headers.location))
}

/** All request bodies that a provider received. */
function received({ requests }: HostileProvider): string {
  return requests.map(({ url, body }) => `${url} ${body}`).join('\n')
}

t.test('each pending sign-in uses its own provider, in two tabs of one browser', async (t) => {
  const journey = await buildWithTwo(t)
  const { app, op, other } = journey
  const browser = { cookie: '' }
  other.fault = { claims: { email: 'grace@example.com' } }
  const atOther = other.approve(await startAtOther(journey, browser))
  const atDemo = op.approve(await openTab(app, browser))
  t.equal((await comeBack(app, browser, atOther)).statusCode, 302)
  t.equal((await comeBack(app, browser, atDemo)).statusCode, 302)
  t.match(
    await accounts(journey),
    { users: 2, identities: 2 },
    'the same subject at two providers is two users',
  )
  t.notMatch(received(other), atDemo.get('code') ?? 'none')
  t.notMatch(received(op), atOther.get('code') ?? 'none')
})

const mixUps = [
  ['the honest one names itself', {}, 'iss-mismatch'],
  ['the other has promised to name itself', { metadata: promised }, 'iss-missing'],
] as const

for (const [name, fault, reason] of mixUps) {
  t.test(`mix-up, ${name}: the code of one is never sent to the other`, async (t) => {
    const journey = await buildWithTwo(t)
    const { app, op, other } = journey
    other.fault = { ...fault }
    op.fault = reason === 'iss-mismatch' ? { callback: { iss: op.issuer } } : {}
    const browser = { cookie: '' }
    // The hostile provider redirects the browser to the honest one, with our client id there.
    const asked = await startAtOther(journey, browser)
    asked.searchParams.set('client_id', 'gatehouse-test')
    const parameters = op.approve(asked)
    const before = await accounts(journey)
    t.equal((await comeBack(app, browser, parameters)).statusCode, 400)
    t.equal((await auditTrail(journey)).at(-1), `sign-in refused ${reason}`)
    t.notMatch(received(other), parameters.get('code') ?? 'none', 'the code was not sent')
    t.equal(other.calls.token, 0)
    t.strictSame(await accounts(journey), before)
  })
}

t.test('without `iss` in the response the issuer of the id_token is still checked', async (t) => {
  const journey = await buildWithTwo(t)
  const { app, op, other } = journey
  const browser = { cookie: '' }
  const asked = await startAtOther(journey, browser)
  // The hostile provider claims an identity of the honest one: its issuer and subject.
  other.fault = { claims: { iss: op.issuer } }
  const before = await accounts(journey)
  t.equal((await comeBack(app, browser, other.approve(asked))).statusCode, 400)
  t.equal((await auditTrail(journey)).at(-1), 'sign-in refused id-token-issuer')
  t.strictSame(await accounts(journey), before)
})

t.test('a response of the other provider uses up the state', async (t) => {
  const journey = await buildWithTwo(t)
  const { app, op, other } = journey
  const browser = { cookie: '' }
  const parameters = other.approve(await startAtOther(journey, browser))
  const crossed = new URLSearchParams(parameters)
  crossed.set('iss', op.issuer)
  t.equal((await comeBack(app, browser, crossed)).statusCode, 400)
  t.equal((await comeBack(app, browser, parameters)).body, 'bad state')
  t.equal(other.calls.token, 0)
})

t.test('metadata cannot direct a code or secret to another provider’s host', async (t) => {
  const journey = await buildWithTwo(t)
  const { app, op, other } = journey
  for (const endpoint of ['token_endpoint', 'jwks_uri', 'authorization_endpoint']) {
    other.fault = { metadata: { [endpoint]: `${op.issuer}/token` } }
    const response = await visit(app, { cookie: '' }, '/auth/login?provider=other')
    t.equal(response.statusCode, 503, endpoint)
    const last = (await auditTrail(journey)).at(-1)
    t.equal(last, 'sign-in unavailable metadata-endpoint-foreign', endpoint)
  }
})
