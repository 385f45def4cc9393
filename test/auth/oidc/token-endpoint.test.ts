import t from 'tap'
import type { Faults } from '#test/support/provider/hostile-provider.ts'
import {
  attempt,
  clientSecret,
  relyingParty,
  startProvider,
} from '#test/support/provider/sign-in-attempt.ts'

const once = { metadata: 1, jwks: 0, token: 1 }

const typed = (type: string) => ({ token: { headers: { 'content-type': type } } })

t.test('a token response that is not valid JSON of RFC 6749 is refused', async (t) => {
  const op = await startProvider(t)
  const honest = JSON.stringify({ access_token: 'x', token_type: 'Bearer', id_token: 'a.b.c' })
  const body = (text: string) => ({ token: { body: text } })
  const moved = { status: 307, headers: { location: `${op.issuer}/stolen` }, body: '' }
  const rows: [string, Partial<Faults>][] = [
    ['text/html', typed('text/html')],
    ['text/plain', typed('text/plain; charset=utf-8')],
    ['application/jsonp', typed('application/jsonp')],
    ['application/jwt', typed('application/jwt')],
    ['no JSON', body('access_token=x')],
    ['cut off', body('{"access_token":"x"')],
    ['empty', body('')],
    ['a list', body('[]')],
    ['null', body('null')],
    ['no access_token', { tokenBody: { access_token: undefined } }],
    ['access_token a number', { tokenBody: { access_token: 1 } }],
    ['no token_type', { tokenBody: { token_type: undefined } }],
    ['token_type mac', { tokenBody: { token_type: 'mac' } }],
    ['access_token with NUL', { tokenBody: { access_token: 'x\0' } }],
    ['status 201', { token: { status: 201, body: honest } }],
    ['status 204', { token: { status: 204, body: '' } }],
    ['status 404', { token: { status: 404, body: '<html>' } }],
    ['an error that is no text, with 200', body('{"error":{"code":1}}')],
    ['400 without error', { token: { status: 400, body: '{}' } }],
    ['400 in HTML', { token: { status: 400, body: '<html>' } }],
    ['redirect', { token: moved }],
  ]
  for (const [name, fault] of rows) {
    const result = await attempt(t, op, fault)
    t.equal(result.reason, 'token-response-malformed', name)
    t.same(result.calls, once, `${name}: no further call`)
  }
  t.notOk(
    op.requests.some(({ url }) => url === '/stolen'),
    'a redirect is not followed with the code',
  )
})

t.test('the JSON content type may have a charset and is case-insensitive', async (t) => {
  const op = await startProvider(t)
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;x',
  ]) {
    t.equal((await attempt(t, op, typed(type))).reason, null, type)
  }
  t.equal((await attempt(t, op, { tokenBody: { token_type: 'bearer' } })).reason, null)
})

t.test(
  'an error of the token endpoint refuses the sign-in; a standard error code is recorded',
  async (t) => {
    const op = await startProvider(t)
    const rows: [string, string | null][] = [
      ['invalid_grant', 'invalid_grant'],
      ['unauthorized_client', 'unauthorized_client'],
      ['grant_1234 is spent', null],
      ['A'.repeat(100), null],
    ]
    for (const [error, providerError] of rows) {
      const body = JSON.stringify({ error, error_description: 'opaque-' })
      const result = await attempt(t, op, { token: { status: 400, body } })
      t.equal(result.reason, 'exchange-rejected', error)
      t.match(result.error, { providerError })
      t.same(result.calls, once)
    }
  },
)

t.test('a failing token endpoint is unavailable and is called once', async (t) => {
  const op = await startProvider(t)
  const rows: [Faults['token'], string][] = [
    [{ status: 500, body: '{"error":"invalid_client"}' }, 'server-error'],
    [{ status: 429 }, 'server-error'],
    ['reset', 'network'],
    ['endless', 'too-large'],
  ]
  for (const [token, reason] of rows) {
    const result = await attempt(t, op, { token })
    t.equal(result.reason, reason)
    t.same(result.calls, once, reason)
  }
  const hasty = relyingParty(op, {}, { deadlineMs: 2_000 })
  const late = await attempt(t, op, { token: 'hang' }, hasty)
  t.same([late.reason, late.calls], ['timeout', once])
})

