import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { maxLinksPerMinute, maxPortalSessions } from '#src/auth/portal/portal.ts'
import { portalCookie } from '#src/http/headers/portal-cookie.ts'
import { build } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { cookieOf, linkOf, portalOwner, portalVisitor } from '#test/support/callers/portal.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

t.test(
  'an app makes a link of which only a hash is stored, and the audit log says so',
  async (t) => {
    const { user, app } = await portalOwner(test)
    const answer = await app.use('POST', `/tenants/${user.tenantId}/portal-links`)
    t.equal(answer.statusCode, 201, answer.body)
    t.match(answer.json(), {
      url: /^http:\/\/localhost:3000\/portal\/open\?link=[\w-]{43}$/,
      expiresAt: /Z$/,
    })
    const link = linkOf(answer)
    const { rows } = await test.database.admin.query(
      `SELECT id, expires_at - created_at = interval '5 minutes' AS "fiveMinutes",
       opened_at AS "openedAt", p::text AS text FROM portal_sessions p`,
    )
    t.match(rows, [{ fiveMinutes: true, openedAt: null }])
    t.notMatch(rows[0]?.text, link)
    t.notMatch(test.log.join('\n'), link)
    const entries = await test.database.admin.query(
      `SELECT action, outcome, tenant_id AS "tenantId", user_id AS "userId", service_id AS "serviceId",
       service_name AS name, target FROM audit_log`,
    )
    t.strictSame(entries.rows, [
      {
        ...{ action: 'portal-link-create', outcome: 'done', tenantId: user.tenantId, userId: null },
        ...{ serviceId: app.id, name: 'backend', target: rows[0]?.id },
      },
    ])
  },
)

t.test('links are made with the permission, and for a tenant that exists', async (t) => {
  const { tenantId } = await createUser(test.database)
  const path = (tenant: string) => `/tenants/${tenant}/portal-links`
  const limited = await appCaller(test, ['event:publish'])
  const refused = await limited.use('POST', path(tenantId))
  t.equal(refused.statusCode, 403)
  const app = await appCaller(test, ['portal-link:create'])
  t.equal((await app.use('POST', path(crypto.randomUUID()))).statusCode, 404)
  t.equal((await app.use('POST', path('x'))).statusCode, 400)
  t.equal((await app.use('POST', path(tenantId), { x: 1 })).statusCode, 400)
  t.equal((await app.use('POST', path(tenantId))).statusCode, 201)
  await test.database.admin.query('SELECT close_tenant($1)', [tenantId])
  t.equal((await app.use('POST', path(tenantId))).statusCode, 404, 'and was not closed')
})

t.test('links of an app token for one tenant are limited by the minute', async (t) => {
  const { user, app } = await portalOwner(test)
  const other = await createUser(test.database)
  await test.database.admin.query(
    `INSERT INTO portal_sessions (hash, tenant_id, app_token_id, expires_at)
     SELECT sha256(n::text::bytea), $1, $2, now() + interval '5 minutes' FROM generate_series(2, $3) n`,
    [user.tenantId, app.id, maxLinksPerMinute],
  )
  const make = (tenantId: string) => app.use('POST', `/tenants/${tenantId}/portal-links`)
  const both = await Promise.all([make(user.tenantId), make(user.tenantId)])
  t.strictSame(both.map(({ statusCode }) => statusCode).toSorted(), [201, 429], 'also at once')
  t.ok(both.some(({ headers }) => headers['retry-after'] === '60'))
  t.equal((await make(other.tenantId)).statusCode, 201, 'another tenant has its own')
  const second = await appCaller(test)
  const answer = await second.use('POST', `/tenants/${user.tenantId}/portal-links`)
  t.equal(answer.statusCode, 201, 'so has another app token')
})

