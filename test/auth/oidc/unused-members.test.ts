import t from 'tap'
import type { Faults } from '#test/support/provider/hostile-provider.ts'
import {
  attempt,
  ecKey,
  now,
  relyingParty,
  rsaKey,
  startProvider,
} from '#test/support/provider/sign-in-attempt.ts'

const honest = {
  issuer: String,
  subject: 'subject-1',
  email: 'ada@example.com',
  emailVerified: true,
  name: 'Ada',
  sessionId: null,
}
/** What providers write where others leave an optional member out. */
const nothing = [null, '', [], {}, 7, false]

/** Ordinary oddities of providers, by what carries them. Each must sign the same person in. */
const oddities: Record<string, Partial<Faults>[]> = {
  'the token response': [
    ...nothing.map((refresh_token) => ({ tokenBody: { refresh_token } })),
    ...nothing.map((expires_in) => ({ tokenBody: { expires_in } })),
    ...nothing.map((scope) => ({ tokenBody: { scope } })),
    ...nothing.map((unknown) => ({ tokenBody: { unknown } })),
    { tokenBody: { expires_in: '3600' } },
    { tokenBody: { expires_in: 'soon' } },
    { tokenBody: { expires_in: -1 } },
    { tokenBody: { expires_in: 3600.5 } },
    { tokenBody: { scope: ['openid', 'email'] } },
    { tokenBody: { scope: 'openid\0' } },
    { tokenBody: { scope: 'openid "x"' } },
    { tokenBody: { refresh_token: 'x\n' } },
    { tokenBody: { token_type: 'bearer' } },
    { tokenBody: { token_type: 'BEARER' } },
    { token: { headers: { 'content-type': 'APPLICATION/JSON;charset=UTF-8' } } },
  ],
  'the claims': [
    { claims: { iat: now - 0.5, exp: now + 300.5 } },
    { claims: { iat: now, exp: now + 300.000001 } },
    { claims: { nbf: null } },
    { claims: { nbf: now - 0.5 } },
    ...[null, '', 'x', [now], 0].map((auth_time) => ({ claims: { auth_time } })),
    { claims: { azp: null } },
    { claims: { azp: '' } },
    { claims: { at_hash: null } },
    { claims: { at_hash: '' } },
    { claims: { acr: null, amr: '', sid: null, locale: '', phone_number_verified: null } },
    ...nothing.map((unknown) => ({ claims: { unknown } })),
  ],
  'the header': [
    { header: { typ: 'jwt' } },
    { header: { typ: 'Jwt' } },
    { header: { typ: 'application/jwt' } },
    { header: { typ: 'application/JWT' } },
    { header: { typ: null } },
    { header: { typ: '' } },
    { header: { cty: '', x5t: null } },
  ],
  'the keys': [
    { jwks: { keys: [rsaKey.jwk, rsaKey.jwk] } },
    { jwks: { keys: [rsaKey.jwk, { ...rsaKey.jwk, x5c: ['MIIB'], x5t: 'x' }] } },
    { jwks: { keys: [Object.fromEntries(Object.entries(rsaKey.jwk).reverse()), rsaKey.jwk] } },
    { jwks: { keys: [{ ...rsaKey.jwk, use: 'enc' }, rsaKey.jwk] } },
    { jwks: { keys: [{ ...rsaKey.jwk, use: null, alg: '', key_ops: null, x5c: null }] } },
    { jwks: { keys: [{ ...rsaKey.jwk, n: '' }, rsaKey.jwk] } },
    { jwks: { keys: [rsaKey.jwk, { ...rsaKey.jwk, e: null }, { ...rsaKey.jwk, n: undefined }] } },
    { jwks: { keys: [null, 'x', {}, { kty: 'XYZ' }, ecKey.jwk, rsaKey.jwk] } },
    { jwksAnswer: { headers: { 'content-type': 'application/jwk-set+json' } } },
  ],
  metadata: [
    ...['end_session_endpoint', 'userinfo_endpoint', 'revocation_endpoint'].flatMap((endpoint) =>
      [...nothing, '/relative', 'not a URL'].map((value) => ({ metadata: { [endpoint]: value } })),
    ),
    { metadata: { userinfo_endpoint: 'http://10.0.0.1/userinfo' } },
    { metadata: { revocation_endpoint: 'http://10.0.0.1/revoke' } },
    { metadata: { authorization_response_iss_parameter_supported: null } },
    { metadata: { scopes_supported: null, claims_supported: '', jwks: null } },
    { metadata: { id_token_signing_alg_values_supported: null } },
  ],
}

for (const [carrier, faults] of Object.entries(oddities)) {
  t.test(`what is not used cannot stop a sign-in: ${carrier}`, async (t) => {
    const op = await startProvider(t)
    for (const fault of faults) {
      const name = JSON.stringify(fault).slice(0, 120)
      const { outcome, reason } = await attempt(t, op, fault)
      t.equal(reason, null, name)
      t.match(outcome, honest, name)
    }
  })
}

