import { exportJWK, generateKeyPair } from 'jose'
import type { Faults, HostileProvider } from './hostile-provider.ts'
import { type Json, makeKey, rotatedKey } from './hostile-tokens.ts'
import { type LogoutFaults, logoutEvent } from './logout-request.ts'
import { rsaKey } from './sign-in-journey.ts'

/** Faults, or a function of the provider and the time in Unix seconds. */
export type CaseFaults = Partial<Faults> | ((op: HostileProvider, now: number) => Partial<Faults>)

/** Calls to the token endpoint and the key set after the callback. */
export type Further = { token: number; jwks: number }

/** One row: a fault of the provider or of an attacker, and the expected result. */
export type Case = { id: string; does: string } & (
  | { expect: 'accepted'; faults: CaseFaults; settings: Settings; sent?: RegExp }
  | { expect: 'refused'; faults: CaseFaults; settings: Settings; reason: string; further: Further }
  | { expect: 'unavailable at the start'; faults: CaseFaults; reason: string }
  | { expect: 'unavailable'; faults: CaseFaults; reason: string; further: Further }
  | { expect: 'bad state'; change: (state: string) => [string, string][] }
  | { expect: 'logout accepted'; logout: LogoutFaults }
  | { expect: 'logout refused'; logout: LogoutFaults; reason: string }
  | { expect: 'signed-out page'; state: (state: string) => string | null }
  | { expect: 'tested apart'; file: string }
  | { expect: 'not applicable'; because: string }
)

type Settings = Record<string, string>

export const untouched = { token: 0, jwks: 0 }
export const exchanged = { token: 1, jwks: 0 }
export const keysRead = { token: 1, jwks: 1 }
export const keysRenewed = { token: 1, jwks: 2 }

export function accepted(
  id: string,
  does: string,
  faults: CaseFaults = {},
  settings: Settings = {},
  sent?: RegExp,
): Case {
  return { id, does, expect: 'accepted', faults, settings, ...(sent ? { sent } : {}) }
}

export function refused(
  id: string,
  does: string,
  reason: string,
  faults: CaseFaults,
  further: Further = exchanged,
  settings: Settings = {},
): Case {
  return { id, does, expect: 'refused', faults, reason, further, settings }
}

export const claims = (changes: Json): Partial<Faults> => ({ claims: changes })

function logoutRefused(id: string, does: string, reason: string, logout: LogoutFaults): Case {
  return { id, does, expect: 'logout refused', logout, reason: `logout-token-${reason}` }
}

function notApplicable(id: string, does: string, because: string): Case {
  return { id, does, expect: 'not applicable', because }
}

/** A row about stored tokens: its test, named after it, is in `file`. */
function testedApart(id: string, does: string, file: string): Case {
  return { id, does, expect: 'tested apart', file }
}

const userinfo = { OIDC_DEMO_USERINFO: 'true' }
const toldApart = { claims: { email: undefined }, userinfo: { email: 'ada@example.com' } }

export const ecKey = await makeKey('ES256', 'ec-1')
const okpKey = await exportJWK((await generateKeyPair('EdDSA')).publicKey)
const further = [rsaKey, await rotatedKey('RS256'), await rotatedKey('RS256')]
const withoutKid = (jwk: object) => ({ ...jwk, kid: undefined })
const basic = { OIDC_DEMO_CLIENT_AUTH: 'client_secret_basic' }
const es256 = { OIDC_DEMO_ID_TOKEN_ALG: 'ES256' }
const rotate = (op: HostileProvider) => async () =>
  void op.keys.splice(0, 1, await rotatedKey('RS256'))

