import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import {
  auditTrail,
  type Browser,
  buildWithProvider,
  comeBack,
  type Journey,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const email = 'olga@example.com'

/** A user with the identity of an operator, `olga`, and another one, `private`. */
async function setUp(t: Test) {
  const settings = { OPERATORS: 'demo:olga', OIDC_DEMO_TRUST_EMAIL: 'example.com' }
  const journey = await buildWithProvider(t, settings)
  const user = await createUser(journey.database, { role: 'admin', email, emailVerified: true })
  for (const subject of ['olga', 'private']) {
    await addIdentity(journey, user.userId, subject, 'demo', email)
  }
  return { journey, user }
}

/** A browser that signed in with the identity. */
async function signInAs(journey: Journey, sub: string): Promise<Browser> {
  const browser = { cookie: '' }
  journey.op.fault = { claims: { sub, email } }
  await signInThrough(journey, browser)
  return browser
}

const operate = async ({ app }: Journey, browser: Browser) =>
  (await visit(app, browser, '/billing/events')).statusCode

t.test('the rights of an operator belong to the identity that signed in', async (t) => {
  const { journey, user } = await setUp(t)
  const withPrivate = await signInAs(journey, 'private')
  const withOlga = await signInAs(journey, 'olga')
  for (const browser of [withPrivate, withOlga]) {
    const me = await visit(journey.app, browser, '/me')
    t.match(me.json(), { user: { id: user.userId } }, 'both are the same user')
  }
  t.equal(await operate(journey, withPrivate), 403)
  t.equal(await operate(journey, withOlga), 200)
})

t.test('a re-authentication moves the session to the identity it used', async (t) => {
  const { journey } = await setUp(t)
  const browser = await signInAs(journey, 'olga')
  for (const [sub, status] of [
    ['private', 403],
    ['olga', 200],
  ] as const) {
    const start = '/auth/login?provider=demo&reauthenticate=true'
    const { headers } = await visit(journey.app, browser, start)
    journey.op.fault = { claims: { sub, email } }
    await comeBack(journey.app, browser, journey.op.approve(new URL(String(headers.location))))
    t.equal(await operate(journey, browser), status, sub)
  }
})

t.test('a session loses the rights with its identity, and keeps them with another', async (t) => {
  const { journey } = await setUp(t)
  const browser = await signInAs(journey, 'olga')
  const unlink = (subject: string) =>
    visit(journey.app, browser, `/auth/identities/demo/${subject}`, { method: 'DELETE' })
  await addIdentity(journey, await idOf(journey, browser), 'spare')
  t.equal((await unlink('private')).statusCode, 204)
  t.equal(await operate(journey, browser), 200)
  t.equal((await unlink('olga')).statusCode, 204)
  t.equal(await operate(journey, browser), 403)
  t.equal((await visit(journey.app, browser, '/me')).statusCode, 200, 'the session remains')
})

t.test('nobody is linked automatically into the user of an operator', async (t) => {
  const { journey, user } = await setUp(t)
  const before = await identitiesOf(journey, user.userId)
  journey.op.fault = { claims: { sub: 'stranger', email, email_verified: true } }
  const browser = { cookie: '' }
  t.equal((await signInThrough(journey, browser)).statusCode, 400)
  t.equal((await visit(journey.app, browser, '/me')).statusCode, 401)
  t.strictSame(await auditTrail(journey), ['sign-in refused email-known'])
  t.strictSame(await identitiesOf(journey, user.userId), before)
})

async function idOf({ app }: Journey, browser: Browser): Promise<number> {
  return (await visit(app, browser, '/me')).json().user.id
}

async function identitiesOf({ database }: Journey, userId: number): Promise<unknown> {
  const { rows } = await database.admin.query(
    'SELECT provider_user_id FROM oauth_identities WHERE user_id = $1 ORDER BY 1',
    [userId],
  )
  return rows
}
