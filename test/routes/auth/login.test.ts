import { createHash } from 'node:crypto'
import t from 'tap'
import {
  auditTrail,
  buildWithProvider,
  openTab,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

t.test(
  'the start redirects the browser with the parameters of the specification and the age of a session',
  async (t) => {
    const { app, op, database } = await buildWithProvider(t)
    const browser = { cookie: '' }
    const response = await visit(app, browser, '/auth/login')
    t.equal(response.statusCode, 302)
    t.equal(response.headers['cache-control'], 'no-store')
    const url = new URL(String(response.headers.location))
    t.equal(url.origin + url.pathname, `${op.issuer}/authorize`)
    t.strictSame([...url.searchParams.keys()].sort(), [
      'client_id',
      'code_challenge',
      'code_challenge_method',
      'max_age',
      'nonce',
      'redirect_uri',
      'response_type',
      'scope',
      'state',
    ])
    t.equal(url.searchParams.get('response_type'), 'code')
    t.equal(url.searchParams.get('code_challenge_method'), 'S256')
    t.equal(url.searchParams.get('scope'), 'openid email profile')
    t.equal(url.searchParams.get('redirect_uri'), 'http://localhost:3000/auth/callback')

    const { rows } = await database.admin.query('SELECT * FROM sign_in_attempts')
    const [attempt] = rows
    t.equal(rows.length, 1)
    t.match(attempt.code_verifier, /^[A-Za-z0-9_-]{43}$/, '32 random bytes in base64url')
    t.equal(
      url.searchParams.get('code_challenge'),
      createHash('sha256').update(attempt.code_verifier).digest('base64url'),
    )
    t.equal(url.searchParams.get('nonce'), attempt.nonce)
    const state = url.searchParams.get('state') ?? ''
    t.strictSame(attempt.state_hash, hashTwice(state), 'only a hash is stored')
    t.notMatch(url.href, attempt.code_verifier, 'the code verifier is not in the URL')
  },
)

t.test(
  'the cookie is HttpOnly, SameSite=Lax, host-only, and Secure for an https origin',
  async (t) => {
    const { app } = await buildWithProvider(t)
    const plain = String((await visit(app, { cookie: '' }, '/auth/login')).headers['set-cookie'])
    t.match(plain, /^sid=[^;]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/)

    const https = await buildWithProvider(t, {
      BASE_URL: 'https://app.example.com',
      TRUST_PROXY: '127.0.0.1',
    })
    const secure = await visit(https.app, { cookie: '' }, '/auth/login', {
      headers: { 'x-forwarded-proto': 'https' },
    })
    t.match(String(secure.headers['set-cookie']), /; HttpOnly; Secure; SameSite=Lax$/)
  },
)

t.test('the start fails if the cookie could not be set', async (t) => {
  const { app, log } = await buildWithProvider(t, { BASE_URL: 'https://app.example.com' })
  const response = await visit(app, { cookie: '' }, '/auth/login')
  t.equal(response.statusCode, 500)
  t.match(log.join(''), /TRUST_PROXY/, 'the log names the setting')
})

t.test('a visitor has no session before a sign-in starts', async (t) => {
  const { app, database } = await buildWithProvider(t)
  const response = await visit(app, { cookie: '' }, '/')
  t.equal(response.statusCode, 200)
  t.equal(response.headers['set-cookie'], undefined)
  const { rows } = await database.admin.query('SELECT FROM sessions')
  t.equal(rows.length, 0)
})

t.test('the session id is stored only as a hash', async (t) => {
  const { app, database } = await buildWithProvider(t)
  const browser = { cookie: '' }
  await openTab(app, browser)
  const id = decodeURIComponent(browser.cookie.slice('sid='.length)).split('.')[0] ?? ''
  const { rows } = await database.admin.query('SELECT id_hash FROM sessions')
  t.strictSame(rows, [{ id_hash: hashTwice(id) }])
})

t.test('prefetch, HEAD and unknown providers do not start a sign-in', async (t) => {
  const { app, database, op } = await buildWithProvider(t)
  const headers = { 'sec-purpose': 'prefetch;prerender' }
  const prefetch = await visit(app, { cookie: '' }, '/auth/login', { headers })
  t.equal(prefetch.statusCode, 403)
  t.equal(prefetch.headers['cache-control'], 'no-store')
  t.equal((await app.inject({ method: 'HEAD', url: '/auth/login' })).statusCode, 405)
  t.equal((await visit(app, { cookie: '' }, '/auth/login?provider=other')).statusCode, 404)
  t.equal((await visit(app, { cookie: '' }, '/auth/login?returnTo=/x')).statusCode, 400)
  const { rows } = await database.admin.query('SELECT FROM sign_in_attempts')
  t.equal(rows.length, 0)
  t.equal(op.calls.metadata, 0)
})

t.test('with several providers there is a page to choose one', async (t) => {
  const { app } = await buildWithProvider(t, {
    OIDC_PROVIDERS: 'demo,other',
    OIDC_OTHER_ISSUER: 'http://127.0.0.1:9',
    OIDC_OTHER_CLIENT_ID: 'x',
    OIDC_OTHER_CLIENT_SECRET: 'y',
    OIDC_OTHER_LABEL: 'O<ther',
  })
  const response = await visit(app, { cookie: '' }, '/auth/login')
  t.equal(response.statusCode, 200)
  t.match(response.headers['content-type'], /^text\/html; charset=utf-8/)
  t.match(response.body, /href="\/auth\/login\?provider=demo"/)
  t.match(response.body, /O&lt;ther/)
})

t.test('a provider that is down is 503 for sign-in only', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op } = journey
  op.fault = { metadataAnswer: { status: 500 } }
  const response = await visit(app, { cookie: '' }, '/auth/login')
  t.equal(response.statusCode, 503)
  t.match(response.headers['retry-after'], /^\d+$/)
  t.match(response.headers['content-type'], /problem\+json/)
  t.equal((await visit(app, { cookie: '' }, '/')).statusCode, 200)
  t.strictSame(await auditTrail(journey), ['sign-in unavailable server-error'])
  op.fault = {}
  t.equal((await visit(app, { cookie: '' }, '/auth/login')).statusCode, 302, 'after recovery')
})

/** The program sends the hash of a secret, and the database stores the hash of that. */
function hashTwice(secret: string): Buffer {
  const hash = createHash('sha256').update(secret).digest()
  return createHash('sha256').update(hash).digest()
}
