import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { addIdentity, authenticatedAgo, owners } from '#test/support/callers/account.ts'
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

const trail = async (journey: Journey) => (await auditTrail(journey)).slice(1)

/** A user signed in as `subject-1`, and the start of a link for them. */
async function begin(journey: Journey): Promise<{ browser: Browser; url: URL; userId: number }> {
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const { user } = (await visit(journey.app, browser, '/me')).json()
  return { browser, url: await startLink(journey, browser), userId: user.id }
}

async function startLink({ app }: Journey, browser: Browser): Promise<URL> {
  const answer = await visit(app, browser, '/auth/identities/demo', { method: 'POST' })
  return new URL(answer.json().url)
}

t.test('an identity is linked to the user who started it; new session id', async (t) => {
  const journey = await buildWithProvider(t)
  const { browser, url, userId } = await begin(journey)
  const old = browser.cookie
  journey.op.fault = { claims: { sub: 'subject-2', email: 'elsewhere@example.org' } }
  const answer = await comeBack(journey.app, browser, journey.op.approve(url))
  t.equal(answer.statusCode, 302)
  t.equal(answer.headers.location, '/')
  t.not(browser.cookie, old)
  t.equal((await visit(journey.app, { cookie: old }, '/me')).statusCode, 401)
  t.same(await owners(journey), { 'demo:subject-1': userId, 'demo:subject-2': userId })
  t.same(await trail(journey), ['link done explicit'])
  const list = (await visit(journey.app, browser, '/auth/identities')).json()
  t.match(list, {
    data: [
      { provider: 'demo', subject: 'subject-1', issuer: journey.op.issuer },
      { provider: 'demo', subject: 'subject-2' },
    ],
    nextCursor: null,
  })
  const stranger = { cookie: '' }
  await signInThrough(journey, stranger)
  t.match((await visit(journey.app, stranger, '/me')).json(), { user: { id: userId } })
})

t.test('the start is 302 for a form and a URL for JSON', async (t) => {
  const journey = await buildWithProvider(t)
  const { browser } = await begin(journey)
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
  }
  const form = await visit(journey.app, browser, '/auth/identities/demo', {
    method: 'POST',
    headers,
  })
  t.equal(form.statusCode, 302)
  t.match(form.headers.location, new RegExp(`^${journey.op.issuer}/authorize\\?`))
  const json = await visit(journey.app, browser, '/auth/identities/demo', { method: 'POST' })
  t.equal(json.statusCode, 200)
  t.equal(json.headers['cache-control'], 'no-store')
  t.same(new URL(json.json().url).searchParams.get('max_age'), null)
  const unknown = await visit(journey.app, browser, '/auth/identities/other', { method: 'POST' })
  t.equal(unknown.statusCode, 404)
  const foreign = { ...headers, 'sec-fetch-site': 'cross-site' }
  const cross = await visit(journey.app, browser, '/auth/identities/demo', {
    method: 'POST',
    headers: foreign,
  })
  t.equal(cross.statusCode, 403)
})

t.test('an identity of another user is refused and not moved', async (t) => {
  const journey = await buildWithProvider(t)
  const { browser, url } = await begin(journey)
  const other = await createUser(journey.database)
  await addIdentity(journey, other.userId, 'subject-2')
  const before = [await owners(journey), await accounts(journey)]
  journey.op.fault = { claims: { sub: 'subject-2' } }
  const answer = await comeBack(journey.app, browser, journey.op.approve(url))
  t.equal(answer.statusCode, 400)
  t.match(answer.json(), { type: '/docs/errors/sign-in-refused' })
  t.same([await owners(journey), await accounts(journey)], before)
  t.same(await trail(journey), ['link refused identity-of-another'])
  t.equal((await visit(journey.app, browser, '/me')).statusCode, 200, 'the session remains')
})

t.test('linking an identity again changes nothing', async (t) => {
  const journey = await buildWithProvider(t)
  const { browser, url, userId } = await begin(journey)
  t.equal((await comeBack(journey.app, browser, journey.op.approve(url))).statusCode, 302)
  t.same(await owners(journey), { 'demo:subject-1': userId })
  t.same(await trail(journey), ['link done known'])
})

