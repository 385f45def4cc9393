import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { postLogout, signLogoutToken } from '#test/support/provider/logout-request.ts'
import {
  type Case,
  ecKey,
  type Further,
  planCases,
  untouched,
} from '#test/support/provider/sign-in-cases.ts'
import {
  auditTrail,
  type Browser,
  buildWithProvider,
  clientSecret,
  comeBack,
  type Journey,
  openTab,
  rsaKey,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'
import { checkNothingHappened, rows } from './sign-in-effects.ts'
import { ownCases } from './sign-in-own-cases.ts'

type Kind<Expect extends Case['expect']> = Extract<Case, { expect: Expect }>

/** Metadata and keys are kept for an hour at most: every row starts without them. */
const coldSeconds = 3_601
const clock = {
  seconds: Date.UTC(2031, 4, 6, 7, 8, 9) / 1000,
  now: () => new Date(clock.seconds * 1000 + 250),
}
const cases = [...planCases, ...ownCases]

t.test('the table of sign-in cases', async (t) => {
  const journeys = new Map<string, Promise<Journey>>()
  const journeyWith = (settings: Record<string, string>) => {
    const key = JSON.stringify(settings)
    const journey = journeys.get(key) ?? buildWithProvider(t, settings, clock)
    journeys.set(key, journey)
    return journey
  }
  t.equal(new Set(cases.map(({ id }) => id)).size, cases.length, 'every row has an id of its own')
  for (const row of cases) {
    clock.seconds += coldSeconds
    const journey = await journeyWith('settings' in row ? row.settings : {})
    journey.op.keys.splice(0, journey.op.keys.length, row.id === 'D3' ? ecKey : rsaKey)
    await t.test(`${row.id} ${row.does}`, (t) => run(t, journey, row))
    t.comment(`${row.id.padEnd(4)}| ${row.does.padEnd(48)} | ${expectation(row)}`)
  }
  const count = (kind: string) => cases.filter(({ expect }) => expect === kind).length
  const [apart, without] = [count('tested apart'), count('not applicable')]
  const judged = cases.length - apart - without
  t.comment(`${judged} cases run, ${apart} tested apart, ${without} not applicable to this client`)
})

function expectation(row: Case): string {
  if (row.expect === 'not applicable') return `not applicable: ${row.because}`
  if (row.expect === 'tested apart') return `tested apart: ${row.file}`
  return 'reason' in row ? `${row.expect}: ${row.reason}` : row.expect
}

async function run(t: Test, journey: Journey, row: Case): Promise<void> {
  if (row.expect === 'not applicable') return void t.ok(row.because, 'the reason is written down')
  if (row.expect === 'tested apart') {
    const file = await readFile(new URL(`../../${row.file}`, import.meta.url), 'utf8')
    return void t.match(file, new RegExp(`'${row.id} `), 'the test that is named after it')
  }
  const { app, op } = journey
  const browser = { cookie: '' }
  const logged = journey.log.length
  op.fault = {}
  const secrets = await actOut(t, journey, browser, row)
  const log = journey.log.slice(logged).join('')
  for (const secret of [...secrets, clientSecret, 'eyJ', 'opaque-', 'grant_']) {
    t.notOk(secret !== '' && log.includes(secret), 'no secret in the log')
  }
  op.fault = { callback: { iss: op.issuer } }
  const honest = await signInThrough(journey, browser)
  t.equal(honest.statusCode, 302, 'an honest sign-in in the same browser works afterwards')
  t.equal((await visit(app, browser, '/me')).statusCode, 200)
  await visit(app, browser, '/auth/logout', { method: 'POST' })
}

/** Plays the row; resolves to what of it must be in no log. */
function actOut(
  t: Test,
  journey: Journey,
  browser: Browser,
  row: Exclude<Case, Kind<'not applicable' | 'tested apart'>>,
): Promise<string[]> {
  switch (row.expect) {
    case 'accepted':
      return actAccepted(t, journey, browser, row)
    case 'unavailable at the start':
      return actStart(t, journey, browser, row)
    case 'bad state':
      return actCallback(t, journey, browser, row, untouched)
    case 'refused':
    case 'unavailable':
      return actCallback(t, journey, browser, row, row.further)
    case 'logout accepted':
    case 'logout refused':
      return actLogout(t, journey, browser, row)
    default:
      return actReturn(t, journey, browser, row)
  }
}

function faultsOf(journey: Journey, row: Extract<Case, { faults: unknown }>) {
  return typeof row.faults === 'function' ? row.faults(journey.op, clock.seconds) : row.faults
}

async function actAccepted(
  t: Test,
  journey: Journey,
  browser: Browser,
  row: Kind<'accepted'>,
): Promise<string[]> {
  const { app, op } = journey
  if (row.id === 'C6') await signInThrough(journey, { cookie: '' })
  op.fault = faultsOf(journey, row)
  const parameters = op.approve(await openTab(app, browser))
  t.equal((await comeBack(app, browser, parameters)).statusCode, 302)
  t.equal((await visit(app, browser, '/me')).statusCode, 200)
  const exchange = op.requests.findLast(({ url }) => url === '/token')
  if (row.sent !== undefined) t.match(exchange?.body.toString(), row.sent)
  await visit(app, browser, '/auth/logout', { method: 'POST' })
  return [...parameters.values()]
}

async function actStart(
  t: Test,
  journey: Journey,
  browser: Browser,
  row: Kind<'unavailable at the start'>,
): Promise<string[]> {
  const { app, op } = journey
  const before = await rows(journey)
  const trail = (await auditTrail(journey)).length
  const calls = { ...op.calls }
  op.fault = faultsOf(journey, row)
  const response = await visit(app, browser, '/auth/login?provider=demo')
  t.equal(response.statusCode, 503)
  t.match(response.headers['retry-after'], /^\d+$/)
  t.equal(response.headers.location, undefined, 'the browser is sent nowhere')
  await checkNothingHappened(t, journey, before, calls, untouched)
  t.strictSame((await auditTrail(journey)).slice(trail), [`sign-in unavailable ${row.reason}`])
  return []
}

async function actCallback(
  t: Test,
  journey: Journey,
  browser: Browser,
  row: Kind<'refused' | 'unavailable' | 'bad state'>,
  further: Further,
): Promise<string[]> {
  const { app, op, database } = journey
  if (row.expect !== 'bad state') op.fault = faultsOf(journey, row)
  const asked = await openTab(app, browser)
  const pending = await database.admin.query('SELECT nonce, code_verifier FROM sign_in_attempts')
  const parameters = op.approve(asked)
  // An error code is kept in the audit log and in the log.
  const sent = [...parameters].flatMap(([name, value]) => (name === 'error' ? [] : [value]))
  const secrets = [...sent, ...pending.rows.flatMap(Object.values)].map(String)
  if (row.expect === 'bad state') {
    const changed = row.change(parameters.get('state') ?? '')
    parameters.delete('state')
    for (const [name, value] of changed) parameters.append(name, value)
  }
  const { cookie } = browser
  const before = await rows(journey)
  const trail = (await auditTrail(journey)).length
  const calls = { ...op.calls }
  const response = await comeBack(app, browser, parameters)
  t.equal(response.statusCode, row.expect === 'unavailable' ? 503 : 400)
  if (row.expect === 'bad state') {
    t.equal(response.body, 'bad state')
    t.match(response.headers['content-type'], /^text\/plain/)
  } else {
    const type = row.expect === 'refused' ? 'sign-in-refused' : 'unavailable'
    t.match(response.json(), { type: `/docs/errors/${type}` })
    t.notMatch(response.body, row.reason, 'the reason is not told')
    if (type === 'unavailable') t.match(response.headers['retry-after'], /^\d+$/)
  }
  t.equal(response.headers['cache-control'], 'no-store')
  t.equal(browser.cookie, cookie, 'the session is the one from before')
  t.equal((await visit(app, browser, '/me')).statusCode, 401, 'no session of a user')
  await checkNothingHappened(t, journey, before, calls, further)
  const outcome = row.expect === 'unavailable' ? 'unavailable' : 'refused'
  const reason = row.expect === 'bad state' ? 'bad-state' : row.reason
  t.strictSame((await auditTrail(journey)).slice(trail), [`sign-in ${outcome} ${reason}`])
  return secrets.filter((secret) => secret.length > 8)
}

async function actLogout(
  t: Test,
  journey: Journey,
  browser: Browser,
  row: Kind<'logout accepted' | 'logout refused'>,
): Promise<string[]> {
  const { app, op } = journey
  op.fault = { claims: { sid: 'provider-session-1' } }
  await signInThrough(journey, browser)
  const token = await signLogoutToken(journey, clock, row.logout)
  const before = await rows(journey)
  const trail = (await auditTrail(journey)).length
  const calls = { ...op.calls }
  const response = await postLogout(journey, token)
  const accepts = row.expect === 'logout accepted'
  t.equal(response.statusCode, accepts ? 200 : 400)
  t.equal(response.headers['cache-control'], 'no-store')
  t.equal((await visit(app, browser, '/me')).statusCode, accepts ? 401 : 200)
  if (!accepts) await checkNothingHappened(t, journey, before, calls, untouched)
  const entry = accepts ? 'done provider-request' : `refused ${row.reason}`
  t.strictSame((await auditTrail(journey)).slice(trail), [`sign-out ${entry}`])
  return [token]
}

async function actReturn(
  t: Test,
  journey: Journey,
  browser: Browser,
  row: Kind<'signed-out page'>,
): Promise<string[]> {
  const { app, op } = journey
  op.fault = { metadata: { end_session_endpoint: `${op.issuer}/end` } }
  await signInThrough(journey, browser)
  const answer = await visit(app, browser, '/auth/logout', { method: 'POST' })
  t.equal(answer.statusCode, 204)
  const asked = new URL(/^<([^>]+)>/.exec(String(answer.headers.link))?.[1] ?? '')
  t.equal(asked.origin + asked.pathname, `${op.issuer}/end`)
  t.notOk(asked.searchParams.has('id_token_hint'))
  const state = row.state(asked.searchParams.get('state') ?? '')
  const back = new URL(asked.searchParams.get('post_logout_redirect_uri') ?? '')
  const query = state === null ? '' : `?state=${state}`
  const page = await visit(app, browser, `${back.pathname}${query}`)
  t.equal(page.statusCode, 200)
  t.match(page.body, /<h1>You are signed out<\/h1>/)
  t.equal(page.body.includes('You have returned from demo.'), row.id === 'L9')
  t.equal((await visit(app, browser, '/me')).statusCode, 401)
  return [state ?? '']
}
