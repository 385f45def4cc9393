import t, { type Test } from 'tap'
import { isAppPath } from '#src/http/return-path.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import {
  type Browser,
  buildWithProvider,
  comeBack,
  type Journey,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

/* A page of the app that was asked for without a session is where its person ends. */

const base = 'http://localhost:3000'
const anywhere = { SIGN_IN_RETURN_TO: '/start,/*' }
const html = { accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'navigate' }
const deep = '/orders/9?x=1&y=%2Fa'

/** Texts that are no path of the app, or lead an app or a browser away from our origin. */
const tricks = [
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example/',
  '/%2Fevil.example/',
  '/%2f%2fevil.example',
  '/%5Cevil.example/',
  '/%09/evil.example/',
  '/%00',
  'https://evil.example/orders',
  `${base}/orders`,
  'javascript:alert(1)',
  'orders/9',
  '/orders/../auth/login',
  '/orders/%2e%2e/x',
  '/orders\\x',
  '/orders/9#x',
  '/orders/9\n',
  '/orders/%ff',
  '/auth/login?return_to=/auth/login',
  '/auth/logout',
  '/%61uth/login',
  '/app/nothing',
  '/portal/open?link=x',
  '/webhooks/billing',
  `/orders?${'x'.repeat(3_000)}`,
]

const returnTo = (path: string) => new URLSearchParams({ return_to: path }).toString()

/** What a proxy answers a browser that opens a page of the app. */
const open = ({ app }: Pick<Journey, 'app'>, uri: string) =>
  app.inject({
    url: '/auth/verify',
    headers: { ...html, 'x-forwarded-method': 'GET', 'x-forwarded-uri': uri },
  })

async function signInAt({ app, op }: Journey, browser: Browser, url: string) {
  const start = await visit(app, browser, url, { headers: html })
  return comeBack(app, browser, op.approve(new URL(String(start.headers.location))))
}

t.test('any path of the app returns, with its query', async (t) => {
  const journey = await buildWithProvider(t, anywhere)
  for (const path of [deep, '/', '/me', '/application', '/authors/1', '/a//b/', '/%C3%A9?q=%20']) {
    const refused = await open(journey, path)
    t.equal(refused.statusCode, 302)
    t.equal(refused.headers.location, `${base}/auth/login?${returnTo(path)}`)
    const end = await signInAt(journey, { cookie: '' }, String(refused.headers.location))
    t.equal(end.headers.location, path)
  }
})

t.test('no trick returns anywhere, at the door or at the sign-in', async (t) => {
  const journey = await buildWithProvider(t, anywhere)
  for (const trick of tricks) {
    t.notOk(isAppPath(trick), trick)
    const { headers } = await open(journey, trick)
    // Without the query, or as the URL that nginx sends, it is a path of the app.
    const isPath = /^(?:http:\/\/localhost:3000)?\/orders(?:\?x+)?$/.test(trick)
    const login = isPath ? `/auth/login?${returnTo('/orders')}` : '/auth/login'
    t.equal(headers.location, `${base}${login}`, trick)
    const end = await signInAt(journey, { cookie: '' }, `/auth/login?${returnTo(trick)}`)
    t.equal(end.headers.location, '/start', trick)
  }
})

t.test('without the setting only listed paths return', async (t) => {
  const journey = await buildWithProvider(t, { SIGN_IN_RETURN_TO: '/start' })
  t.equal((await open(journey, deep)).headers.location, `${base}/auth/login`)
  const end = await signInAt(journey, { cookie: '' }, `/auth/login?${returnTo(deep)}`)
  t.equal(end.headers.location, '/start')
})

t.test('the setting itself is no path', async (t) => {
  const journey = await buildWithProvider(t, { SIGN_IN_RETURN_TO: '/*' })
  t.equal((await signInAt(journey, { cookie: '' }, '/auth/login')).headers.location, '/')
})