t.test('a badly typed optional member of the response counts as absent when stored', async (t) => {
  const op = await startProvider(t)
  const scopes = 'openid email offline_access'
  const provider = relyingParty(op, { storeTokens: true, scopes })
  const rows: [object, object][] = [
    [{ refresh_token: null }, { refreshToken: null, expiresIn: 300, scope: scopes }],
    [{ refresh_token: '' }, { refreshToken: null }],
    [{ refresh_token: ['x'] }, { refreshToken: null }],
    [
      { refresh_token: 'kept', scope: null },
      { refreshToken: 'kept', scope: scopes },
    ],
    [{ scope: ['openid', 'email'] }, { scope: 'openid email' }],
    [{ scope: '' }, { scope: scopes }],
    [{ scope: 'openid' }, { scope: 'openid' }],
    [{ expires_in: null }, { expiresIn: null }],
    [{ expires_in: '' }, { expiresIn: null }],
    [{ expires_in: '3600' }, { expiresIn: 3_600 }],
    [{ expires_in: 3_600.9 }, { expiresIn: 3_600 }],
    [{ expires_in: -1 }, { expiresIn: null }],
  ]
  for (const [tokenBody, tokens] of rows) {
    const name = JSON.stringify(tokenBody)
    const { outcome, reason } = await attempt(t, op, { tokenBody: { ...tokenBody } }, provider)
    t.equal(reason, null, name)
    t.match(outcome, { tokens }, name)
  }
})

t.test('null and empty members of userinfo count as absent', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op, { userinfo: true })
  const bare = { email: undefined, email_verified: undefined, name: undefined }
  const told = { email: 'bob@example.com', email_verified: true, name: 'Bob' }
  const bob = { email: 'bob@example.com', emailVerified: true, name: 'Bob' }
  const rows: [Partial<Faults>, object][] = [
    [{ claims: { email: null, email_verified: null, name: '' }, userinfo: told }, bob],
    [{ claims: { ...bare, email: '' }, userinfo: told }, bob],
    [
      { claims: bare, userinfo: { ...told, name: null } },
      { ...bob, name: null },
    ],
    [{ claims: bare, userinfo: { ...told, address: null, updated_at: '' } }, bob],
    [{ claims: bare, userinfo: told, signedUserinfo: { exp: null, iat: '', nbf: null } }, bob],
    [{ claims: bare, userinfo: told, signedUserinfo: { iss: null, aud: null } }, bob],
    [
      { claims: bare, userinfo: { email: null, email_verified: true } },
      { email: null, emailVerified: false },
    ],
  ]
  for (const [fault, expected] of rows) {
    const { outcome, reason } = await attempt(t, op, fault, provider)
    t.equal(reason, null, JSON.stringify(fault))
    t.match(outcome, expected, JSON.stringify(fault))
  }
})

t.test('what is used is checked strictly all the same', async (t) => {
  const op = await startProvider(t)
  const rows: [Partial<Faults>, string][] = [
    [{ tokenBody: { access_token: null } }, 'token-response-malformed'],
    [{ tokenBody: { access_token: '' } }, 'token-response-malformed'],
    [{ tokenBody: { token_type: null } }, 'token-response-malformed'],
    [{ tokenBody: { id_token: null } }, 'id-token-missing'],
    [{ claims: { sub: null } }, 'id-token-subject'],
    [{ claims: { nonce: '' } }, 'id-token-nonce'],
    [{ claims: { aud: null } }, 'id-token-audience'],
    [{ claims: { iss: '' } }, 'id-token-issuer'],
    [{ claims: { exp: null } }, 'id-token-expired'],
    [{ claims: { iat: '' } }, 'id-token-issued-at'],
    [{ claims: { exp: now - 30.5 } }, 'id-token-expired'],
    [{ claims: { iat: now - 600.5 } }, 'id-token-issued-at'],
    [{ claims: { nbf: now + 300.5 } }, 'id-token-not-yet-valid'],
    [{ claims: { azp: ['gatehouse'] } }, 'id-token-azp'],
    [{ claims: { at_hash: 7 } }, 'id-token-at-hash'],
    [{ claims: { nbf: null }, corruptSignature: true }, 'id-token-signature'],
    [{ header: { typ: 'at+jwt' } }, 'id-token-type'],
    [{ header: { typ: ['JWT'] } }, 'id-token-type'],
    [{ jwks: { keys: [rsaKey.jwk, { ...rsaKey.jwk, e: 'AQAC' }] } }, 'id-token-key'],
  ]
  for (const [fault, reason] of rows) {
    t.equal((await attempt(t, op, fault)).reason, reason, JSON.stringify(fault).slice(0, 120))
  }
})
