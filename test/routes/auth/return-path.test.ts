import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import {
  buildWithProvider,
  comeBack,
  type Journey,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const settings = { SIGN_IN_RETURN_TO: '/start,/welcome?new=1' }
const html = { accept: 'text/html,application/xhtml+xml' }

/** Where a sign-in that was started with this query ends. */
async function endOf({ app, op }: Journey, query: string, browser = { cookie: '' }) {
  const start = await visit(app, browser, `/auth/login?${query}`)
  const end = await comeBack(app, browser, op.approve(new URL(String(start.headers.location))))
  return end.headers.location
}

/** The URL on another origin that the page after a sign-in leads to. */
async function pageOf({ app, op }: Journey, url: string) {
  const browser = { cookie: '' }
  const start = await visit(app, browser, `/auth/login?${returnTo(url)}`)
  const end = await comeBack(app, browser, op.approve(new URL(String(start.headers.location))))
  const [, refresh] = /<meta http-equiv="refresh" content="0;url=([^"]+)">/.exec(end.body) ?? []
  return { status: end.statusCode, location: end.headers.location, refresh }
}

const returnTo = (path: string) => new URLSearchParams({ return_to: path }).toString()

t.test('a sign-in returns to a listed path or to one of our pages', async (t) => {
  const journey = await buildWithProvider(t, settings)
  t.equal(await endOf(journey, ''), '/start', 'the first listed path is the default')
  const allowed = [
    '/start',
    '/welcome?new=1',
    '/',
    '/app/account',
    '/app/account?done=x',
    '/app/orders/7',
    '/app/webhooks/0b9c1e5e-6c1b-4f0e-9a51-2f4a6f1a2b3c?status=exhausted',
  ]
  for (const path of allowed) t.equal(await endOf(journey, returnTo(path)), path)
})

t.test('any other return path falls back to the default', async (t) => {
  const journey = await buildWithProvider(t, settings)
  const refused = [
    '',
    'start',
    '/welcome',
    '/welcome?new=2',
    '/start/',
    '/START',
    '/auth/logout',
    '/me',
    '/app',
    '/app/nothing',
    '/app/orders/7/address',
    '/app/billing/replays/7/events',
    '/app/account#x',
    '/app/account\n',
    '/app/../app/account',
    '/app/%2e%2e/start',
    '/app/orders/..',
    '/app\\account',
    '//evil.example/app/account',
    '/\\evil.example/app/account',
    '/\t/evil.example/',
    'https://evil.example/app/account',
    'http://localhost:3000/app/account',
    'javascript:alert(1)',
    `/app/account?${'x'.repeat(3_000)}`,
  ]
  for (const path of refused) t.equal(await endOf(journey, returnTo(path)), '/start', path)
})

const front = 'http://localhost:5173'

t.test('a sign-in returns to a URL of a listed origin, written exactly', async (t) => {
  const journey = await buildWithProvider(t, { ...settings, APP_ORIGINS: front })
  const allowed = [`${front}/`, `${front}/orders/7?page=2&sort=%22`, `${front}/a%20b`]
  for (const url of allowed) {
    // A redirect would be refused by the `form-action` of a provider's page.
    const page = { status: 200, location: undefined, refresh: url.replaceAll('&', '&amp;') }
    t.strictSame(await pageOf(journey, url), page)
  }
  const refused = [
    front,
    `${front}?x`,
    `${front}/#x`,
    'http://localhost:5173@evil.example/',
    'http://user@localhost:5173/',
    'http://user:secret@localhost:5173/',
    'http://localhost:5174/',
    'http://localhost/',
    'http://localhost:51730/',
    'https://localhost:5173/',
    'http://localhost:5173.evil.example/',
    'http://localhost:5173\\@evil.example/',
    'http:\\\\localhost:5173\\x',
    'http:/localhost:5173/',
    'http:localhost:5173/',
    'HTTP://localhost:5173/',
    'http://LOCALHOST:5173/',
    '//localhost:5173/',
    ' http://localhost:5173/',
    'http://localhost:5173/\n',
    'http://localhost:5173/\tx',
    'http://localhost:5173/a/../b',
    'http://localhost:5173/%2e%2e/b',
    'http://localhost:5173/a\\b',
    'http://localhost:5173/a b',
    'http://localhost.:5173/',
    'http://127.0.0.1:5173/',
    'blob:http://localhost:5173/x',
    'view-source:http://localhost:5173/',
    `javascript:alert(1)//${front}/`,
    `${front}/?${'x'.repeat(3_000)}`,
  ]
  for (const url of refused) t.equal(await endOf(journey, returnTo(url)), '/start', url)
})