/** The relying-party modules of the OpenID Foundation's plans, by the numbers of the design. */
export const planCases: readonly Case[] = [
  accepted('B1', 'honest', {}, {}, /grant_type=authorization_code&.*client_secret=/),
  refused('B2', 'iss = issuer + "1"', 'id-token-issuer', ({ issuer }) =>
    claims({ iss: `${issuer}1` }),
  ),
  refused('B3', 'no sub', 'id-token-subject', claims({ sub: undefined })),
  refused('B4', 'aud = client id + "1"', 'id-token-audience', claims({ aud: 'gatehouse-test1' })),
  refused('B5', 'no iat', 'id-token-issued-at', claims({ iat: undefined })),
  accepted('B6', 'no kid, one key per type', {
    header: { kid: undefined },
    jwks: { keys: [rsaKey.jwk, ecKey.jwk, okpKey].map(withoutKid) },
  }),
  refused(
    'B7',
    'no kid, three RSA keys',
    'id-token-key',
    { header: { kid: undefined }, jwks: { keys: further.map(({ jwk }) => withoutKid(jwk)) } },
    keysRead,
  ),
  accepted('B8', 'honest RS256', { header: { alg: 'RS256' } }),
  refused('B9', 'alg none, listed in the metadata', 'id-token-algorithm', {
    header: { alg: 'none' },
  }),
  refused('B10', 'RS256, every byte changed', 'id-token-signature', broken(), keysRead),
  refused(
    'B11',
    'userinfo of another sub',
    'userinfo-subject',
    { userinfo: { sub: 'subject-1invalid' } },
    keysRead,
    userinfo,
  ),
  refused('B12', 'nonce of another sign-in', 'id-token-nonce', claims({ nonce: 'sent1' })),
  accepted('B13', 'honest; profile and email are requested'),
  accepted('B14', 'takes HTTP Basic', {}, basic, /^(?!.*client_secret)/),
  accepted('C1', 'waits for discovery'),
  accepted('C2', 'jwks_uri with a suffix', ({ issuer }) => ({
    metadata: { jwks_uri: `${issuer}/jwks-3f1c` },
  })),
  {
    id: 'C3',
    does: 'metadata issuer + "INVALID"',
    expect: 'unavailable at the start',
    faults: ({ issuer }) => ({ metadata: { issuer: `${issuer}INVALID` } }),
    reason: 'metadata-issuer-mismatch',
  },
  refused('C4', 'alg none', 'id-token-algorithm', { header: { alg: 'none' } }),
  accepted('C5', 'keys rotated right before signing', (op) => ({ beforeSigning: rotate(op) })),
  accepted('C6', 'keys rotated between two sign-ins', (op) => ({ beforeSigning: rotate(op) })),
  refused('D1', 'no aud', 'id-token-audience', claims({ aud: undefined })),
  refused('D2', 'HS256 with an invalid MAC', 'id-token-algorithm', {
    header: { alg: 'HS256' },
    corruptSignature: true,
  }),
  refused('D3', 'ES256, invalid signature', 'id-token-signature', broken(), keysRead, es256),
  accepted('D4', 'userinfo, bearer in the header', toldApart, userinfo),
  accepted(
    'D5',
    'userinfo, signed',
    { ...toldApart, signedUserinfo: { aud: 'gatehouse-test' } },
    userinfo,
  ),
  testedApart('D6', 'aggregated, distributed claims', 'test/auth/oidc/userinfo.test.ts'),
  notApplicable('D7', 'mtls_endpoint_aliases', 'Client certificates are not offered.'),
  refused(
    'D8',
    'error=login_required with the right state',
    'provider-error',
    { callback: { code: undefined, error: 'login_required' } },
    untouched,
  ),
  notApplicable('D9', 'request objects by reference', 'No request object is ever sent.'),
  notApplicable('D10', 'WebFinger, registration', 'Providers are configured by name.'),
  testedApart('R1', 'refresh, honest', 'test/auth/provider-tokens/access.test.ts'),
  testedApart(
    'R2',
    'refreshed id_token of another iss',
    'test/auth/provider-tokens/lost-answer.test.ts',
  ),
  testedApart(
    'R3',
    'refreshed id_token of another sub',
    'test/auth/provider-tokens/lost-answer.test.ts',
  ),
  { id: 'L1', does: 'valid logout token', expect: 'logout accepted', logout: {} },
  logoutRefused('L2', 'alg none', 'algorithm', { header: { alg: 'none' } }),
  logoutRefused('L3', 'no events', 'event', { claims: { events: undefined } }),
  logoutRefused('L4', 'a nonce', 'nonce', { claims: { nonce: 'x' } }),
  logoutRefused('L5', 'published ES256 key where RS256 is configured', 'algorithm', { key: ecKey }),
  logoutRefused('L6', 'aud + "INVALID"', 'audience', { claims: { aud: 'gatehouse-testINVALID' } }),
  logoutRefused('L7', 'another event', 'event', {
    claims: { events: { [`${logoutEvent}2`]: {} } },
  }),
  logoutRefused('L8', 'another iss', 'issuer', { claims: { iss: 'http://127.0.0.1:9INVALID' } }),
  {
    id: 'L9',
    does: 'returns with the state (no id_token_hint: specification 12)',
    expect: 'signed-out page',
    state: (state) => state,
  },
  {
    id: 'L10',
    does: 'returns with state + "_INVALID"',
    expect: 'signed-out page',
    state: (state) => `${state}_INVALID`,
  },
  { id: 'L11', does: 'returns without state', expect: 'signed-out page', state: () => null },
  notApplicable('L12', 'front-channel iframe', 'SameSite=Lax cookies do not reach an iframe.'),
  notApplicable('L13', 'front-channel, OP-initiated', 'As L12; the back channel does this.'),
  notApplicable('L14', 'check-session iframe', 'Our pages run no scripts and cannot be framed.'),
]

function broken(): Partial<Faults> {
  return { corruptSignature: true }
}