t.test('a new person returns after the page that asks for the name', async (t) => {
  const journey = await buildWithProvider(t, anywhere)
  const { app, op } = journey
  const browser = { cookie: '' }
  const start = await visit(app, browser, `/auth/login?${returnTo(deep)}`, { headers: html })
  const approved = op.approve(new URL(String(start.headers.location)))
  const asked = await visit(app, browser, `/auth/callback?${approved}`, { headers: html })
  t.equal(asked.headers.location, `/app/welcome?${returnTo(deep)}`)
  const headers = {
    ...html,
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
  }
  const send = (target: string) => {
    const payload = new URLSearchParams({ name: 'Acme', return_to: target }).toString()
    return visit(app, browser, '/app/welcome', { method: 'POST', headers, payload })
  }
  t.equal((await send(deep)).headers.location, deep)
  for (const trick of tricks.filter((one) => one.length < 2_000)) {
    t.equal((await send(trick)).headers.location, '/start', trick)
  }
})

t.test('a second provider, after the first has failed, keeps the path', async (t) => {
  const journey = await buildWithProvider(t, {
    ...anywhere,
    OIDC_PROVIDERS: 'demo,other',
    OIDC_OTHER_ISSUER: 'http://127.0.0.1:9',
    OIDC_OTHER_CLIENT_ID: 'x',
    OIDC_OTHER_CLIENT_SECRET: 'y',
  })
  const { app } = journey
  const browser = { cookie: '' }
  const href = (provider: string) =>
    `/auth/login?provider=${provider}&${returnTo(deep)}`.replaceAll('&', '&amp;')
  const refused = await open(journey, deep)
  const choice = await visit(app, browser, String(refused.headers.location), { headers: html })
  t.match(choice.body, `href="${href('demo')}"`)
  const down = await visit(app, browser, `/auth/login?provider=other&${returnTo(deep)}`, {
    headers: html,
  })
  t.equal(down.statusCode, 503)
  t.match(down.body, `href="/auth/login?${returnTo(deep)}"`)
  const end = await signInAt(journey, browser, `/auth/login?provider=demo&${returnTo(deep)}`)
  t.equal(end.headers.location, deep)
})

t.test('an invitation that had to be accepted first leads to the path', async (t) => {
  const { test, accept, login } = await invited(t)
  const start = await test.app.inject({ url: `/auth/login?${returnTo(deep)}` })
  const wanted = start.cookies.find(({ name }) => name === 'wanted')
  t.match(wanted, { path: '/invitations', httpOnly: true, sameSite: 'Lax', maxAge: 3_600 })
  const kept = `wanted=${encodeURIComponent(String(wanted?.value))}`
  const accepted = await accept(kept)
  t.equal(accepted.statusCode, 303)
  t.equal(accepted.headers.location, deep)
  t.match(
    accepted.cookies.find(({ name }) => name === 'wanted'),
    { value: '', path: '/invitations' },
    'once',
  )
  const onTheWay = await login('/app/invitations/0b9c1e5e-6c1b-4f0e-9a51-2f4a6f1a2b3c')
  t.equal(
    onTheWay.cookies.find(({ name }) => name === 'wanted'),
    undefined,
    'the page of the invitation replaces nothing',
  )
})

t.test('a cookie that somebody else wrote leads nowhere', async (t) => {
  for (const trick of [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '/auth/login',
  ]) {
    const { accept } = await invited(t)
    const { headers } = await accept(`wanted=${encodeURIComponent(trick)}`)
    t.equal(headers.location, '/app/account?done=joined', trick)
  }
})

/** A person with an open invitation. */
async function invited(t: Test) {
  const test = await buildWithProvider(t, anywhere)
  const admin = await owner(test, { role: 'admin', email: 'boss@example.com' })
  const guest = await owner(test, { email: 'ada@example.com', emailVerified: true })
  const body = { email: 'ada@example.com', role: 'editor' }
  const { id } = (await admin.send('POST', '/users', body)).json()
  return {
    test,
    login: (path: string) => test.app.inject({ url: `/auth/login?${returnTo(path)}` }),
    accept: (cookie: string) =>
      test.app.inject({
        method: 'POST',
        url: `/invitations/${id}/accept`,
        headers: {
          cookie: `${guest.cookie}; ${cookie}`,
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
        },
        payload: '',
      }),
  }
}