t.test('without APP_ORIGINS no URL is returned to', async (t) => {
  const journey = await buildWithProvider(t, settings)
  t.equal(await endOf(journey, returnTo(`${front}/`)), '/start')
})

t.test('another try after a failure keeps the URL of the front end', async (t) => {
  const journey = await buildWithProvider(t, { ...settings, APP_ORIGINS: front })
  const browser = { cookie: '' }
  const start = await visit(journey.app, browser, `/auth/login?${returnTo(`${front}/x`)}`)
  journey.op.fault = { claims: { nonce: 'other' } }
  const parameters = journey.op.approve(new URL(String(start.headers.location)))
  const failed = await visit(journey.app, browser, `/auth/callback?${parameters}`, {
    headers: html,
  })
  t.match(failed.body, 'href="/auth/login?return_to=http%3A%2F%2Flocalhost%3A5173%2Fx"')
})

t.test('each tab returns to its own path, which the provider never sees', async (t) => {
  const { app, op } = await buildWithProvider(t, settings)
  const browser = { cookie: '' }
  const tabs: { path: string; answer: URLSearchParams }[] = []
  for (const path of ['/app/account', '/app/access']) {
    const start = await visit(app, browser, `/auth/login?${returnTo(path)}`)
    const url = new URL(String(start.headers.location))
    t.notMatch(url.href, /account|access/)
    const answer = op.approve(url)
    answer.set('return_to', '/start')
    tabs.push({ path, answer })
  }
  for (const { path, answer } of tabs) {
    t.equal((await comeBack(app, browser, answer)).headers.location, path)
  }
})

t.test('a re-authentication returns as well', async (t) => {
  const journey = await buildWithProvider(t, settings)
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const query = `reauthenticate=true&${returnTo('/app/account')}`
  journey.op.fault = { claims: { auth_time: Math.floor(Date.now() / 1000) } }
  t.equal(await endOf(journey, query, browser), '/app/account')
})

t.test('the choice of a provider and another try after a failure keep the path', async (t) => {
  const journey = await buildWithProvider(t, {
    OIDC_PROVIDERS: 'demo,other',
    OIDC_OTHER_ISSUER: 'http://127.0.0.1:9',
    OIDC_OTHER_CLIENT_ID: 'x',
    OIDC_OTHER_CLIENT_SECRET: 'y',
  })
  const { app, op } = journey
  const browser = { cookie: '' }
  const choice = await visit(app, browser, `/auth/login?${returnTo('/app/account')}`)
  const href = 'href="/auth/login?provider=demo&amp;return_to=%2Fapp%2Faccount"'
  t.ok(choice.body.includes(href), choice.body)
  const start = await visit(app, browser, `/auth/login?provider=demo&${returnTo('/app/account')}`)
  op.fault = { claims: { nonce: 'other' } }
  const parameters = op.approve(new URL(String(start.headers.location)))
  const failed = await visit(app, browser, `/auth/callback?${parameters}`, { headers: html })
  t.match(failed.body, 'href="/auth/login?return_to=%2Fapp%2Faccount"')
})

t.test('a page requested without a session redirects to sign-in and returns there', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op, database } = journey
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const page = '/app/account?done=session-ended'
  for (const cookie of ['', browser.cookie]) {
    await database.admin.query('DELETE FROM sessions')
    const visitor = { cookie }
    const refused = await visit(app, visitor, page, { headers: html })
    t.equal(refused.statusCode, 302)
    t.equal(refused.headers.location, `/auth/login?${returnTo(page)}`)
    t.equal(refused.headers['cache-control'], 'no-store')
    const start = await visit(app, visitor, String(refused.headers.location))
    const end = await comeBack(app, visitor, op.approve(new URL(String(start.headers.location))))
    t.equal(end.headers.location, page)
    t.equal((await visit(app, visitor, page, { headers: html })).statusCode, 200)
  }
})

