import { makeKey } from '#test/support/provider/hostile-tokens.ts'
import {
  accepted,
  type Case,
  type CaseFaults,
  claims,
  exchanged,
  keysRead,
  keysRenewed,
  refused,
  untouched,
} from '#test/support/provider/sign-in-cases.ts'

const stranger = await makeKey('RS256', 'rsa-1')
const ecKey = await makeKey('ES256', 'ec-1')
const client = 'gatehouse-test'
const promised = { authorization_response_iss_parameter_supported: true }

/** A row about one time: `claim` is set to this many seconds from now. */
function timed(id: string, does: string, reason: string | null, shift: object): Case {
  const faults: CaseFaults = (_op, now) =>
    claims(Object.fromEntries(Object.entries(shift).map(([name, by]) => [name, now + by])))
  return reason === null ? accepted(id, does, faults) : refused(id, does, reason, faults)
}

function badState(id: string, does: string, change: (state: string) => [string, string][]): Case {
  return { id, does, expect: 'bad state', change }
}

function unavailable(id: string, does: string, reason: string, faults: CaseFaults, jwks = 0): Case {
  return { id, does, expect: 'unavailable', faults, reason, further: { token: 1, jwks } }
}

/** The design's own rules for the id_token, the response and the provider. */
const idTokenCases: readonly Case[] = [
  refused('S1', 'iss with a trailing slash', 'id-token-issuer', ({ issuer }) =>
    claims({ iss: `${issuer}/` }),
  ),
  refused('S2', 'sub of 256 characters', 'id-token-subject', claims({ sub: 'a'.repeat(256) })),
  accepted('S3', 'sub of 255 characters', claims({ sub: 'a'.repeat(255), email: undefined })),
  refused('S4', 'sub outside ASCII', 'id-token-subject', claims({ sub: 'é' })),
  refused('S5', 'sub is a number', 'id-token-subject', claims({ sub: 1 })),
  refused('S6', 'azp of another client', 'id-token-azp', claims({ azp: 'x' })),
  refused(
    'S7',
    'two audiences, azp is this client',
    'id-token-audience',
    claims({ aud: [client, 'x'] }),
  ),
  refused('S8', 'exp is text', 'id-token-expired', claims({ exp: '9999999999' })),
  accepted('S9', 'iat and exp are fractions', (_op, now) =>
    claims({ iat: now - 0.5, exp: now + 300.5 }),
  ),
  refused('S10', 'typ at+jwt', 'id-token-type', { header: { typ: 'at+jwt' } }),
  refused('S11', 'at_hash of another token', 'id-token-at-hash', claims({ at_hash: 'x' })),
  refused('S12', 'nonce missing', 'id-token-nonce', claims({ nonce: undefined })),
  refused('S13', 'alg nOnE', 'id-token-algorithm', { header: { alg: 'nOnE' } }),
  refused('S14', 'HS256 with our own secret', 'id-token-algorithm', { header: { alg: 'HS256' } }),
  refused('S15', 'published key, alg not configured', 'id-token-algorithm', { signingKey: ecKey }),
  refused('S16', 'unpublished key', 'id-token-signature', { signingKey: stranger }, keysRead),
  refused(
    'S17',
    'the key in the header',
    'id-token-signature',
    ({ issuer }) => ({
      signingKey: stranger,
      header: { jwk: stranger.jwk, jku: `${issuer}/stolen`, x5u: `${issuer}/stolen` },
    }),
    keysRead,
  ),
  refused('S18', 'unknown kid', 'id-token-key', { header: { kid: '../x' } }, keysRenewed),
  refused('S19', 'crit', 'id-token-malformed', { header: { crit: ['x'], x: 1 } }),
  refused('S20', 'no id_token', 'id-token-missing', { tokenBody: { id_token: undefined } }),
  refused('S21', 'JWE form', 'id-token-malformed', { idToken: (token) => `${token}.x.y` }),
  refused('S22', 'token response as text/html', 'token-response-malformed', {
    token: { headers: { 'content-type': 'text/html' } },
  }),
  refused('S23', 'token response redirects', 'token-response-malformed', ({ issuer }) => ({
    token: { status: 307, headers: { location: `${issuer}/stolen` }, body: '' },
  })),
  unavailable('S24', 'connection broken in the exchange', 'network', { token: 'reset' }),
  unavailable('S25', 'an endless token response', 'too-large', { token: 'endless' }),
  unavailable('S26', '503 in the exchange', 'server-error', { token: { status: 503 } }),
  unavailable('S27', 'key endpoint down', 'server-error', { jwksAnswer: { status: 500 } }, 1),
  {
    id: 'S28',
    does: 'metadata endpoint down',
    expect: 'unavailable at the start',
    faults: { metadataAnswer: 'reset' },
    reason: 'network',
  },
  {
    id: 'S29',
    does: 'an http token endpoint on another host',
    expect: 'unavailable at the start',
    faults: { metadata: { token_endpoint: 'http://10.0.0.1/token' } },
    reason: 'metadata-endpoint-insecure',
  },
  accepted('S30', 'an http end-session endpoint on another host, which is not used', {
    metadata: { end_session_endpoint: 'http://10.0.0.1/end' },
  }),
]

