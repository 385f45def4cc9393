import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import {
  accounts,
  auditTrail,
  buildWithProvider,
  comeBack,
  type Journey,
  openTab,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const html = { accept: 'text/html' }

async function refused(t: Test, journey: Journey, reason: string, text: RegExp) {
  const before = await accounts(journey)
  const browser = { cookie: '' }
  const parameters = journey.op.approve(await openTab(journey.app, browser))
  const page = await visit(journey.app, browser, `/auth/callback?${parameters}`, { headers: html })
  t.equal(page.statusCode, 400)
  t.match(page.body, text, 'the page says whom to ask')
  t.match(page.body, /<a class="button" href="\/auth\/login">Sign in with another account/)
  t.strictSame(await accounts(journey), before, 'nothing was made')
  t.equal((await visit(journey.app, browser, '/me')).statusCode, 401)
  t.equal((await auditTrail(journey)).at(-1), `sign-in refused ${reason}`)
}

t.test('SIGN_UP=closed: nobody gets an account, and accounts that exist sign in', async (t) => {
  const journey = await buildWithProvider(t, { SIGN_UP: 'closed', OPERATORS: 'demo:operator' })
  journey.op.fault = { claims: { sub: 'operator', email: 'op@example.com' } }
  t.equal((await signInThrough(journey, { cookie: '' })).statusCode, 302, 'an operator may')
  t.equal((await signInThrough(journey, { cookie: '' })).statusCode, 302, 'and again')
  journey.op.fault = {}
  await refused(t, journey, 'sign-up-closed', /Ask the administrator of this service/)
})

t.test('SIGN_UP=invited: only a verified address with an open invitation', async (t) => {
  const journey = await buildWithProvider(t, { SIGN_UP: 'invited', OPERATORS: 'demo:operator' })
  const { app, op, database } = journey
  await refused(t, journey, 'not-invited', /Ask the person who told you/)
  const host = { cookie: '' }
  op.fault = { claims: { sub: 'operator', email: 'op@example.com' } }
  await signInThrough(journey, host)
  const invite = (email: string) =>
    visit(app, host, '/users', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ email, role: 'viewer' }),
    })
  t.equal((await invite('Ada@example.com')).statusCode, 201)

  op.fault = { claims: { email: 'eve@example.com' } }
  await refused(t, journey, 'not-invited', /Ask the person/)
  op.fault = { claims: { email_verified: false } }
  await refused(t, journey, 'not-invited', /must have verified the address/)
  op.fault = { claims: { email: undefined } }
  await refused(t, journey, 'not-invited', /Ask the person/)
  op.fault = {}
  await database.admin.query(`UPDATE invitations SET expires_at = now() - interval '1 second'`)
  await refused(t, journey, 'not-invited', /Ask the person/)
  await database.admin.query(
    `UPDATE invitations SET expires_at = now() + interval '1 day', declined_at = now()`,
  )
  await refused(t, journey, 'not-invited', /Ask the person/)
  await database.admin.query('UPDATE invitations SET declined_at = NULL')
  await database.admin.query(`UPDATE memberships SET role = 'viewer'`)
  await refused(t, journey, 'not-invited', /Ask the person/)
  await database.admin.query(`UPDATE memberships SET role = 'admin'`)
  const guest = { cookie: '' }
  t.equal((await signInThrough(journey, guest)).statusCode, 302)
  const me = (await visit(app, guest, '/me')).json()
  t.match(me, { user: { email: 'ada@example.com' }, invitations: [{ role: 'viewer' }] })
})

t.test('SIGN_UP=invited: a provider that is not trusted for the address proves none', async (t) => {
  const settings = { SIGN_UP: 'invited', OIDC_DEMO_TRUST_EMAIL: 'example.org' }
  const journey = await buildWithProvider(t, settings)
  await refused(t, journey, 'not-invited', /Ask the person/)
})