t.test('only pages redirect to sign-in: API, JSON and event streams answer 401', async (t) => {
  const { app } = await buildWithProvider(t)
  const requests: [string, Record<string, string>][] = [
    ['/me', html],
    ['/app/account', {}],
    ['/app/account', { accept: 'application/json' }],
    ['/app/account', { accept: '*/*' }],
    [
      '/app/billing/replays/0b9c1e5e-6c1b-4f0e-9a51-2f4a6f1a2b3c/events',
      { accept: 'text/event-stream' },
    ],
  ]
  for (const [path, headers] of requests) {
    const response = await visit(app, { cookie: '' }, path, { headers })
    t.equal(response.statusCode, 401, `${path} ${headers.accept}`)
    t.equal(response.headers.location, undefined)
  }
})

t.test('text typed into a form survives an expired session', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op, database } = journey
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const { user, tenant } = (await visit(app, browser, '/me')).json()
  const id = await createOrder(database, { userId: user.id, tenantId: tenant.id })
  const page = `/app/orders/${id}`
  const address = {
    sender: user.id,
    name: 'Ada "Countess" <Lovelace>',
    line1: '12 St James’s Square',
    line2: '',
    city: 'London & beyond',
    postalCode: 'SW1Y',
    country: 'GB',
  }
  await database.admin.query('UPDATE sessions SET expires_at = now()')
  const refused = await submit(journey, browser, `${page}/address`, address)
  t.equal(refused.statusCode, 401)
  t.match(refused.body, 'Your session has ended')
  t.match(refused.body, 'the page shows what you entered')
  const [, href = ''] = /class="button" href="([^"]+)"/.exec(refused.body) ?? []
  t.equal(href, `/auth/login?${returnTo(page)}`)
  const draft = refused.cookies.find(({ name }) => name === 'draft')
  t.match(draft, { path: '/app', httpOnly: true, sameSite: 'Lax', maxAge: 600 })
  t.notMatch(decodeURIComponent(String(draft?.value)), /Countess|James/, 'encrypted')

  const start = await visit(app, browser, href)
  const end = await comeBack(app, browser, op.approve(new URL(String(start.headers.location))))
  t.equal(end.headers.location, page)
  const both = { cookie: `${browser.cookie}; draft=${draft?.value}`, ...html }
  const shown = await app.inject({ url: page, headers: both })
  t.match(shown.body, 'It has not been sent yet.')
  t.ok(
    shown.body.includes(
      'name="name" maxlength="200" autocomplete="name" required value="Ada &quot;Countess&quot; &lt;Lovelace&gt;"',
    ),
    shown.body,
  )
  t.ok(shown.body.includes('value="London &amp; beyond"'))
  t.match(
    shown.cookies.find(({ name }) => name === 'draft'),
    { value: '', path: '/app' },
    'it is shown once',
  )
  const { rows } = await database.admin.query('SELECT shipping_address FROM orders')
  t.match(rows, [{ shipping_address: { city: 'Lisbon' } }], 'nothing was sent')
})

t.test('a form of another site is not kept', async (t) => {
  const journey = await buildWithProvider(t)
  const sites: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    {},
  ]
  for (const headers of sites) {
    const refused = await submit(
      journey,
      { cookie: '' },
      '/app/orders/1/address',
      { sender: '1', x: '1' },
      headers,
    )
    t.equal(refused.statusCode, 401)
    t.notOk(
      refused.cookies.some(({ name }) => name === 'draft'),
      JSON.stringify(headers),
    )
    t.notMatch(refused.body, 'what you entered')
    t.match(refused.body, 'return_to=%2Fapp%2Forders%2F1')
  }
  const own = { origin: 'http://localhost:3000' }
  const kept = await submit(
    journey,
    { cookie: '' },
    '/app/orders/1/address',
    { sender: '1', x: '1' },
    own,
  )
  t.ok(kept.cookies.some(({ name }) => name === 'draft'))
})

