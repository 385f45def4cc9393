import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import type { Faults } from '#test/support/provider/hostile-provider.ts'
import {
  auditTrail,
  buildWithProvider,
  comeBack,
  openTab,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

t.test('a browser gets a page with one action', async (t) => {
  const { app, op } = await buildWithProvider(t)
  const browser = { cookie: '' }
  op.fault = { claims: { nonce: 'other' } }
  const parameters = op.approve(await openTab(app, browser))
  const response = await visit(app, browser, `/auth/callback?${parameters}`, {
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  t.equal(response.statusCode, 400)
  t.match(response.headers['content-type'], /^text\/html; charset=utf-8/)
  t.match(response.body, /<h1>Sign-in failed<\/h1>/)
  t.notMatch(response.body, /nonce/)
})

t.test('the callback is validated in one order: the first fault is reported', async (t) => {
  const journey = await buildWithProvider(t, { OIDC_DEMO_TRUST_EMAIL: 'false' })
  const { app, op, database } = journey
  const owner = { email: 'ada@example.com', emailVerified: true }
  const { userId } = await createUser(database, owner)
  const wrong = { error: 'access_denied', iss: 'https://x', code: undefined }
  const rejected: Partial<Faults> = { token: { status: 400, body: '{"error":"invalid_grant"}' } }
  const expired: Partial<Faults> = { claims: { exp: 1 } }
  const steps: [string, Partial<Faults>][] = [
    ['bad-state', { callback: { ...wrong, state: 'x' }, ...rejected, ...expired }],
    ['iss-mismatch', { callback: wrong, ...rejected, ...expired }],
    ['provider-error', { callback: { ...wrong, iss: op.issuer }, ...rejected, ...expired }],
    ['code-missing', { callback: { code: undefined }, ...rejected, ...expired }],
    ['exchange-rejected', { ...rejected, ...expired }],
    ['id-token-expired', expired],
    ['email-known', {}],
  ]
  const browser = { cookie: '' }
  for (const [reason, fault] of steps) {
    op.fault = fault
    const calls = { ...op.calls }
    const response = await comeBack(app, browser, op.approve(await openTab(app, browser)))
    t.equal(response.statusCode, 400, reason)
    t.equal((await auditTrail(journey)).at(-1), `sign-in refused ${reason}`)
    const exchanges = ['exchange-rejected', 'id-token-expired', 'email-known'].includes(reason)
    t.equal(op.calls.token - calls.token, exchanges ? 1 : 0, `${reason}: calls`)
  }
  const before = browser.cookie
  await database.admin.query('UPDATE users SET email = NULL WHERE id = $1', [userId])
  const response = await comeBack(app, browser, op.approve(await openTab(app, browser)))
  t.equal(response.statusCode, 302)
  t.equal(response.headers.location, '/')
  t.not(browser.cookie, before, 'the session has a new id')
  t.equal((await visit(app, { cookie: before }, '/me')).statusCode, 401, 'the old id is invalid')
})
