import t from 'tap'
import { randomPending } from '#src/auth/oidc/client.ts'
import { discover, type MetadataRules } from '#src/auth/oidc/discovery/discovery.ts'
import type { Faults } from '#test/support/provider/hostile-provider.ts'
import {
  attempt,
  clock,
  failure,
  now,
  redirectUri,
  relyingParty,
  startProvider,
} from '#test/support/provider/sign-in-attempt.ts'

const deadlineMs = 60

t.afterEach(() => {
  clock.seconds = now
})

t.test('invalid metadata refuses the sign-in before the authorization request', async (t) => {
  const op = await startProvider(t)
  const { issuer } = op
  const answer = (body: string) => ({ metadataAnswer: { body } })
  const rows: [string, Partial<Faults>, string][] = [
    ['C3 another issuer', { metadata: { issuer: `${issuer}INVALID` } }, 'metadata-issuer-mismatch'],
    ['another path', { metadata: { issuer: `${issuer}/x` } }, 'metadata-issuer-mismatch'],
    ['same URL, other text', { metadata: { issuer: `${issuer}/` } }, 'metadata-issuer-mismatch'],
    ['no issuer', { metadata: { issuer: undefined } }, 'metadata-malformed'],
    ['issuer a list', { metadata: { issuer: [issuer] } }, 'metadata-malformed'],
    ['a list', answer('[]'), 'metadata-malformed'],
    ['no JSON', answer('<html>'), 'metadata-malformed'],
    ['empty', answer(''), 'metadata-malformed'],
    ['404', { metadataAnswer: { status: 404 } }, 'metadata-malformed'],
    ['204', { metadataAnswer: { status: 204, body: '' } }, 'metadata-malformed'],
    ['redirect', { metadataAnswer: redirectTo(`${issuer}/moved`) }, 'metadata-malformed'],
    ['500', { metadataAnswer: { status: 500 } }, 'server-error'],
    ['over 1 MiB', answer(`"${'a'.repeat(1024 * 1024 - 1)}"`), 'too-large'],
    ['endless', { metadataAnswer: 'endless' }, 'too-large'],
    ['broken off', { metadataAnswer: 'reset' }, 'network'],
  ]
  for (const [name, fault, reason] of rows) {
    const result = await attempt(t, op, fault)
    t.equal(result.reason, reason, name)
    t.same(result.calls, { metadata: 1, jwks: 0, token: 0 }, name)
  }
  t.notOk(
    op.requests.some(({ url }) => url === '/moved'),
    'redirects are not followed',
  )
})

t.test('metadata of exactly 1 MiB is read', async (t) => {
  const op = await startProvider(t)
  await relyingParty(op).check()
  const { issuer } = op
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
  }
  const body = JSON.stringify(metadata).padEnd(1024 * 1024)
  t.equal((await attempt(t, op, { metadataAnswer: { body } })).reason, null)
})

t.test('a provider that does not answer in time is unavailable', async (t) => {
  const op = await startProvider(t)
  const result = await attempt(
    t,
    op,
    { metadataAnswer: 'hang' },
    relyingParty(op, {}, { deadlineMs }),
  )
  t.equal(result.reason, 'timeout')
  await op.close()
  const gone = await failure(t, relyingParty(op).check())
  t.match(gone, { reason: 'network', retryAfterSeconds: 30 })
})

t.test('endpoints are required and use https, or http on loopback if allowed', async (t) => {
  const op = await startProvider(t)
  const rows: [unknown, string][] = [
    [undefined, 'metadata-endpoint-missing'],
    ['', 'metadata-endpoint-missing'],
    ['/relative', 'metadata-endpoint-missing'],
    [['https://op.example'], 'metadata-endpoint-missing'],
    ['https://*/x', 'metadata-endpoint-missing'],
    ['https://*.op.example/x', 'metadata-endpoint-missing'],
    ['https://op;script-src-elem/x', 'metadata-endpoint-missing'],
    ["https://op'/x", 'metadata-endpoint-missing'],
    ['https://op,x/x', 'metadata-endpoint-missing'],
    ['http://op.example/x', 'metadata-endpoint-insecure'],
    ['http://127.0.0.1.op.example/x', 'metadata-endpoint-insecure'],
    ['http://10.0.0.1/x', 'metadata-endpoint-insecure'],
    ['javascript:alert(1)', 'metadata-endpoint-insecure'],
    ['data:text/html,x', 'metadata-endpoint-insecure'],
    ['file:///etc/passwd', 'metadata-endpoint-insecure'],
    ['https://user:password@op.example/x', 'metadata-endpoint-insecure'],
    ['https://user@op.example/x', 'metadata-endpoint-insecure'],
  ]
  for (const member of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) {
    for (const [value, reason] of rows) {
      const result = await attempt(t, op, { metadata: { [member]: value } })
      t.equal(result.reason, reason, `${member}: ${value}`)
      t.same(result.calls, { metadata: 1, jwks: 0, token: 0 })
    }
  }
})