t.test(
  'what does not fit into a cookie is not kept, and the page does not promise it',
  async (t) => {
    const journey = await buildWithProvider(t)
    for (const length of [4_000, 100_000]) {
      const body = { sender: '1', name: 'x'.repeat(length) }
      const refused = await submit(journey, { cookie: '' }, '/app/orders/1/address', body)
      t.equal(refused.statusCode, 401)
      t.notOk(refused.cookies.some(({ name }) => name === 'draft'))
      t.notMatch(refused.body, 'what you entered')
    }
  },
)

t.test('a draft that is forged, old or of another page changes nothing', async (t) => {
  const journey = await buildWithProvider(t)
  const { app } = journey
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const refused = await submit(journey, { cookie: '' }, '/app/orders/1/address', {
    sender: '1',
    name: 'x',
  })
  const draft = refused.cookies.find(({ name }) => name === 'draft')?.value ?? ''
  const page = '/app/account'
  const withoutIds = (body: string) => body.replaceAll(/name="submission" value="[^"]*"/g, '')
  const plain = withoutIds((await visit(app, browser, page, { headers: html })).body)
  const look = async (value: string) => {
    const headers = { cookie: `${browser.cookie}; draft=${value}`, ...html }
    return app.inject({ url: page, headers })
  }
  const foreign = await look(draft)
  t.equal(withoutIds(foreign.body), plain)
  t.notOk(
    foreign.cookies.some(({ name }) => name === 'draft'),
    'it waits for its page',
  )
  const forged = await look(`${draft.slice(0, -3)}AAA`)
  t.equal(withoutIds(forged.body), plain)
  t.match(
    forged.cookies.find(({ name }) => name === 'draft'),
    { value: '' },
  )
})

t.test('text survives a required confirmation of identity, too', async (t) => {
  const journey = await buildWithProvider(t)
  const user = await createUser(journey.database, { role: 'admin' })
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  await journey.database.admin.query(
    "UPDATE sessions SET authenticated_at = now() - interval '1 hour'",
  )
  const body = { provider: 'demo', subject: `of ${user.userId}` }
  const refused = await submit(journey, browser, '/app/account/identities/remove', body)
  t.equal(refused.statusCode, 403)
  t.match(refused.body, 'href="/auth/login?reauthenticate=true&amp;return_to=%2Fapp%2Faccount"')
  t.notOk(
    refused.cookies.some(({ name }) => name === 'draft'),
    'nothing was typed',
  )
  t.notMatch(refused.body, 'what you entered')

  const sender = (await visit(journey.app, browser, '/me')).json().user.id
  const token = {
    sender,
    submission: crypto.randomUUID(),
    name: 'Deploy key',
    days: '7',
    extent: 'all',
  }
  const untaken = await submit(journey, browser, '/app/account/tokens/new', token)
  t.equal(untaken.statusCode, 403)
  const draft = untaken.cookies.find(({ name }) => name === 'draft')?.value ?? ''
  const headers = { ...html, cookie: `${browser.cookie}; draft=${draft}` }
  const form = { url: '/app/account/tokens/new', headers }
  const closed = await journey.app.inject(form)
  t.equal(closed.statusCode, 403, 'its page asks for it before anything is entered')
  const back = 'return_to=%2Fapp%2Faccount%2Ftokens%2Fnew'
  for (const { body } of [untaken, closed])
    t.match(body, `href="/auth/login?reauthenticate=true&amp;${back}"`)
  t.notOk(
    closed.cookies.some(({ name }) => name === 'draft'),
    'and forgets nothing',
  )
  await journey.database.admin.query('UPDATE sessions SET authenticated_at = now()')
  const page = await journey.app.inject(form)
  t.match(page.body, 'value="Deploy key"', 'also in a form whose hidden id is new')
})

/** Posts a form as a browser does. */
function submit(
  { app }: Journey,
  browser: { cookie: string },
  url: string,
  fields: Record<string, string>,
  site: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
) {
  const headers = { ...html, 'content-type': 'application/x-www-form-urlencoded', ...site }
  const payload = new URLSearchParams(fields).toString()
  return visit(app, browser, url, { method: 'POST', headers, payload })
}
