import t from 'tap'
import {
  buildWithProvider,
  comeBack,
  openTab,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

t.test('the provider’s error code is kept in the audit log and in the log', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op, database, log } = journey
  const cases: [string, object, string | null][] = [
    [
      'of the authorization',
      { callback: { error: 'login_required', code: undefined } },
      'login_required',
    ],
    [
      'of the exchange',
      { token: { status: 400, body: '{"error":"invalid_grant"}' } },
      'invalid_grant',
    ],
    ['not a code', { callback: { error: 'a secret 1234', code: undefined } }, null],
    ['not printable', { callback: { error: 'x\u0000', code: undefined } }, null],
    ['too long', { callback: { error: 'e'.repeat(65), code: undefined } }, null],
  ]
  for (const [name, fault, code] of cases) {
    const browser = { cookie: '' }
    op.fault = fault
    const start = log.length
    const response = await comeBack(app, browser, op.approve(await openTab(app, browser)))
    t.equal(response.statusCode, 400, name)
    await app.refusals.close() // writes what was counted
    const { rows } = await database.admin.query(
      'SELECT provider_error FROM audit_log ORDER BY id DESC LIMIT 1',
    )
    t.strictSame(rows, [{ provider_error: code }], name)
    const lines = log.slice(start).map((line) => JSON.parse(line))
    t.match(
      lines.find(({ msg }) => msg === 'sign-in failed'),
      { provider: 'demo', outcome: 'refused', reason: String, providerError: code },
      name,
    )
    t.notMatch(log.slice(start).join(''), 'a secret 1234')
  }
})

t.test('the audit log of the account shows the error code of a failed link', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op } = journey
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const start = await visit(app, browser, '/auth/identities/demo', { method: 'POST' })
  op.fault = { callback: { error: 'temporarily_unavailable', code: undefined } }
  await comeBack(app, browser, op.approve(new URL(start.json().url)))
  const [entry, before] = (await visit(app, browser, '/auth/audit')).json().data
  t.match(entry, {
    action: 'link',
    reason: 'provider-error',
    providerError: 'temporarily_unavailable',
  })
  t.match(before, { action: 'sign-in', providerError: null })
})

t.test('who cancels at the provider reads so, whatever its error code is', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op } = journey
  const texts: [string, RegExp][] = [
    ['access_denied', /You cancelled/],
    ['user_cancelled_authorize', /You cancelled/],
    ['user_cancelled_login', /You cancelled/],
    ['server_error', /The provider returned an error/],
  ]
  for (const [error, text] of texts) {
    const browser = { cookie: '' }
    op.fault = { callback: { error, code: undefined } }
    const parameters = op.approve(await openTab(app, browser))
    const response = await visit(app, browser, `/auth/callback?${parameters}`, {
      headers: { accept: 'text/html' },
    })
    t.equal(response.statusCode, 400, error)
    t.match(response.body, text, error)
  }
})
