import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import {
  accounts,
  auditTrail,
  buildWithProvider,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const email = 'ada@example.com'
const trusted = { OIDC_DEMO_TRUST_EMAIL: 'example.com' }

t.test('an address that is verified and trusted on both sides links the identity', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const user = await createUser(journey.database, { email: 'ADA@example.com', emailVerified: true })
  await addIdentity(journey, user.userId, 'ada-elsewhere', 'other', email)
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  t.match((await visit(journey.app, browser, '/me')).json(), { user: { id: user.userId } })
  t.strictSame(await auditTrail(journey), ['sign-in done link'])
})

t.test('a verified address without this verification is refused', async (t) => {
  const cases: [string, Record<string, string>, unknown][] = [
    ['provider not trusted', { OIDC_DEMO_TRUST_EMAIL: 'false' }, true],
    ['trusted for another domain', { OIDC_DEMO_TRUST_EMAIL: 'example.org' }, true],
    ['not verified by the provider', trusted, false],
    ['verified only as text', trusted, 'true'],
  ]
  for (const [name, settings, verifiedThere] of cases) {
    const journey = await buildWithProvider(t, settings)
    const { userId } = await createUser(journey.database, { email, emailVerified: true })
    await addIdentity(journey, userId, 'ada-elsewhere', 'other', email)
    const before = await accounts(journey)
    journey.op.fault = { claims: { email_verified: verifiedThere } }
    const browser = { cookie: '' }
    const response = await signInThrough(journey, browser)
    t.equal(response.statusCode, 400, name)
    t.strictSame(await auditTrail(journey), ['sign-in refused email-known'], name)
    t.strictSame(await accounts(journey), before, name)
    t.equal((await visit(journey.app, browser, '/me')).statusCode, 401, name)
  }
})

t.test('a sign-in without an address is accepted', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  journey.op.fault = { claims: { email: undefined, email_verified: undefined, name: undefined } }
  const browser = { cookie: '' }
  t.equal((await signInThrough(journey, browser)).statusCode, 302)
  t.match((await visit(journey.app, browser, '/me')).json(), { user: { email: null } })
})

t.test('the database prevents that an identity moves to another user', async (t) => {
  const journey = await buildWithProvider(t)
  await signInThrough(journey, { cookie: '' })
  const other = await createUser(journey.database)
  await t.rejects(journey.app.systemDb.sql`UPDATE oauth_identities SET user_id = ${other.userId}`, {
    code: '42501',
  })
})
