import { Signer } from '@fastify/cookie'
import t, { type Test } from 'tap'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import {
  buildWithProvider,
  clientSecret,
  comeBack,
  openTab,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const [first, second] = ['a'.repeat(32), 'b'.repeat(32)]

/** Another process on the same database. */
async function startBeside(t: Test, { database }: TestApp, secrets: string) {
  const config = testConfig(database, { SESSION_SECRETS: secrets })
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  return app
}

async function joinTenant({ database }: TestApp, { userId }: TestUser): Promise<string> {
  const { tenantId } = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [tenantId, userId],
  )
  return tenantId
}

t.test('rotating SESSION_SECRETS to new,old keeps everyone signed in', async (t) => {
  const old = await build(t, { SESSION_SECRETS: first })
  const user = await createUser(old.database)
  const browser = { cookie: (await signIn(old, user)).cookie }
  const rotated = await startBeside(t, old, `${second},${first}`)
  const { cookie } = browser
  for (const url of ['/me', '/', '/auth/sessions', '/app/account', '/me']) {
    const answer = await visit(rotated, browser, url)
    t.equal(answer.statusCode, 200, url)
    t.equal(answer.headers['set-cookie'], undefined, `${url} does not touch the cookie`)
  }
  t.equal(browser.cookie, cookie)
  const tenantId = await joinTenant(old, user)
  const headers = { 'content-type': 'application/json' }
  const payload = JSON.stringify({ tenantId })
  const moved = await visit(rotated, browser, '/session/tenant', {
    method: 'POST',
    headers,
    payload,
  })
  t.equal(moved.statusCode, 204)
  const [id = ''] = decodeURIComponent(browser.cookie.slice('sid='.length)).split('.')
  const signed = new Signer(second).sign(id)
  t.equal(decodeURIComponent(browser.cookie), `sid=${signed}`, 'a new id has the new secret')
  t.equal((await visit(rotated, browser, '/me')).statusCode, 200)
})

t.test('processes with another first secret accept each other’s cookies in turn', async (t) => {
  const one = await build(t, { SESSION_SECRETS: `${first},${second}` })
  const other = await startBeside(t, one, `${second},${first}`)
  const { cookieId } = await signIn(one, await createUser(one.database))
  for (const secret of [first, second]) {
    const browser = { cookie: `sid=${new Signer(secret).sign(cookieId)}` }
    for (const app of [one.app, other, one.app, other]) {
      const answer = await visit(app, browser, '/me')
      t.equal(answer.statusCode, 200)
      t.equal(answer.headers['set-cookie'], undefined)
    }
  }
})

/** A cluster makes changes of people one after the other (docs/growth.md). */
const atOnce = isOnCluster() ? 1 : 20

t.test(
  'in each step of a rotation, sign-ins across processes succeed and sessions survive',
  async (t) => {
    const steps = [
      [first, `${first},${second}`],
      [`${first},${second}`, `${second},${first}`],
      [`${second},${first}`, second],
    ] as const
    const journey = await buildWithProvider(t, { SESSION_SECRETS: first })
    const start = async (secrets: string) => {
      const { issuer } = journey.op
      const provider = { OIDC_DEMO_ISSUER: issuer, OIDC_DEMO_CLIENT_SECRET: clientSecret }
      const config = testConfig(journey.database, { ...provider, SESSION_SECRETS: secrets })
      const app = await buildApp(config, createLogger('silent'))
      t.teardown(() => app.close())
      return app
    }
    // Sessions older than the rotation end with the old secret, after SESSION_ABSOLUTE_SECONDS.
    for (const [before, after] of steps) {
      const apps = [await start(before), await start(after)] as const
      const signInAcross = async (n: number) => {
        const [from, to] = n % 2 === 0 ? apps : [apps[1], apps[0]]
        const browser = { cookie: '' }
        const parameters = journey.op.approve(await openTab(from, browser))
        const { statusCode, body } = await comeBack(to, browser, parameters)
        t.equal(statusCode, 302, body)
        return browser
      }
      const browsers: { cookie: string }[] = []
      while (browsers.length < 20) {
        const turns = Array.from({ length: atOnce }, (_, n) => signInAcross(browsers.length + n))
        browsers.push(...(await Promise.all(turns)))
      }
      for (const browser of browsers) {
        for (const app of [...apps, ...apps]) {
          t.equal((await visit(app, browser, '/me')).statusCode, 200, `${before} and ${after}`)
        }
      }
    }
  },
)

t.test('a double click on tenant switch keeps the cookie of the first response', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  const tenantId = await joinTenant(test, user)
  const { cookie } = await signIn(test, user)
  const click = () => as(test, { cookie })('POST', '/session/tenant', { tenantId })
  const moved = await click()
  t.equal(moved.statusCode, 204)
  t.match(moved.headers['set-cookie'], /^sid=\w/)
  const again = await click()
  t.equal(again.statusCode, 401)
  t.equal(again.headers['set-cookie'], undefined)
  const [both, late] = await Promise.all([click(), as(test, { cookie })('POST', '/auth/logout')])
  t.same([both.statusCode, late.statusCode], [401, 401])
  t.same([both.headers['set-cookie'], late.headers['set-cookie']], [undefined, undefined])
})

t.test('`bad state` on the second of two callbacks keeps the cookie of the first', async (t) => {
  const journey = await buildWithProvider(t)
  const browser = { cookie: '' }
  const parameters = journey.op.approve(await openTab(journey.app, browser))
  const before = { ...browser }
  t.equal((await comeBack(journey.app, browser, parameters)).statusCode, 302)
  const again = await comeBack(journey.app, before, parameters)
  t.equal(again.statusCode, 400)
  t.equal(again.body, 'bad state')
  t.equal(again.headers['set-cookie'], undefined)
  t.equal((await visit(journey.app, browser, '/me')).statusCode, 200)
})

t.test('a sign-in never begins under the id of a session that has ended', async (t) => {
  const journey = await buildWithProvider(t)
  const { database, app } = journey
  const endings = {
    deleted: 'DELETE FROM sessions',
    expired: 'UPDATE sessions SET expires_at = now()',
    idle: `UPDATE sessions SET last_seen_at = now() - interval '365 days'`,
  }
  for (const [name, sql] of Object.entries(endings)) {
    const { cookie } = await signIn(journey, await createUser(database))
    await database.admin.query(sql)
    const browser = { cookie }
    const parameters = journey.op.approve(await openTab(app, browser))
    t.not(browser.cookie, cookie, `${name}: the browser gets a new id`)
    t.equal((await comeBack(app, { cookie }, parameters)).body, 'bad state', `${name}: old id`)
    t.equal((await comeBack(app, browser, parameters)).statusCode, 302, `${name}: new id`)
    await database.admin.query('DELETE FROM sessions')
  }
})

t.test('a session that is live, anonymous or not, keeps its id at the start', async (t) => {
  const journey = await buildWithProvider(t)
  const anonymous = { cookie: '' }
  await openTab(journey.app, anonymous)
  const signedIn = { cookie: (await signIn(journey, await createUser(journey.database))).cookie }
  for (const browser of [anonymous, signedIn]) {
    const { cookie } = browser
    const answer = await visit(journey.app, browser, '/auth/login?provider=demo')
    t.equal(answer.statusCode, 302)
    t.equal(answer.headers['set-cookie'], undefined)
    t.equal(browser.cookie, cookie)
  }
})
