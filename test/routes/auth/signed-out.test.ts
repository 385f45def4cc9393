import t from 'tap'
import { logoutState } from '#src/auth/sessions/sign-out.ts'
import {
  auditTrail,
  buildWithProvider,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const form = {
  'content-type': 'application/x-www-form-urlencoded',
  'sec-fetch-site': 'same-origin',
}
const html = { accept: 'text/html' }
const clock = { seconds: Date.UTC(2031, 4, 6) / 1000, now: () => new Date(clock.seconds * 1000) }

t.test('JSON: the response offers the provider’s logout without the id_token', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op } = journey
  const browser = { cookie: '' }
  op.fault = { metadata: { end_session_endpoint: `${op.issuer}/end?realm=a` } }
  await signInThrough(journey, browser)
  const calls = { ...op.calls }
  const response = await visit(app, browser, '/auth/logout', { method: 'POST' })
  t.equal(response.statusCode, 204)
  const [, link = '', rel] = /^<([^>]+)>; rel="([^"]+)"$/.exec(String(response.headers.link)) ?? []
  t.equal(rel, 'urn:gatehouse:provider-logout')
  const url = new URL(link)
  t.equal(url.origin + url.pathname, `${op.issuer}/end`)
  t.strictSame(
    [...url.searchParams.keys()],
    ['realm', 'client_id', 'post_logout_redirect_uri', 'state'],
  )
  t.match(Object.fromEntries(url.searchParams), {
    realm: 'a',
    client_id: 'gatehouse-test',
    post_logout_redirect_uri: 'http://localhost:3000/auth/signed-out',
    state: /^demo\.[\w-]{43}\.[\w-]{43}$/,
  })
  t.strictSame(op.calls, calls, 'the provider was not called')
})

t.test('a form leads to the signed-out page, which offers the provider’s logout', async (t) => {
  const journey = await buildWithProvider(t, { OIDC_DEMO_LABEL: 'Acme <ID>' })
  const { app, op } = journey
  const browser = { cookie: '' }
  op.fault = { metadata: { end_session_endpoint: `${op.issuer}/end` } }
  await signInThrough(journey, browser)
  const options = { method: 'POST', headers: form } as const
  const response = await visit(app, browser, '/auth/logout', options)
  t.equal(response.statusCode, 303)
  const page = await visit(app, browser, String(response.headers.location), { headers: html })
  t.equal(page.statusCode, 200)
  t.equal(page.headers['cache-control'], 'no-store')
  t.match(page.body, /Also sign out of Acme &lt;ID&gt;/)
  t.match(page.body, `href="${op.issuer}/end?client_id=gatehouse-test&amp;`)
})

t.test('no logout is offered without the endpoint or for an unknown provider', async (t) => {
  const journey = await buildWithProvider(t)
  const { app } = journey
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const response = await visit(app, browser, '/auth/logout', { method: 'POST' })
  t.equal(response.headers.link, undefined)
  for (const query of ['?provider=demo', '?provider=other', '?provider=', '']) {
    const page = await visit(app, browser, `/auth/signed-out${query}`)
    t.equal(page.statusCode, 200, query)
    t.match(page.body, /<h1>You are signed out<\/h1>/, query)
    t.notMatch(page.body, /as well/, query)
  }
})

t.test('a provider that is down or hangs does not fail or delay the sign-out', async (t) => {
  const journey = await buildWithProvider(t, {}, clock)
  const { app, op } = journey
  for (const metadataAnswer of ['reset', 'hang', { status: 500 }] as const) {
    const browser = { cookie: '' }
    op.fault = {}
    await signInThrough(journey, browser)
    op.fault = { metadataAnswer }
    clock.seconds += 3_601
    const response = await visit(app, browser, '/auth/logout', { method: 'POST' })
    t.equal(response.statusCode, 204, JSON.stringify(metadataAnswer))
    t.equal(response.headers.link, undefined)
    t.equal((await auditTrail(journey)).at(-1), 'sign-out done own-request')
    t.equal((await visit(app, { cookie: '' }, '/auth/signed-out?provider=demo')).statusCode, 200)
    clock.seconds += 3_601
  }
})

t.test(
  'any state shows the signed-out page; only a valid one adds the provider’s name',
  async (t) => {
    const { app, config } = await buildWithProvider(t)
    const [secret] = config.session.secrets
    const good = logoutState(secret, 'demo')
    const rows: [string, boolean][] = [
      [`?state=${good}`, true],
      [`?state=${good}_INVALID`, false],
      [`?state=${good.slice(0, -1)}`, false],
      [`?state=${good.replace('demo', 'dem')}`, false],
      [`?state=${logoutState('another secret', 'demo')}`, false],
      [`?state=${logoutState(secret, 'gone')}`, false],
      ['?state=', false],
      ['', false],
      ['?error=access_denied&unknown=1', false],
      [`?state=a&state=${good}`, false],
      ['?provider=%00', false],
    ]
    for (const [query, named] of rows) {
      const page = await visit(app, { cookie: '' }, `/auth/signed-out${query}`)
      t.equal(page.statusCode, 200, query)
      t.match(page.body, /<h1>You are signed out<\/h1>/, query)
      t.equal(page.body.includes('returned from demo'), named, query)
      t.equal(page.headers['set-cookie'], undefined)
    }
  },
)

t.test('a signed-in user is redirected to the start page', async (t) => {
  const journey = await buildWithProvider(t)
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const response = await visit(journey.app, browser, '/auth/signed-out')
  t.equal(response.statusCode, 302)
  t.equal(response.headers.location, '/')
  t.equal((await visit(journey.app, browser, '/me')).statusCode, 200)
})