/** Times at −1 s, 0 and +1 s of their limits, by the clock. */
const timeCases: readonly Case[] = [
  timed('T1', 'exp 29 s ago', null, { exp: -29 }),
  timed('T2', 'exp 30 s ago', 'id-token-expired', { exp: -30 }),
  timed('T3', 'exp 31 s ago', 'id-token-expired', { exp: -31 }),
  timed('T4', 'iat 599 s ago', null, { iat: -599 }),
  timed('T5', 'iat 600 s ago', null, { iat: -600 }),
  timed('T6', 'iat 601 s ago', 'id-token-issued-at', { iat: -601 }),
  timed('T7', 'iat 599 s in the future', null, { iat: 599, exp: 900 }),
  timed('T8', 'iat 600 s in the future', null, { iat: 600, exp: 900 }),
  timed('T9', 'iat 601 s in the future', 'id-token-issued-at', { iat: 601, exp: 900 }),
  timed('T10', 'lifetime of a day minus 1 s', null, { exp: 86_399 }),
  timed('T11', 'lifetime of a day', null, { exp: 86_400 }),
  timed('T12', 'lifetime of a day and 1 s', 'id-token-lifetime', { exp: 86_401 }),
]

/** The rules of RFC 9700 and RFC 9207 for the client's callback. */
const callbackCases: readonly Case[] = [
  badState('F1', 'no state (RFC 9700, 4.7)', () => []),
  badState('F2', 'another state', () => [['state', 'x']]),
  badState('F3', 'the state twice', (state) => [
    ['state', state],
    ['state', state],
  ]),
  badState('F4', 'the state truncated', (state) => [['state', state.slice(0, -1)]]),
  badState('F5', 'an error without state', () => [['error', 'access_denied']]),
  refused(
    'F6',
    'iss of another issuer',
    'iss-mismatch',
    { callback: { iss: 'https://x' } },
    untouched,
  ),
  refused('F7', 'iss announced, not sent', 'iss-missing', { metadata: promised }, untouched),
  refused('F8', 'iss empty', 'iss-mismatch', { callback: { iss: '' } }, untouched),
  refused('F9', 'no code', 'code-missing', { callback: { code: undefined } }, untouched),
  refused('F10', 'a stolen code', 'exchange-rejected', { callback: { code: 'stolen' } }, exchanged),
  refused(
    'F11',
    'an id_token in the response',
    'response-malformed',
    { callback: { id_token: 'x' } },
    untouched,
  ),
  refused('F12', 'refuses the client', 'client-rejected', { secrets: [] }, exchanged),
]

export const ownCases: readonly Case[] = [...idTokenCases, ...timeCases, ...callbackCases]
