import { once } from 'node:events'
import { connect } from 'node:net'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { type LocalProvider, startProvider } from '#dev/demo/provider.ts'
import { newProviderBrowser } from '#dev/testing/provider-browser.ts'
import { people } from '#src/commands/development/sample/people.ts'

const clientId = 'gatehouse'
const clientSecret = 'a secret of some length, for tests'
const redirectUri = 'http://localhost:3000/auth/callback'
const afterSignOut = 'http://localhost:3000/'
// RFC 7636, appendix B
const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

t.test('discovery names the issuer, PKCE S256 and the end-session endpoint', async (t) => {
  const { issuer } = await start(t)
  const response = await fetch(`${issuer}/.well-known/openid-configuration`)
  t.match(await response.json(), {
    issuer,
    end_session_endpoint: `${issuer}/session/end`,
    code_challenge_methods_supported: ['S256'],
    id_token_signing_alg_values_supported: ['RS256'],
  })
})

t.test('an authorization request without PKCE is refused', async (t) => {
  const { issuer } = await start(t)
  const request = authorizationUrl(issuer, { code_challenge: '', code_challenge_method: '' })
  const response = await fetch(request, { redirect: 'manual' })
  t.match(response.headers.get('location'), /[?&]error=invalid_request/)
})

t.test(
  'the sign-in page lists the people, escaped, with a strict content security policy',
  async (t) => {
    const mallory = {
      subject: '"><script>',
      name: '<b>Mallory</b>',
      email: 'm@x.example',
      note: "a & 'b'",
    }
    const { issuer } = await start(t, [...people, mallory])
    const page = await newProviderBrowser().follow(authorizationUrl(issuer))
    const body = await page.text()
    for (const { name, email, note } of people) {
      for (const text of [name, email, note]) t.ok(body.includes(text), text)
    }
    t.notMatch(body, /<script|<b>/)
    t.match(body, '&lt;b&gt;Mallory&lt;/b&gt;')
    t.match(page.headers.get('content-security-policy'), /^default-src 'none'/)
    const style = await fetch(`${issuer}/provider.css`)
    t.equal(style.headers.get('content-type'), 'text/css')
  },
)

t.test('a code flow gives an id_token with sub, verified e-mail and nonce', async (t) => {
  const { issuer } = await start(t)
  const callback = await newProviderBrowser().signIn(authorizationUrl(issuer), 'ada')
  t.equal(callback.searchParams.get('state'), 'a state')
  t.equal(callback.searchParams.get('iss'), issuer)
  const tokens = await exchange(issuer, callback)
  t.notOk('refresh_token' in tokens, 'none without offline_access')
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`))
  const { payload } = await jwtVerify(String(tokens.id_token), keys, {
    issuer,
    audience: clientId,
    algorithms: ['RS256'],
  })
  t.match(payload, {
    sub: 'ada',
    nonce: 'a nonce',
    email: 'ada@acme.example',
    email_verified: true,
    name: 'Ada Okafor',
  })
})

t.test(
  'offline_access with prompt=consent gives a refresh token, without another page',
  async (t) => {
    const { issuer } = await start(t)
    const scope = 'openid email profile offline_access'
    const request = authorizationUrl(issuer, { scope, prompt: 'consent' })
    const callback = await newProviderBrowser().signIn(request, 'vera')
    const tokens = await exchange(issuer, callback)
    t.type(tokens.refresh_token, 'string')
    const refreshed = await postToken(issuer, {
      grant_type: 'refresh_token',
      refresh_token: String(tokens.refresh_token),
    })
    t.type(refreshed.access_token, 'string')
  },
)

t.test('the sign-in page is shown again despite a session, except with prompt=none', async (t) => {
  const { issuer } = await start(t)
  const browser = newProviderBrowser()
  await browser.signIn(authorizationUrl(issuer), 'ed')
  const page = await browser.follow(authorizationUrl(issuer))
  t.match(await page.text(), 'Signed in')
  const silent = await browser.follow(authorizationUrl(issuer, { prompt: 'none' }))
  t.match(silent.headers.get('location'), /[?&]code=/)
})

t.test('cancelling goes back to the client with access_denied', async (t) => {
  const { issuer } = await start(t)
  const callback = await newProviderBrowser().signIn(
    authorizationUrl(issuer),
    'nobody of that name',
  )
  t.equal(callback.searchParams.get('error'), 'access_denied')
  t.equal(callback.searchParams.get('state'), 'a state')
})

t.test('a sign-in that this browser did not start is an error page', async (t) => {
  const { issuer } = await start(t)
  const first = newProviderBrowser()
  const page = await first.follow(authorizationUrl(issuer))
  const foreign = await fetch(page.url)
  t.equal(foreign.status, 400)
  t.match(await foreign.text(), 'Sign-in failed')
})

t.test('signing out at the provider leads back to the client', async (t) => {
  const { issuer } = await start(t)
  const browser = newProviderBrowser()
  const tokens = await exchange(issuer, await browser.signIn(authorizationUrl(issuer), 'ada'))
  const request = new URL(`${issuer}/session/end`)
  request.searchParams.set('id_token_hint', String(tokens.id_token))
  request.searchParams.set('post_logout_redirect_uri', afterSignOut)
  const page = await (await browser.follow(request)).text()
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const form = new URLSearchParams({ xsrf, logout: 'yes' })
  const answer = await browser.follow(new URL(`${issuer}/session/end/confirm`), form)
  t.equal(answer.headers.get('location'), afterSignOut)
  const again = await browser.follow(authorizationUrl(issuer, { prompt: 'none' }))
  t.match(again.headers.get('location'), /[?&]error=login_required/)
})

t.test('stop waits for no connection', async (t) => {
  const provider = await start(t)
  const socket = connect(Number(new URL(provider.issuer).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write('GET /jwks HTTP/1.1\r\n') // and never the rest
  // fetch keeps this connection open for its next request.
  await (await fetch(`${provider.issuer}/jwks`)).text()
  await provider.stop()
  await t.rejects(fetch(`${provider.issuer}/jwks`))
})

async function start(t: Test, who = people): Promise<LocalProvider> {
  const provider = await startProvider({
    port: 0,
    clientId,
    clientSecret,
    redirectUris: [redirectUri],
    postLogoutRedirectUris: [afterSignOut],
    people: who,
  })
  t.teardown(() => provider.stop())
  return provider
}

function authorizationUrl(issuer: string, changes: Record<string, string> = {}): URL {
  const url = new URL(`${issuer}/auth`)
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email profile',
    state: 'a state',
    nonce: 'a nonce',
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    ...changes,
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== '') url.searchParams.set(name, value)
  }
  return url
}

function exchange(issuer: string, callback: URL): Promise<Record<string, unknown>> {
  return postToken(issuer, {
    grant_type: 'authorization_code',
    code: callback.searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  })
}

async function postToken(issuer: string, parameters: Record<string, string>) {
  const body = new URLSearchParams({
    ...parameters,
    client_id: clientId,
    client_secret: clientSecret,
  })
  const response = await fetch(`${issuer}/token`, { method: 'POST', body })
  return Object(await response.json())
}