t.test('a link ends with the session that started it', async (t) => {
  const ends: Record<string, (journey: Journey, browser: Browser) => Promise<unknown>> = {
    'signed out': ({ app }, browser) =>
      visit(app, { ...browser }, '/auth/logout', { method: 'POST' }),
    'signed in as another user': async (journey, browser) => {
      journey.op.fault = { claims: { sub: 'subject-3', email: 'c@example.com' } }
      await signInThrough(journey, browser)
    },
    'signed in again as the same user': (journey, browser) => signInThrough(journey, browser),
    'session ended elsewhere': ({ database }) => database.admin.query('DELETE FROM sessions'),
  }
  for (const [name, end] of Object.entries(ends)) {
    const journey = await buildWithProvider(t)
    const { browser, url } = await begin(journey)
    await end(journey, browser)
    const before = await owners(journey)
    journey.op.fault = { claims: { sub: 'subject-2' } }
    const calls = journey.op.calls.token
    const answer = await comeBack(journey.app, browser, journey.op.approve(url))
    t.equal(answer.body, 'bad state', name)
    t.equal(journey.op.calls.token, calls, `${name}: the provider is not called`)
    t.same(await owners(journey), before, name)
  }
})

t.test('a session that ends during the code exchange gets no identity', async (t) => {
  for (const end of ['DELETE FROM sessions', 'UPDATE sessions SET expires_at = now()']) {
    const journey = await buildWithProvider(t)
    const { browser, url } = await begin(journey)
    journey.op.fault = {
      claims: { sub: 'subject-2' },
      beforeSigning: async () => void (await journey.database.admin.query(end)),
    }
    const answer = await comeBack(journey.app, browser, journey.op.approve(url))
    t.equal(answer.statusCode, 400, end)
    t.same(Object.keys(await owners(journey)), ['demo:subject-1'], end)
    t.same(await trail(journey), ['link refused session-changed'], end)
    t.equal((await visit(journey.app, browser, '/me')).statusCode, 401, 'the session has ended')
  }
})

t.test('a link can be started only within five minutes of authentication', async (t) => {
  const journey = await buildWithProvider(t)
  const user = await createUser(journey.database)
  await addIdentity(journey, user.userId, 'mine')
  await addIdentity(journey, user.userId, 'spare')
  const { cookie } = await signIn(journey, user)
  const send = as(journey, { cookie })
  // By database time. The test of the authz plugin covers the limit of 300 s exactly.
  for (const [seconds, status] of [
    [290, 200],
    [301, 403],
    [86_400, 403],
  ] as const) {
    await authenticatedAgo(journey, seconds)
    const link = await send('POST', '/auth/identities/demo')
    t.equal(link.statusCode, status, `link after ${seconds} s`)
    const unlink = await send('DELETE', '/auth/identities/demo/missing')
    t.equal(unlink.statusCode, status === 200 ? 404 : 403, `unlink after ${seconds} s`)
    if (status !== 403) continue
    t.match(link.json(), {
      type: '/docs/errors/reauthentication-required',
      detail: /\/auth\/login\?reauthenticate=true/,
    })
    t.equal(
      (await send('GET', '/auth/identities')).statusCode,
      200,
      'the list needs no recent authentication',
    )
  }
})

t.test('two tabs: a link and a sign-in started in one session', async (t) => {
  const journey = await buildWithProvider(t)
  const { browser, url, userId } = await begin(journey)
  const signInTab = journey.op.approve(await openTab(journey.app, browser))
  journey.op.fault = { claims: { sub: 'subject-2' } }
  t.equal((await comeBack(journey.app, browser, journey.op.approve(url))).statusCode, 302)
  journey.op.fault = {}
  t.equal(
    (await comeBack(journey.app, browser, signInTab)).statusCode,
    302,
    'the other tab’s sign-in remains',
  )
  t.match((await visit(journey.app, browser, '/me')).json(), { user: { id: userId } })
})

t.test('a provider that is down is 503 at the start of a link as well', async (t) => {
  const journey = await buildWithProvider(t)
  const user = await createUser(journey.database)
  journey.op.fault = { metadataAnswer: 'reset' }
  const { cookie } = await signIn(journey, user)
  const answer = await as(journey, { cookie })('POST', '/auth/identities/demo')
  t.equal(answer.statusCode, 503)
  t.ok(answer.headers['retry-after'])
  t.same(await auditTrail(journey), ['link unavailable network'])
})
