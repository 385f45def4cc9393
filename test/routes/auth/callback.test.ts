import t from 'tap'
import {
  accounts,
  auditTrail,
  type Browser,
  buildWithProvider,
  comeBack,
  type Journey,
  openTab,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

t.test('a first sign-in creates a user who is admin of a tenant of their own', async (t) => {
  const journey = await buildWithProvider(t)
  const browser = { cookie: '' }
  const response = await signInThrough(journey, browser)
  t.equal(response.statusCode, 302)
  t.equal(response.headers.location, '/')
  t.equal(response.headers['cache-control'], 'no-store')
  const me = (await visit(journey.app, browser, '/me')).json()
  t.match(me, {
    user: { id: Number, email: 'ada@example.com' },
    tenant: { id: String, name: 'Ada' },
    role: 'admin',
    department: null,
    permissions: ['post:read', 'post:write', 'post:delete', 'user:manage'],
    plan: null,
  })
  t.strictSame(await auditTrail(journey), ['sign-in done create'])
})

t.test('a later sign-in finds the same user by provider and sub, not by address', async (t) => {
  const journey = await buildWithProvider(t)
  const first = { cookie: '' }
  await signInThrough(journey, first)
  const before = (await visit(journey.app, first, '/me')).json()
  journey.op.fault = { claims: { email: 'moved@example.com' } }
  const second = { cookie: '' }
  await signInThrough(journey, second)
  t.strictSame((await visit(journey.app, second, '/me')).json(), before)
  t.match(await accounts(journey), { users: 1, identities: 1, tenants: 1, signed_in: 2 })
})

t.test('the session gets a new id at sign-in and the old id is invalid', async (t) => {
  const journey = await buildWithProvider(t)
  const browser = { cookie: '' }
  const url = await openTab(journey.app, browser)
  const planted = browser.cookie
  await comeBack(journey.app, browser, journey.op.approve(url))
  t.not(browser.cookie, planted)
  t.equal((await visit(journey.app, { cookie: planted }, '/me')).statusCode, 401)
  t.equal((await visit(journey.app, browser, '/me')).statusCode, 200)
  const { rows } = await journey.database.admin.query('SELECT FROM sessions')
  t.equal(rows.length, 1)
})

t.test('an invalid state gets the text of the specification and changes nothing', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op, database } = journey
  const browser = { cookie: '' }
  const stranger = { cookie: '' }
  const waiting = op.approve(await openTab(app, browser))
  await openTab(app, stranger)

  const expired = op.approve(await openTab(app, browser))
  await database.admin.query(`UPDATE sign_in_attempts SET expires_at = now() WHERE nonce = $1`, [
    await latestNonce(journey),
  ])
  const state = waiting.get('state') ?? ''
  const cases: [string, Browser, string][] = [
    ['missing', browser, 'code=x'],
    ['empty', browser, 'code=x&state='],
    ['unknown', browser, 'code=x&state=unknown'],
    ['doubled', browser, `${waiting}&state=${state}`],
    ['in another case', browser, `code=x&state=${state.toUpperCase()}`],
    ['with a suffix', browser, `code=x&state=${state}x`],
    ['expired', browser, String(expired)],
    ['of another browser', stranger, String(waiting)],
    ['without a cookie', { cookie: '' }, String(waiting)],
    ['with an error instead of a code', browser, 'error=access_denied&state=unknown'],
  ]
  const before = await accounts(journey)
  for (const [name, visitor, query] of cases) {
    const response = await comeBack(app, { ...visitor }, new URLSearchParams(query))
    t.equal(response.statusCode, 400, name)
    t.match(response.headers['content-type'], /^text\/plain/, name)
    t.equal(response.body, 'bad state', name)
    t.equal(response.headers['set-cookie'], undefined, `${name}: no cookie`)
  }
  t.equal(op.calls.token, 0, 'the provider was not called')
  t.strictSame(await accounts(journey), before)
  t.strictSame(
    await auditTrail(journey),
    cases.map(() => 'sign-in refused bad-state'),
  )
  t.equal((await comeBack(app, browser, waiting)).statusCode, 302, 'the pending sign-in remains')
})

t.test('a used state is invalid, also for concurrent requests', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op } = journey
  const browser = { cookie: '' }
  const parameters = op.approve(await openTab(app, browser))
  const answers = await Promise.all([1, 2, 3].map(() => comeBack(app, { ...browser }, parameters)))
  t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [302, 400, 400])
  t.strictSame(
    answers.filter(({ statusCode }) => statusCode === 400).map(({ body }) => body),
    ['bad state', 'bad state'],
  )
  t.equal(op.calls.token, 1, 'the provider saw one exchange')
  t.equal((await comeBack(app, { ...browser }, parameters)).body, 'bad state')
})

t.test('two tabs: each has its own sign-in, and the second succeeds after the first', async (t) => {
  const journey = await buildWithProvider(t)
  const { app, op } = journey
  const browser = { cookie: '' }
  const first = op.approve(await openTab(app, browser))
  const second = op.approve(await openTab(app, browser))
  t.not(first.get('state'), second.get('state'))
  t.equal((await comeBack(app, browser, second)).statusCode, 302)
  t.equal((await comeBack(app, browser, first)).statusCode, 302)
  t.equal((await visit(app, browser, '/me')).statusCode, 200)
  t.match(await accounts(journey), { users: 1, signed_in: 1 })
})

t.test('two concurrent first sign-ins of one identity create one user', async (t) => {
  const journey = await buildWithProvider(t)
  const browsers = [1, 2, 3, 4].map(() => ({ cookie: '' }))
  const answers = await Promise.all(browsers.map((browser) => signInThrough(journey, browser)))
  t.strictSame(
    answers.map(({ statusCode }) => statusCode),
    [302, 302, 302, 302],
  )
  t.match(await accounts(journey), { users: 1, identities: 1, tenants: 1, signed_in: 4 })
})

async function latestNonce({ database }: Journey): Promise<string> {
  const { rows } = await database.admin.query<{ nonce: string }>(
    'SELECT nonce FROM sign_in_attempts ORDER BY created_at DESC LIMIT 1',
  )
  return rows[0]?.nonce ?? ''
}