t.test('http is refused if it is not allowed, also on loopback', async (t) => {
  const op = await startProvider(t)
  const error = await failure(t, relyingParty(op, { allowInsecure: false }).check())
  t.equal(error.reason, 'metadata-endpoint-insecure')
  t.equal(op.calls.metadata, 0)
  const remote = { issuer: 'http://op.example' }
  t.equal((await failure(t, relyingParty(op, remote).check())).reason, 'metadata-endpoint-insecure')
})

t.test('an endpoint may be on another host, but not on that of another provider', async (t) => {
  const published = {
    issuer: 'https://accounts.example',
    authorization_endpoint: 'https://accounts.example/authorize',
    token_endpoint: 'https://oauth2.apis.example/token',
    jwks_uri: 'https://www.apis.example/certs',
  }
  const rules: MetadataRules = {
    issuer: published.issuer,
    issuerTemplate: null,
    metadataUrl: null,
    allowInsecure: false,
    otherIssuers: ['https://login.example/tenant'],
  }
  const answer = (body: object) => async () => Response.json(body)
  t.match(await discover(rules, answer(published)), published)
  const sibling = { ...rules, otherIssuers: ['https://accounts.example/realm'] }
  t.match(await discover(sibling, answer(published)), published, 'two issuers on one host')
  for (const member of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) {
    const moved = { ...published, [member]: 'https://login.example/token' }
    const error = await failure(t, discover(rules, answer(moved)))
    t.equal(error.reason, 'metadata-endpoint-foreign', member)
  }
})

t.test('concurrent sign-ins share one fetch of the metadata', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  const start = () => provider.authorizationUrl(randomPending(), redirectUri)
  await Promise.all(Array.from({ length: 20 }, start))
  t.equal(op.calls.metadata, 1)
})

t.test('metadata is cached for an hour; a failed fetch is not cached', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  t.equal(
    (await attempt(t, op, { metadataAnswer: { status: 503 } }, provider)).reason,
    'server-error',
  )
  t.equal((await attempt(t, op, {}, provider)).calls.metadata, 1, 'fetched again')
  clock.seconds = now + 3_599
  t.equal((await attempt(t, op, {}, provider)).calls.metadata, 0)
  clock.seconds = now + 3_600
  t.equal((await attempt(t, op, {}, provider)).calls.metadata, 1)
})

t.test('Retry-After of the provider is passed on, limited to an hour', async (t) => {
  const op = await startProvider(t)
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT' // of the answer
  const rows: [string, number][] = [
    ['7', 7],
    ['0', 1],
    ['3600', 3_600],
    ['3601', 3_600],
    ['-1', 30],
    ['soon', 30],
    ['Wed, 21 Oct 2026 07:29:30 GMT', 90],
    ['Wed, 21 Oct 2026 09:28:00 GMT', 3_600],
    ['Wed, 21 Oct 2026 07:00:00 GMT', 1],
    ['2026-10-21', 30],
    ['Wed, 41 Oct 2026 07:29:30 GMT', 30],
  ]
  for (const [value, retryAfterSeconds] of rows) {
    for (const status of [429, 503]) {
      const metadataAnswer = { status, headers: { date, 'retry-after': value } }
      const { error } = await attempt(t, op, { metadataAnswer })
      t.match(error, { reason: 'server-error', retryAfterSeconds }, `${status} ${value}`)
    }
  }
})

function redirectTo(location: string) {
  return { status: 302, headers: { location }, body: '' }
}
