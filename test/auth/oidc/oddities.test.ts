import t from 'tap'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { OidcClientConfig } from '#src/config/providers/providers.ts'
import type { Faults } from '#test/support/provider/hostile-provider.ts'
import {
  attempt,
  clientId,
  clock,
  ecKey,
  now,
  type Opponent,
  redirectUri,
  relyingParty,
  rsaKey,
  startProvider,
} from '#test/support/provider/sign-in-attempt.ts'

/*
 * What we use is checked strictly; what we do not use cannot stop a sign-in. Each row is an answer
 * that some provider sends, and the value that is read from it. More are in unused-members.test.ts.
 */

type Row = {
  does: string
  fault: Partial<Faults> | ((op: Opponent) => Partial<Faults>)
  config?: Partial<OidcClientConfig>
  /** Part of the completed sign-in. */
  reads?: object
}

const absent = [null, '', 0, 7, true, [], {}]
const stored = { storeTokens: true }

/** The same member with every value that counts as absent. */
function each(member: string, fault: (value: unknown) => Partial<Faults>, rest: Partial<Row> = {}) {
  return absent.map((value): Row => {
    return { does: `${member} ${JSON.stringify(value)}`, fault: fault(value), ...rest }
  })
}

const metadataRows: Row[] = [
  ...[
    ...['end_session_endpoint', 'revocation_endpoint', 'userinfo_endpoint', 'scopes_supported'],
    ...['id_token_signing_alg_values_supported', 'response_types_supported', 'claims_supported'],
    ...['registration_endpoint', 'mtls_endpoint_aliases', 'token_endpoint_auth_methods_supported'],
  ].flatMap((name) => each(`metadata ${name}`, (value) => ({ metadata: { [name]: value } }))),
  ...['end_session_endpoint', 'revocation_endpoint', 'userinfo_endpoint'].flatMap((name) =>
    ['relative', 'http://op.example/x', 'javascript:alert(1)', 'https://u:p@op.example/x'].map(
      (url): Row => ({ does: `metadata ${name} ${url}`, fault: { metadata: { [name]: url } } }),
    ),
  ),
  {
    does: 'metadata iss parameter announced as text',
    fault: { metadata: { authorization_response_iss_parameter_supported: 'true' } },
  },
  {
    does: 'metadata iss parameter announced as null',
    fault: { metadata: { authorization_response_iss_parameter_supported: null } },
  },
  {
    does: 'metadata as text/plain',
    fault: { metadataAnswer: { headers: { 'content-type': 'text/plain' } } },
  },
]

const keyRows: Row[] = [
  {
    does: 'a key listed twice, once without use and alg',
    fault: { jwks: { keys: [{ ...rsaKey.jwk, use: undefined, alg: undefined }, rsaKey.jwk] } },
  },
  { does: 'an empty key_ops', fault: { jwks: { keys: [{ ...rsaKey.jwk, key_ops: [] }] } } },
  ...[null, '', 7, {}].map((kid): Row => {
    const does = `header kid ${JSON.stringify(kid)} with one matching key`
    return { does, fault: { header: { kid }, jwks: { keys: [rsaKey.jwk, ecKey.jwk] } } }
  }),
]

const responseRows: Row[] = [
  ...[
    [3_600, 3_600],
    [0, 0],
    [1e300, 366 * 86_400],
    [true, null],
    ['1e9', null],
  ].map(([expires_in, expiresIn]): Row => {
    const does = `expires_in ${JSON.stringify(expires_in)}`
    return {
      does,
      fault: { tokenBody: { expires_in } },
      config: stored,
      reads: { tokens: { expiresIn } },
    }
  }),
  {
    does: 'scope is a list',
    fault: { tokenBody: { scope: ['openid', 'user:read:email'] } },
    config: stored,
    reads: { tokens: { scope: 'openid user:read:email' } },
  },
  {
    does: 'scope is separated by commas',
    fault: { tokenBody: { scope: 'openid,user:read:email' } },
    config: stored,
    reads: { tokens: { scope: 'openid user:read:email' } },
  },
  {
    does: 'members of an error beside the tokens',
    fault: { tokenBody: { ok: true, error: null, error_description: '', not_before: 0 } },
  },
  { does: 'token response as json', fault: { token: { headers: { 'content-type': 'json' } } } },
]

