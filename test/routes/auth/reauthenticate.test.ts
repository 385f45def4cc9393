import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { addIdentity, authenticatedAgo, owners } from '#test/support/callers/account.ts'
import {
  auditTrail,
  type Browser,
  buildWithProvider,
  comeBack,
  type Journey,
  openTab,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const now = () => Math.floor(Date.now() / 1000)
const trail = async (journey: Journey) => (await auditTrail(journey)).slice(1)

/** A user whose session was authenticated an hour ago starts a re-authentication. */
async function begin(journey: Journey): Promise<{ browser: Browser; url: URL; userId: number }> {
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const { user } = (await visit(journey.app, browser, '/me')).json()
  await authenticatedAgo(journey, 3_600)
  const start = '/auth/login?provider=demo&reauthenticate=true'
  const answer = await visit(journey.app, browser, start)
  return { browser, url: new URL(String(answer.headers.location)), userId: user.id }
}

const mayLink = async ({ app }: Journey, browser: Browser) =>
  (await visit(app, browser, '/auth/identities/demo', { method: 'POST' })).statusCode === 200

t.test('the provider authenticates the user again, and the session counts as recent', async (t) => {
  const journey = await buildWithProvider(t)
  const { browser, url, userId } = await begin(journey)
  t.equal(url.searchParams.get('max_age'), '0')
  t.notOk(await mayLink(journey, browser))
  const old = browser.cookie
  journey.op.fault = { claims: { auth_time: now() } }
  const answer = await comeBack(journey.app, browser, journey.op.approve(url))
  t.equal(answer.statusCode, 302)
  t.not(browser.cookie, old, 'the session has a new id')
  t.equal((await visit(journey.app, { cookie: old }, '/me')).statusCode, 401)
  t.match((await visit(journey.app, browser, '/me')).json(), { user: { id: userId } })
  t.ok(await mayLink(journey, browser))
  t.same(await trail(journey), ['reauthenticate done reauthenticate'])
})

t.test('only a verified auth_time is accepted', async (t) => {
  const refused: [string, unknown][] = [
    ['none', undefined],
    ['before the start', now() - 60],
    ['long before', 1],
    ['text', String(now())],
    ['empty', ''],
    ['a list', [now()]],
    ['null', null],
  ]
  for (const [name, auth_time] of refused) {
    const journey = await buildWithProvider(t)
    const { browser, url } = await begin(journey)
    const cookie = browser.cookie
    journey.op.fault = { claims: { auth_time } }
    const answer = await comeBack(journey.app, browser, journey.op.approve(url))
    t.equal(answer.statusCode, 400, name)
    t.equal(browser.cookie, cookie, `${name}: the session is unchanged`)
    t.notOk(await mayLink(journey, browser), name)
    t.match(await trail(journey), [/^reauthenticate refused /], name)
    t.equal((await visit(journey.app, browser, '/me')).statusCode, 200, name)
  }
})

t.test('an identity of another user and an unknown identity are refused', async (t) => {
  for (const known of [true, false]) {
    const journey = await buildWithProvider(t)
    const { browser, url } = await begin(journey)
    const other = await createUser(journey.database)
    if (known) await addIdentity(journey, other.userId, 'subject-2')
    const before = await owners(journey)
    journey.op.fault = { claims: { sub: 'subject-2', auth_time: now() } }
    t.equal((await comeBack(journey.app, browser, journey.op.approve(url))).statusCode, 400)
    t.same(await owners(journey), before)
    t.notOk(await mayLink(journey, browser))
    t.same(await trail(journey), ['reauthenticate refused another-identity'])
  }
})

t.test('another identity of the same user is accepted', async (t) => {
  const journey = await buildWithProvider(t)
  const { browser, url, userId } = await begin(journey)
  await addIdentity(journey, userId, 'subject-2')
  journey.op.fault = { claims: { sub: 'subject-2', auth_time: now() } }
  t.equal((await comeBack(journey.app, browser, journey.op.approve(url))).statusCode, 302)
  t.ok(await mayLink(journey, browser))
})

t.test('a sign-in is as recent as the authentication at the provider', async (t) => {
  const ages: [name: string, auth_time: number, isRecent: boolean][] = [
    ['now', now(), true],
    ['four minutes ago', now() - 240, true],
    ['six minutes ago', now() - 360, false],
    ['a week ago', now() - 604_800, false],
    ['in 1970', 1, false],
    ['the clock of the provider is fast', now() + 600, true],
  ]
  for (const [name, auth_time, isRecent] of ages) {
    const journey = await buildWithProvider(t)
    const browser = { cookie: '' }
    const url = await openTab(journey.app, browser)
    t.equal(url.searchParams.get('max_age'), '604800', 'the absolute limit of a session')
    journey.op.fault = { claims: { auth_time } }
    const answer = await comeBack(journey.app, browser, journey.op.approve(url))
    t.equal(answer.statusCode, 302, name)
    t.equal(await mayLink(journey, browser), isRecent, name)
    const { rows } = await journey.database.admin.query(
      'SELECT FROM sessions WHERE authenticated_at > now()',
    )
    t.equal(rows.length, 0, `${name}: never in the future`)
  }
})

t.test(
  'a provider that does not say when: sign-in works, changes need a confirmation',
  async (t) => {
    for (const auth_time of [undefined, 0]) {
      const journey = await buildWithProvider(t)
      const { admin } = journey.database
      const browser = { cookie: '' }
      journey.op.fault = { claims: { auth_time } }
      t.equal((await signInThrough(journey, browser)).statusCode, 302)
      t.notOk(await mayLink(journey, browser), 'signed in, not recently')
      for (const round of ['first', 'second']) {
        const start = '/auth/login?provider=demo&reauthenticate=true'
        const { headers } = await visit(journey.app, browser, start)
        const url = new URL(String(headers.location))
        t.equal(url.searchParams.get('max_age'), '0', round)
        t.equal(url.searchParams.get('prompt'), 'select_account', `${round}: it asks the person`)
        const answer = await comeBack(journey.app, browser, journey.op.approve(url))
        t.equal(answer.statusCode, 302, round)
        t.ok(await mayLink(journey, browser), round)
        await admin.query(`UPDATE sessions SET confirmed_at = now() - interval '301 seconds'`)
        t.notOk(await mayLink(journey, browser), `${round}: for five minutes`)
      }
      const done = 'reauthenticate done confirm'
      t.same(await trail(journey), [done, done])
    }
  },
)

t.test('a plain sign-in needs no auth_time', async (t) => {
  const journey = await buildWithProvider(t)
  t.equal((await signInThrough(journey, { cookie: '' })).statusCode, 302)
})

t.test('it requires a session, and with several providers shows a page', async (t) => {
  const journey = await buildWithProvider(t)
  const start = '/auth/login?reauthenticate=true'
  t.equal((await visit(journey.app, { cookie: '' }, start)).statusCode, 401)
  for (const query of ['reauthenticate=false', 'reauthenticate=', 'reauthenticate=1']) {
    t.equal((await visit(journey.app, { cookie: '' }, `/auth/login?${query}`)).statusCode, 400)
  }
  const { browser } = await begin(journey)
  const page = await visit(journey.app, browser, '/auth/identities/demo', {
    method: 'POST',
    headers: { accept: 'text/html' },
  })
  t.equal(page.statusCode, 403)
  t.match(page.body, /href="\/auth\/login\?reauthenticate=true"/)
})