t.test(
  'a token has a number of live links and sessions of a tenant; one more ends its oldest',
  async (t) => {
    const test = await build(t)
    const { user, app, openLink } = await portalOwner(test)
    await test.database.admin.query(
      `INSERT INTO portal_sessions (hash, tenant_id, app_token_id, created_at, expires_at)
     SELECT sha256(n::text::bytea), $1, $2, now() - n * interval '2 minutes', now() + interval '1 hour'
     FROM generate_series(1, $3) n`,
      [user.tenantId, app.id, maxPortalSessions],
    )
    const oldest = 'SELECT FROM portal_sessions WHERE hash = sha256($1)'
    const bytes = (n: number) => [Buffer.from(String(n))]
    const open = 'UPDATE portal_sessions SET opened_at = now() WHERE hash = sha256($1)'
    await test.database.admin.query(open, bytes(maxPortalSessions))
    await app.use('POST', `/tenants/${user.tenantId}/portal-links`)
    const { rowCount } = await test.database.admin.query('SELECT FROM portal_sessions')
    t.equal(rowCount, maxPortalSessions)
    const left = async (n: number) => (await test.database.admin.query(oldest, bytes(n))).rowCount
    t.equal(await left(maxPortalSessions), 1, 'a session outlives links that were not opened')
    t.equal(await left(maxPortalSessions - 1), 0)
    t.equal(await left(maxPortalSessions - 2), 1)

    const second = await appCaller(test)
    t.equal((await second.use('POST', `/tenants/${user.tenantId}/portal-links`)).statusCode, 201)
    t.equal(await left(maxPortalSessions), 1, 'a link of another app token ends none of this one')
    t.equal(await left(maxPortalSessions - 2), 1)

    await test.database.admin.query('UPDATE portal_sessions SET opened_at = now()')
    const make = async () => {
      const made = await app.use('POST', `/tenants/${user.tenantId}/portal-links`)
      return new URL(made.json().url).searchParams.get('link') ?? ''
    }
    const links = [await make(), await make()]
    for (const link of links)
      t.equal((await openLink(link)).statusCode, 303, 'a new link can be opened')
  },
)

t.test('a person who opens many links has one session, and colleagues keep theirs', async (t) => {
  const { makeLink, openLink, enter } = await portalOwner(test)
  const colleague = await enter()
  let value = ''
  const earlier: string[] = []
  for (let n = 0; n < 5; n += 1) {
    const opened = await openLink(await makeLink(), { cookie: `${portalCookie}=${value}` })
    t.equal(opened.statusCode, 303, opened.body)
    if (value !== '') earlier.push(value)
    value = cookieOf(opened)
  }
  for (const ended of earlier) {
    t.equal((await portalVisitor(test, ended).open('/portal/events')).statusCode, 401)
  }
  t.equal((await portalVisitor(test, value).open('/portal/events')).statusCode, 200)
  t.equal((await colleague.open('/portal/events')).statusCode, 200)

  const other = await portalOwner(test)
  const opened = await other.openLink(await other.makeLink(), { cookie: colleague.cookie })
  t.equal(opened.statusCode, 303)
  t.equal((await colleague.open('/portal/events')).statusCode, 200, 'one of another tenant')
})

t.test('the app ends a link or a session by its id, in the tenant that it names', async (t) => {
  const { user, app, openLink } = await portalOwner(test)
  const other = await createUser(test.database)
  const path = `/tenants/${user.tenantId}/portal-links`
  const make = async () => {
    const answer = await app.use('POST', path)
    return { id: answer.json().id as string, link: linkOf(answer) }
  }
  const [unopened, opened, kept] = [await make(), await make(), await make()]
  const visitor = portalVisitor(test, cookieOf(await openLink(opened.link)))
  const stays = portalVisitor(test, cookieOf(await openLink(kept.link)))
  t.equal((await visitor.open('/portal/events')).statusCode, 200)

  const foreign = `/tenants/${other.tenantId}/portal-links/${opened.id}`
  t.equal((await app.use('DELETE', foreign)).statusCode, 404)
  const maker = await appCaller(test, ['portal-link:create'])
  t.equal((await maker.use('DELETE', `${path}/${opened.id}`)).statusCode, 403)
  t.equal((await visitor.open('/portal/events')).statusCode, 200, 'nobody has ended it')

  // Another token of the app: the first may have been replaced.
  const ender = await appCaller(test, ['portal-link:delete'])
  for (const { id } of [unopened, opened]) {
    t.equal((await ender.use('DELETE', `${path}/${id}`)).statusCode, 204)
    t.equal((await ender.use('DELETE', `${path}/${id}`)).statusCode, 404, 'once')
  }
  t.equal((await openLink(unopened.link)).statusCode, 401)
  t.equal((await visitor.open('/portal/events')).statusCode, 401)
  t.equal((await stays.open('/portal/events')).statusCode, 200)
  const { rows } = await test.database.admin.query(
    `SELECT target, service_id AS by FROM audit_log WHERE action = 'portal-link-delete' ORDER BY id`,
  )
  t.strictSame(
    rows,
    [unopened, opened].map(({ id }) => ({ target: id, by: ender.id })),
  )
})
