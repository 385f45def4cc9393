import t from 'tap'
import {
  accounts,
  auditTrail,
  type Browser,
  buildWithProvider,
  type Journey,
  openTab,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const formPost = { OIDC_DEMO_RESPONSE_MODE: 'form_post' }

/** Posts the form as a browser does from the provider's page: from another site, without cookies. */
function post({ app, op }: Pick<Journey, 'app' | 'op'>, payload: string, headers = {}) {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const crossSite = { 'sec-fetch-site': 'cross-site', origin: op.issuer }
  const all = { ...form, ...crossSite, ...headers }
  return app.inject({ method: 'POST', url: '/auth/callback', headers: all, payload })
}

async function openForm(journey: Journey, browser: Browser): Promise<URLSearchParams> {
  const request = await openTab(journey.app, browser)
  t.equal(request.searchParams.get('response_mode'), 'form_post')
  return journey.op.approve(request)
}

t.test('the form is passed on to the callback, where the cookie is, with 303', async (t) => {
  const journey = await buildWithProvider(t, formPost)
  const { app, op } = journey
  const browser = { cookie: '' }
  const parameters = await openForm(journey, browser)
  parameters.set('iss', op.issuer)
  const before = await accounts(journey)
  const posted = await post(journey, `${parameters}&id_token=eyJ.x.y&session_state=x&unknown=1`)
  t.equal(posted.statusCode, 303)
  t.equal(posted.headers['set-cookie'], undefined, 'no session is touched')
  t.equal(posted.headers['cache-control'], 'no-store')
  const location = new URL(String(posted.headers.location), 'http://localhost')
  t.equal(location.pathname, '/auth/callback')
  t.strictSame([...location.searchParams.keys()].sort(), ['code', 'iss', 'state'])
  t.strictSame(await accounts(journey), before)
  t.equal(op.calls.token, 0, 'nothing has been redeemed')
  const stranger = await visit(app, { cookie: '' }, String(posted.headers.location))
  t.equal(stranger.body, 'bad state', 'without the cookie of the browser')
  t.equal((await visit(app, browser, String(posted.headers.location))).statusCode, 302)
  t.equal((await visit(app, browser, '/me')).statusCode, 200)
  t.equal((await visit(app, browser, String(posted.headers.location))).body, 'bad state', 'used')
})

t.test('a form without exactly one state is answered with bad state', async (t) => {
  const journey = await buildWithProvider(t, formPost)
  for (const payload of ['', 'code=x', 'state=&code=x', 'state=a&state=a&code=x', 'error=x']) {
    const response = await post(journey, payload)
    t.equal(response.statusCode, 400, payload)
    t.equal(response.body, 'bad state', payload)
    t.match(response.headers['content-type'], /^text\/plain/)
  }
  t.equal(journey.op.calls.token, 0)
  t.strictSame(await auditTrail(journey), Array(5).fill('sign-in refused bad-state'))
})

t.test('a repeated code reaches the callback as it is and is refused there', async (t) => {
  const journey = await buildWithProvider(t, formPost)
  const browser = { cookie: '' }
  const parameters = await openForm(journey, browser)
  const posted = await post(journey, `${parameters}&code=another`)
  const response = await visit(journey.app, browser, String(posted.headers.location))
  t.equal(response.statusCode, 400)
  t.strictSame(await auditTrail(journey), ['sign-in refused code-doubled'])
})

t.test('a repeated code in the query is one entry of the audit log', async (t) => {
  const journey = await buildWithProvider(t)
  const browser = { cookie: '' }
  const parameters = journey.op.approve(await openTab(journey.app, browser))
  const path = `/auth/callback?${parameters}&code=${parameters.get('code')}`
  t.equal((await visit(journey.app, browser, path)).statusCode, 400)
  t.equal(journey.op.calls.token, 0)
  t.strictSame(await auditTrail(journey), ['sign-in refused code-doubled'])
})

t.test('an error in the form refuses the sign-in', async (t) => {
  const journey = await buildWithProvider(t, formPost)
  const browser = { cookie: '' }
  const state = (await openForm(journey, browser)).get('state') ?? ''
  const posted = await post(journey, `state=${state}&error=user_cancelled_authorize`)
  t.equal((await visit(journey.app, browser, String(posted.headers.location))).statusCode, 400)
  t.strictSame(await auditTrail(journey), ['sign-in refused provider-error'])
})

t.test('only forms of at most 16 KiB are taken', async (t) => {
  const journey = await buildWithProvider(t, formPost)
  const padded = (length: number) => `state=x&unknown=${'a'.repeat(length - 16)}`
  t.equal((await post(journey, padded(16_384))).statusCode, 303)
  t.equal((await post(journey, padded(16_385))).statusCode, 413)
  t.equal((await post(journey, `state=x&code=${'a'.repeat(9_000)}`)).statusCode, 413, 'one field')
  const json = await post(journey, '{"state":"x"}', { 'content-type': 'application/json' })
  t.equal(json.statusCode, 415)
})

t.test('the name in the form is shown, once, for its own sign-in', async (t) => {
  const journey = await buildWithProvider(t, formPost)
  const { app, op } = journey
  op.fault = { claims: { name: undefined } }
  const user = (name: unknown) =>
    `&user=${encodeURIComponent(JSON.stringify({ name, email: 'x@y.z' }))}`
  const ada = user({ firstName: 'Ada', lastName: 'Lovelace' })

  const other = await post(journey, `${await openForm(journey, { cookie: '' })}${ada}`)
  const stolen = new URL(String(other.headers.location), 'http://localhost').searchParams.get(
    'name',
  )
  t.ok(stolen)
  t.notMatch(other.headers.location, 'Ada', 'it is sealed')
  op.fault = { claims: { name: undefined, sub: 'subject-2', email: undefined } }
  const browser = { cookie: '' }
  const parameters = await openForm(journey, browser)
  parameters.set('name', stolen ?? '')
  t.equal((await visit(app, browser, `/auth/callback?${parameters}`)).statusCode, 302)
  t.match((await visit(app, browser, '/me')).json(), { tenant: { name: 'Personal' } })

  op.fault = { claims: { name: undefined, sub: 'subject-3', email: 'real@example.com' } }
  const first = { cookie: '' }
  const posted = await post(journey, `${await openForm(journey, first)}${ada}`)
  t.equal((await visit(app, first, String(posted.headers.location))).statusCode, 302)
  t.match((await visit(app, first, '/me')).json(), {
    user: { email: 'real@example.com' },
    tenant: { name: 'Ada Lovelace' },
  })

  for (const odd of [
    '&user=x',
    '&user=',
    user(null),
    user('Ada'),
    user({ firstName: 7 }),
    `${ada}${ada}`,
  ]) {
    const next = { cookie: '' }
    const answered = await post(journey, `${await openForm(journey, next)}${odd}`)
    t.equal((await visit(app, next, String(answered.headers.location))).statusCode, 302, odd)
  }
})

t.test('without form_post a name in the query is ignored', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op } = journey
  op.fault = { claims: { name: undefined, email: undefined } }
  const browser = { cookie: '' }
  const parameters = op.approve(await openTab(app, browser))
  const posted = await post(journey, `${parameters}&user={"name":{"firstName":"Eve"}}`)
  t.equal((await visit(app, browser, String(posted.headers.location))).statusCode, 302)
  t.match((await visit(app, browser, '/me')).json(), { tenant: { name: 'Personal' } })
})