t.test(
  'SIGN_UP=invited: the link of an invitation admits its address without trust, once',
  async (t) => {
    const settings = { SIGN_UP: 'invited', OIDC_DEMO_TRUST_EMAIL: 'false' }
    const journey = await buildWithProvider(t, settings)
    const { app, op, database } = journey
    const boss = await createUser(database, { role: 'admin' })
    const host = await signIn(journey, boss)
    const invite = async (email: string) => {
      const payload = { email, role: 'viewer' }
      const url = '/users'
      const answer = await app.inject({ method: 'POST', url, payload, headers: host })
      return new URL(answer.json().url)
    }
    /** Signs in from a browser that has opened the links before. */
    const attempt = async (...links: URL[]) => {
      const browser = { cookie: '' }
      const kept: string[] = []
      for (const { pathname, search } of links) {
        const { cookies } = await app.inject(pathname + search)
        const sent = cookies.find(({ path }) => path === '/auth/callback')
        t.match(sent, { name: 'invitation', httpOnly: true, sameSite: 'Lax' })
        kept.push(`; invitation=${sent?.value}`)
      }
      const parameters = op.approve(await openTab(app, browser))
      browser.cookie += kept.at(-1) ?? ''
      const { statusCode } = await comeBack(app, browser, parameters)
      return { statusCode, browser }
    }
    const refuse = async (why: string, ...links: URL[]) =>
      t.equal((await attempt(...links)).statusCode, 400, why)
    const ofAda = await invite('Ada@example.com')
    const ofEve = await invite('eve@example.com')
    await refused(t, journey, 'not-invited', /open the link/)
    await refuse('the link of another address', ofEve)
    for (const [why, change, back] of [
      ['expired', 'expires_at = now()', `expires_at = now() + interval '1 day'`],
      ['declined', 'declined_at = now()', 'declined_at = NULL'],
      ['accepted', 'accepted_at = now()', 'accepted_at = NULL'],
    ] as const) {
      await database.admin.query(`UPDATE invitations SET ${change}`)
      await refuse(why, ofAda)
      await database.admin.query(`UPDATE invitations SET ${back}`)
    }
    await database.admin.query(`UPDATE memberships SET role = 'viewer'`)
    await refuse('the inviter is no longer an admin', ofAda)
    await database.admin.query(`UPDATE memberships SET role = 'admin'`)
    const { statusCode, browser } = await attempt(ofEve, ofAda)
    t.equal(statusCode, 302)
    t.match((await visit(app, browser, '/me')).json(), { user: { email: 'ada@example.com' } })
    const { rows } = await database.admin.query(
      `SELECT email_verified FROM users WHERE email = 'ada@example.com'`,
    )
    t.same(rows, [{ email_verified: false }], 'it proves the address for nothing else')
    const id = ofAda.pathname.split('/').at(-2)
    const payload = JSON.stringify({ link: ofAda.searchParams.get('link') })
    const headers = { 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, payload } as const
    const accepted = await visit(app, browser, `/invitations/${id}/accept`, sent)
    t.equal(accepted.statusCode, 204)
    op.fault = { claims: { sub: 'second' } }
    await refuse('accepted already', ofAda)
  },
)

t.test('a required address counts only if the provider has verified it', async (t) => {
  const journey = await buildWithProvider(t, { OIDC_DEMO_REQUIRE: 'email:ada@example.com' })
  const { app, op } = journey
  const email = 'ada@example.com'
  for (const claims of [
    { email, email_verified: null },
    { email, email_verified: false },
    { email, email_verified: 'true' },
    { email: 'eve@example.com', email_verified: true },
  ]) {
    op.fault = { claims }
    await refused(t, journey, 'claim-required', /Ask the administrator/)
  }
  op.fault = { claims: { email, email_verified: true } }
  const browser = { cookie: '' }
  const request = await openTab(app, browser)
  t.equal((await comeBack(app, browser, op.approve(request))).statusCode, 302)
})

t.test('REQUIRE admits only people with the value, by the claims of the id_token', async (t) => {
  const journey = await buildWithProvider(t, {
    OIDC_DEMO_REQUIRE: 'hd:example.com,hd:example.org,groups:staff',
    OIDC_DEMO_PARAMS: 'hd=example.com',
  })
  const { app, op } = journey
  const rows: [object, boolean][] = [
    [{ hd: 'example.com', groups: ['guests', 'staff'] }, true],
    [{ hd: 'example.org', groups: 'staff' }, true],
    [{ hd: 'example.com' }, false],
    [{ groups: ['staff'] }, false],
    [{ hd: 'example.com.evil.example', groups: ['staff'] }, false],
    [{ hd: null, groups: ['staff'] }, false],
    [{ hd: { 'example.com': true }, groups: ['staff'] }, false],
    [{ hd: 'EXAMPLE.COM', groups: ['staff'] }, false],
  ]
  for (const [claims, admitted] of rows) {
    op.fault = { claims: { ...claims } }
    if (!admitted) {
      await refused(t, journey, 'claim-required', /Ask the administrator/)
      continue
    }
    const browser = { cookie: '' }
    const request = await openTab(app, browser)
    t.equal(request.searchParams.get('hd'), 'example.com')
    t.equal((await comeBack(app, browser, op.approve(request))).statusCode, 302)
  }
})
