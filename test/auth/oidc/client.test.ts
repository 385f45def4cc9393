import { createHash } from 'node:crypto'
import t from 'tap'
import { randomPending } from '#src/auth/oidc/client.ts'
import {
  attempt,
  clientId,
  clientSecret,
  failure,
  redirectUri,
  relyingParty,
  signIn,
  startProvider,
} from '#test/support/provider/sign-in-attempt.ts'

t.test(
  'the authorization request has the parameters of the specification and no secret',
  async (t) => {
    const op = await startProvider(t)
    const pending = randomPending()
    const url = await relyingParty(op).authorizationUrl(pending, redirectUri)
    t.equal(url.origin + url.pathname, `${op.issuer}/authorize`)
    t.same(Object.fromEntries(url.searchParams), {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: createHash('sha256').update(pending.codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    t.notOk(url.href.includes(pending.codeVerifier))
    t.notOk(url.href.includes(clientSecret))
  },
)

t.test('the query of the endpoint is kept; standard parameters override it', async (t) => {
  const op = await startProvider(t)
  const authorization_endpoint = `${op.issuer}/authorize?policy=b2c&redirect_uri=x&redirect_uri=y`
  op.fault = { metadata: { authorization_endpoint } }
  const url = await relyingParty(op).authorizationUrl(randomPending(), redirectUri)
  t.equal(url.searchParams.get('policy'), 'b2c')
  t.same(url.searchParams.getAll('redirect_uri'), [redirectUri])
})

t.test('random values are new each time; the verifier has 43 unreserved characters', async (t) => {
  const values = Array.from({ length: 50 }, () => Object.values(randomPending())).flat()
  t.equal(new Set(values).size, 150)
  t.ok(values.every((value) => /^[A-Za-z0-9_-]{43}$/.test(value)))
})

t.test('B1 a valid sign-in returns the verified claims (client_secret_post)', async (t) => {
  const op = await startProvider(t)
  t.equal(op.calls.metadata, 0)
  const provider = relyingParty(op)
  t.equal(op.calls.metadata, 0, 'nothing is fetched before the first use')
  const { outcome, calls } = await attempt(t, op, { claims: { sid: 'op-session' } }, provider)
  t.same(outcome, {
    issuer: op.issuer,
    subject: 'subject-1',
    email: 'ada@example.com',
    emailVerified: true,
    name: 'Ada',
    locale: null,
    sessionId: 'op-session',
    authenticatedAt: null,
    mappedRole: null,
    tokens: null,
  })
  t.same(calls, { metadata: 1, jwks: 1, token: 1 })
  const second = await attempt(t, op, {}, provider)
  t.same(second.calls, { metadata: 0, jwks: 0, token: 1 }, 'metadata and keys are cached')
})

t.test('the code exchange sends exactly the fields of the specification', async (t) => {
  const op = await startProvider(t)
  const pending = randomPending()
  await signIn(op, relyingParty(op), pending)
  const sent = op.requests.find(({ url }) => url === '/token')
  t.equal(sent?.method, 'POST')
  t.match(sent?.headers['content-type'], /^application\/x-www-form-urlencoded/)
  const form = Object.fromEntries(new URLSearchParams(sent?.body.toString()))
  t.match(form.code, /^grant_/)
  t.same(
    { ...form, code: 'x' },
    {
      grant_type: 'authorization_code',
      code: 'x',
      redirect_uri: redirectUri,
      client_id: clientId,
      client_secret: clientSecret,
      code_verifier: pending.codeVerifier,
    },
  )
})

t.test('B14 client_secret_basic sends the secret in the header only', async (t) => {
  const op = await startProvider(t)
  const secret = 'sécret: +/% with reserved characters'
  const config = { clientAuth: 'client_secret_basic', clientSecrets: [secret] } as const
  const { outcome } = await attempt(t, op, { secrets: [secret] }, relyingParty(op, config))
  t.equal(outcome?.subject, 'subject-1')
  const sent = op.requests.find(({ url }) => url === '/token')
  t.match(sent?.headers.authorization, /^Basic /)
  t.notMatch(sent?.body.toString(), 'client_secret')
})

t.test('the provider rejects a wrong code verifier', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  const pending = randomPending()
  const parameters = op.approve(await provider.authorizationUrl(pending, redirectUri))
  const { codeVerifier } = randomPending()
  const error = await failure(
    t,
    provider.exchange(parameters, { ...pending, codeVerifier }, redirectUri),
  )
  t.match(error, { reason: 'exchange-rejected', providerError: 'invalid_grant' })
  const outcome = await provider.exchange(parameters, pending, redirectUri)
  t.equal(outcome.subject, 'subject-1', 'the code is still valid')
})

t.test('a code can be used once', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  const pending = randomPending()
  const parameters = op.approve(await provider.authorizationUrl(pending, redirectUri))
  await provider.exchange(parameters, pending, redirectUri)
  const error = await failure(t, provider.exchange(parameters, pending, redirectUri))
  t.equal(error.reason, 'exchange-rejected')
})

t.test('check succeeds with valid metadata and keys, otherwise it throws the reason', async (t) => {
  const op = await startProvider(t)
  await relyingParty(op).check()
  t.same([op.calls.metadata, op.calls.jwks, op.calls.token], [1, 1, 0])
  const rows = [
    ['metadata-malformed', { metadataAnswer: { status: 404 } }],
    ['keys-malformed', { jwks: { keys: [] } }],
    ['keys-malformed', { jwks: { keys: 'none' } }],
    ['keys-malformed', { jwksAnswer: { body: '<html>' } }],
    ['keys-malformed', { jwksAnswer: { status: 302, headers: { location: '/jwks' } } }],
    ['server-error', { jwksAnswer: { status: 500 } }],
  ] as const
  for (const [reason, fault] of rows) {
    op.fault = fault
    const error = await failure(t, relyingParty(op).check())
    t.equal(error.reason, reason, `${reason} ${JSON.stringify(fault)}`)
  }
})
