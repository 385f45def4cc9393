import t from 'tap'
import { randomPending } from '#src/auth/oidc/client.ts'
import {
  attempt,
  failure,
  redirectUri,
  relyingParty,
  startProvider,
} from '#test/support/provider/sign-in-attempt.ts'

type Parameters = Record<string, string | undefined>
const promised = { authorization_response_iss_parameter_supported: true }
const untouched = { metadata: 1, jwks: 0, token: 0 }

t.test('RFC 9207: iss of the response', async (t) => {
  const op = await startProvider(t)
  const rows: [string, object, Parameters, string | null][] = [
    ['present and right', {}, { iss: op.issuer }, null],
    ['absent, not promised', {}, {}, null],
    ['promised and right', promised, { iss: op.issuer }, null],
    ['promised and absent', promised, {}, 'iss-missing'],
    ['of another provider', {}, { iss: 'https://other.example' }, 'iss-mismatch'],
    ['with a slash more', {}, { iss: `${op.issuer}/` }, 'iss-mismatch'],
    ['empty', {}, { iss: '' }, 'iss-mismatch'],
    ['announced and empty', promised, { iss: '' }, 'iss-mismatch'],
    ['checked before error', {}, { iss: 'x', error: 'access_denied' }, 'iss-mismatch'],
    ['checked before code', promised, { code: undefined }, 'iss-missing'],
  ]
  for (const [name, metadata, callback, reason] of rows) {
    const result = await attempt(t, op, { metadata: { ...metadata }, callback })
    t.equal(result.reason, reason, name)
    if (reason !== null) t.same(result.calls, untouched, `${name}: no exchange`)
  }
})

t.test('only the boolean true in the metadata announces `iss`', async (t) => {
  const op = await startProvider(t)
  const metadata = { authorization_response_iss_parameter_supported: 'true' }
  t.equal((await attempt(t, op, { metadata })).reason, null)
})

t.test('an error refuses the sign-in; only a standard error code is recorded (D8)', async (t) => {
  const op = await startProvider(t)
  const rows: [string, string | null][] = [
    ['login_required', 'login_required'],
    ['access_denied', 'access_denied'],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['a'.repeat(65), null],
    ['<script>', null],
    ['access_denied\n', null],
    ['Access_denied', null],
    ['', null],
  ]
  for (const [error, providerError] of rows) {
    const result = await attempt(t, op, { callback: { error, error_description: 'grant_x' } })
    t.equal(result.reason, 'provider-error', error)
    t.match(result.error, { providerError })
    t.same(result.calls, untouched)
  }
})

t.test('the response must contain one code and no parameter of another flow', async (t) => {
  const op = await startProvider(t)
  const rows: [string, Parameters, string][] = [
    ['no code', { code: undefined }, 'code-missing'],
    ['empty code', { code: '' }, 'code-missing'],
    ['another state', { state: 'x' }, 'response-malformed'],
    ['no state', { state: undefined }, 'response-malformed'],
    ['id_token of the hybrid flow', { id_token: 'x' }, 'response-malformed'],
    ['response as a JWT', { response: 'x' }, 'response-malformed'],
  ]
  for (const [name, callback, reason] of rows) {
    const result = await attempt(t, op, { callback })
    t.equal(result.reason, reason, name)
    t.same(result.calls, untouched, `${name}: no exchange`)
  }
})

t.test('a repeated parameter is refused, even with equal values', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  const rows: [string, string][] = [
    ['code', 'code-doubled'],
    ['iss', 'iss-mismatch'],
    ['error', 'provider-error'],
    ['state', 'response-malformed'],
  ]
  for (const [name, reason] of rows) {
    const pending = randomPending()
    op.fault = name === 'iss' ? { callback: { iss: op.issuer } } : {}
    const parameters = op.approve(await provider.authorizationUrl(pending, redirectUri))
    if (name === 'error') parameters.append('error', 'login_required')
    parameters.append(name, parameters.get(name) ?? '')
    const error = await failure(t, provider.exchange(parameters, pending, redirectUri))
    t.equal(error.reason, reason, name)
  }
  t.equal(op.calls.token, 0)
})

t.test('two providers: the response of one is refused for the other', async (t) => {
  const [honest, other] = [await startProvider(t), await startProvider(t)]
  const pending = randomPending()
  const url = await relyingParty(honest).authorizationUrl(pending, redirectUri)
  honest.fault = { callback: { iss: honest.issuer } }
  const parameters = honest.approve(url)
  const error = await failure(t, relyingParty(other).exchange(parameters, pending, redirectUri))
  t.equal(error.reason, 'iss-mismatch')
  t.equal(other.calls.token, 0, 'the code was not sent')
})
