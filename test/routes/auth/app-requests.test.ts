import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

/* Requests to the app behind the proxy: their headers were written for the app. */

const base = 'http://localhost:3000'
const test = await build(t, { SIGN_IN_RETURN_TO: '/,/*' })
const get = { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/orders/9?x=1' }
const post = { ...get, 'x-forwarded-method': 'POST' }
const cross = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
const html = { accept: 'text/html,application/xhtml+xml' }

const ask = (headers: Record<string, string>, { app }: TestApp = test) =>
  app.inject({ url: '/auth/verify', headers })

/** Tokens of an app: none has the form of ours. */
const foreign = [
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'x',
  `gth_${'a'.repeat(43)}`,
  `${randomApiToken()}x`,
  'two words',
  '',
]

t.test('a token of the app is not judged: the session beside it is', async (t) => {
  const user = await createUser(test.database, { role: 'editor' })
  const { cookie } = await signIn(test, user)
  for (const token of foreign) {
    const authorization = `Bearer ${token}`
    const answer = await ask({ cookie, authorization, ...get })
    t.equal(answer.statusCode, 204, token)
    t.equal(answer.headers['gatehouse-user'], String(user.userId), token)
    t.equal((await ask({ authorization, ...get })).statusCode, 401, `${token}, no session`)
    const elsewhere = await test.app.inject({ url: '/me', headers: { cookie, authorization } })
    t.equal(elsewhere.statusCode, 400, `${token}: our own API is as strict as before`)
  }
  for (const authorization of ['Basic YTpi', 'AWS4-HMAC-SHA256 Credential=x', 'Token x']) {
    t.equal((await ask({ cookie, authorization, ...get })).statusCode, 204, authorization)
  }
})

t.test('a token of the app lets no request of another site through', async (t) => {
  const { cookie } = await signIn(test, await createUser(test.database))
  for (const token of foreign) {
    const answer = await ask({ cookie, authorization: `Bearer ${token}`, ...post, ...cross })
    t.equal(answer.statusCode, 403, token)
    t.equal(answer.headers['gatehouse-identity'], undefined, token)
  }
})

t.test('a token of our form is judged alone, dead or alive', async (t) => {
  const { make } = await owner(test)
  const { cookie } = await signIn(test, await createUser(test.database))
  const { token } = await make()
  const bearer = (text: string) => ({ authorization: `Bearer ${text}`, ...get })
  t.equal((await ask(bearer(token))).statusCode, 204)
  t.equal((await ask({ cookie, ...bearer(token) })).statusCode, 400, 'two people at once')
  for (const kind of ['token', 'service', 'app'] as const) {
    const dead = randomApiToken(kind)
    t.equal((await ask(bearer(dead))).statusCode, 401, kind)
    t.equal((await ask({ cookie, ...bearer(dead) })).statusCode, 400, `${kind} and a session`)
  }
})

t.test('only navigation is redirected', async (t) => {
  const signIn = `${base}/auth/login?return_to=%2Forders%2F9%3Fx%3D1`
  for (const [what, sent] of Object.entries({
    'a navigation': { ...html, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    'a navigation in a frame': {
      ...html,
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
    },
    'a browser without fetch metadata': html,
    'a page of an Android app': { ...html, 'x-requested-with': 'com.example.mail' },
  })) {
    const answer = await ask({ ...get, ...sent })
    t.equal(answer.statusCode, 302, what)
    t.equal(answer.headers.location, signIn, what)
    const ofNginx = { 'x-original-method': 'GET', 'x-original-url': '/orders/9?x=1' }
    const original = await ask({ ...ofNginx, ...sent })
    t.equal(original.statusCode, 401, what)
    t.equal(original.headers.location, signIn, what)
  }
})

t.test('a script gets 401 with where to sign in, whatever it accepts', async (t) => {
  const referer = `${base}/orders?page=2`
  const cors = { ...html, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
  for (const [what, sent] of Object.entries({
    'fetch for HTML': cors,
    'fetch of the same origin': { ...html, 'sec-fetch-mode': 'same-origin' },
    'an image': { accept: '*/*', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    'an event stream': { accept: 'text/event-stream', 'sec-fetch-mode': 'cors' },
    jQuery: { ...html, 'x-requested-with': 'XMLHttpRequest' },
    htmx: { ...html, 'hx-request': 'true' },
    Turbo: { ...html, 'x-turbo-request-id': '1' },
    'a frame of Turbo': { ...html, 'turbo-frame': 'list' },
    'a program': { accept: '*/*' },
    'a token of the app': { ...html, authorization: 'Bearer x' },
    'a form': { ...html, 'sec-fetch-mode': 'navigate', 'x-forwarded-method': 'POST' },
    HEAD: { ...html, 'x-forwarded-method': 'HEAD' },
  })) {
    for (const ofProxy of [get, { ...get, 'x-original-url': '/orders/9?x=1' }]) {
      const answer = await ask({ ...ofProxy, referer, ...sent })
      t.equal(answer.statusCode, 401, what)
      t.equal(answer.headers.location, undefined, what)
      const signIn = `${base}/auth/login?return_to=%2Forders%3Fpage%3D2`
      t.equal(answer.headers.link, `<${signIn}>; rel="authenticate"`, what)
    }
  }
  for (const from of [
    'https://evil.example/',
    `${base}.evil.example/`,
    `${base}//evil.example/`,
    'x',
  ]) {
    const { headers } = await ask({ ...get, ...cors, referer: from })
    t.equal(headers.link, `<${base}/auth/login>; rel="authenticate"`, from)
  }
})