for (const clientAuth of ['client_secret_post', 'client_secret_basic'] as const) {
  for (const challenge of [false, true]) {
    const name = `${clientAuth}${challenge ? ', 401 with a challenge' : ''}`
    t.test(`two secrets: the next is tried once on invalid_client (${name})`, async (t) => {
      const op = await startProvider(t)
      const switches: number[] = []
      const secretSwitched = (position: number) => switches.push(position)
      const config = { clientAuth, clientSecrets: ['old secret', clientSecret] } as const
      const provider = relyingParty(op, config, { secretSwitched })
      const first = await attempt(t, op, { challenge }, provider)
      t.same([first.reason, first.calls.token], [null, 2])
      const second = await attempt(t, op, { challenge }, provider)
      t.same(
        [second.reason, second.calls.token],
        [null, 1],
        'the next request starts with the secret that worked',
      )
      const back = await attempt(t, op, { challenge, secrets: ['old secret'] }, provider)
      t.same([back.reason, back.calls.token], [null, 2], 'and switches back')
      t.same(switches, [1, 0], 'every switch is reported')
      const neither = await attempt(t, op, { challenge, secrets: [] }, provider)
      t.equal(neither.reason, 'client-rejected')
      t.same(neither.calls, { metadata: 0, jwks: 0, token: 2 })
      t.same(switches, [1, 0])
    })
  }
}

t.test('two secrets: any other error is final', async (t) => {
  const op = await startProvider(t)
  const clientSecrets = [clientSecret, 'next secret'] as const
  const rows: [Faults['token'], string][] = [
    [{ status: 400, body: '{"error":"invalid_grant"}' }, 'exchange-rejected'],
    [{ status: 401, body: '{"error":"invalid_grant"}' }, 'exchange-rejected'],
    [{ status: 403, body: '{"error":"invalid_client"}' }, 'token-response-malformed'],
    [{ status: 200, body: '{"error":"invalid_client"}' }, 'exchange-rejected'],
    [{ status: 500, body: '{"error":"invalid_client"}' }, 'server-error'],
    ['reset', 'network'],
  ]
  for (const [token, reason] of rows) {
    const result = await attempt(t, op, { token }, relyingParty(op, { clientSecrets }))
    t.equal(result.reason, reason)
    t.equal(result.calls.token, 1, `${reason}: one call`)
  }
})

t.test('an error with status 200 is the reason of the refusal', async (t) => {
  const op = await startProvider(t)
  for (const error of ['redirect_uri_mismatch', 'bad_verification_code', 'invalid_code']) {
    const token = { status: 200, body: JSON.stringify({ ok: false, error }) }
    const result = await attempt(t, op, { token })
    t.match(result, { reason: 'exchange-rejected', error: { providerError: error } }, error)
    t.same(result.calls, once, `${error}: no further call`)
  }
})

t.test('what GitHub and Slack send for invalid_client makes the next secret tried', async (t) => {
  const op = await startProvider(t)
  const clientSecrets = ['old secret', clientSecret] as const
  for (const error of ['incorrect_client_credentials', 'bad_client_secret']) {
    const token = { status: 200, body: JSON.stringify({ ok: false, error }) }
    const result = await attempt(t, op, { token }, relyingParty(op, { clientSecrets }))
    t.match(result, { reason: 'client-rejected', calls: { token: 2 } }, error)
  }
})

t.test('401 without an error code is invalid_client; a single secret is tried once', async (t) => {
  const op = await startProvider(t)
  const token = { status: 401, body: '' }
  const result = await attempt(t, op, { token })
  t.same([result.reason, result.calls], ['client-rejected', once])
})