const idTokenRows: Row[] = [
  ...absent.map((sid): Row => {
    const does = `sid ${JSON.stringify(sid)}`
    return { does, fault: { claims: { sid } }, reads: { sessionId: null } }
  }),
  {
    does: 'auth_time with a fraction',
    fault: { claims: { auth_time: now - 0.5 } },
    reads: { authenticatedAt: now - 1 },
  },
  ...absent.map((email): Row => {
    const does = `email ${JSON.stringify(email)}`
    return { does, fault: { claims: { email } }, reads: { email: null, emailVerified: false } }
  }),
  ...[null, '', 'true', 'TRUE', 1, '1', {}, [true]].map((email_verified): Row => {
    const does = `email_verified ${JSON.stringify(email_verified)} is not verified`
    return { does, fault: { claims: { email_verified } }, reads: { emailVerified: false } }
  }),
]

const withUserinfo = { userinfo: true }
const bare = { email: undefined, email_verified: undefined, name: undefined }

const userinfoRows: Row[] = [
  ...[null, '', 7, []].map((email): Row => {
    const does = `id_token email ${JSON.stringify(email)} is completed by userinfo`
    const told = { email: 'ada@example.com', email_verified: true }
    const fault = { claims: { ...bare, email }, userinfo: told }
    return { does, fault, config: withUserinfo, reads: { email: told.email, emailVerified: true } }
  }),
  ...[null, '', 7, [], {}].map((value): Row => {
    const does = `userinfo with members ${JSON.stringify(value)}`
    const userinfo = {
      email: value,
      email_verified: value,
      name: value,
      sid: value,
      address: value,
    }
    const fault = { claims: bare, userinfo }
    return {
      does,
      fault,
      config: withUserinfo,
      reads: { email: null, name: null, sessionId: null },
    }
  }),
  ...['Application/JSON; charset=utf-8', 'JSON'].map((type): Row => {
    const fault = { userinfoAnswer: { headers: { 'content-type': type } } }
    return { does: `userinfo as ${type}`, fault, config: withUserinfo }
  }),
  {
    does: 'signed userinfo with odd members',
    fault: { signedUserinfo: { iss: null, aud: '', exp: null, nbf: 'x', iat: '' } },
    config: withUserinfo,
  },
  {
    does: 'signed userinfo for several clients',
    fault: { signedUserinfo: { aud: ['other', clientId] } },
    config: withUserinfo,
  },
]

t.afterEach(() => {
  clock.seconds = now
})

const tables = { metadataRows, keyRows, responseRows, idTokenRows, userinfoRows }
for (const [name, rows] of Object.entries(tables)) {
  t.test(`oddities that stop no sign-in: ${name}`, async (t) => {
    const op = await startProvider(t)
    for (const { does, fault, config = {}, reads = {} } of rows) {
      const faults = typeof fault === 'function' ? fault(op) : fault
      const { outcome, reason } = await attempt(t, op, faults, relyingParty(op, config))
      t.equal(reason, null, does)
      t.match(outcome, { issuer: op.issuer, subject: 'subject-1', ...reads }, does)
    }
  })
}

t.test('an optional endpoint that must not be used is not used', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  const insecure = 'http://op.example/x'
  op.fault = { metadata: { end_session_endpoint: insecure, revocation_endpoint: insecure } }
  t.equal(await provider.endSessionUrl(redirectUri, 'state'), null)
  await t.rejects(
    provider.revoke({ text: 'x', kind: 'refresh_token' }),
    new ProviderUnavailable('metadata-endpoint-insecure'),
    'a revocation is tried again later, not given up',
  )
})

t.test('the address of the id_token is never verified by that of userinfo', async (t) => {
  const op = await startProvider(t)
  const fault = {
    claims: { email: 'ada@example.com', email_verified: undefined },
    userinfo: { email: 'eve@example.com', email_verified: true },
  }
  const { outcome } = await attempt(t, op, fault, relyingParty(op, withUserinfo))
  t.match(outcome, { email: 'ada@example.com', emailVerified: false })
})
