import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'

async function note(
  { database }: TestApp,
  userId: number | null,
  tenantId: string | null,
  reason: string,
) {
  await database.admin.query(
    `INSERT INTO audit_log (action, outcome, reason, user_id, tenant_id) VALUES ('sign-in', 'done', $1, $2, $3)`,
    [reason, userId, tenantId],
  )
}

async function world(test: TestApp) {
  const admin = await createUser(test.database, { role: 'admin' })
  const member = await createUser(test.database, { tenantId: admin.tenantId, role: 'editor' })
  const stranger = await createUser(test.database, { role: 'admin' })
  await note(test, admin.userId, admin.tenantId, 'admin here')
  await note(test, admin.userId, stranger.tenantId, 'admin elsewhere')
  await note(test, admin.userId, null, 'admin nowhere')
  await note(test, member.userId, admin.tenantId, 'member here')
  await note(test, stranger.userId, stranger.tenantId, 'stranger')
  await note(test, null, null, 'nobody')
  return { admin, member, stranger }
}

const reasons = (answer: { json(): { data: { reason: string }[] } }) =>
  answer.json().data.map(({ reason }) => reason)

/** For every test that changes nothing outside of tenants and users of its own. */
const test = await build(t)

t.test('a user reads their own entries of all tenants, newest first', async (t) => {
  const { admin, member } = await world(test)
  const read = async (user: typeof admin) =>
    as(test, { cookie: (await signIn(test, user)).cookie })('GET', '/auth/audit')
  const answer = await read(admin)
  t.same(reasons(answer), ['admin nowhere', 'admin elsewhere', 'admin here'])
  t.same(Object.keys(answer.json().data[0]), [
    'id',
    'at',
    'action',
    'outcome',
    'reason',
    'provider',
    'providerError',
    'target',
    'userId',
    'serviceId',
    'serviceName',
    'portalSessionId',
    'tenantId',
    'ip',
    'userAgent',
  ])
  t.same(reasons(await read(member)), ['member here'], 'not those of the tenant')
})

t.test('only an admin of the tenant reads its entries', async (t) => {
  const { admin, member, stranger } = await world(test)
  const read = async (user: typeof admin) =>
    as(test, { cookie: (await signIn(test, user)).cookie })('GET', '/audit')
  t.same(
    reasons(await read(admin)),
    ['member here', 'admin here'],
    'not their own in other tenants',
  )
  t.same(reasons(await read(stranger)), ['stranger', 'admin elsewhere'])
  t.equal((await read(member)).statusCode, 403)
  t.equal((await test.app.inject({ url: '/audit' })).statusCode, 401)
  t.equal((await test.app.inject({ url: '/auth/audit' })).statusCode, 401)
})

t.test('the query scope alone hides foreign entries: row-level security is off', async (t) => {
  const test = await build(t)
  const { admin, member } = await world(test)
  await test.database.admin.query('ALTER TABLE audit_log DISABLE ROW LEVEL SECURITY')
  const read = async (user: typeof admin, url: string) =>
    as(test, { cookie: (await signIn(test, user)).cookie })('GET', url)
  t.same(reasons(await read(member, '/auth/audit')), ['member here'])
  t.same(reasons(await read(admin, '/audit')), ['member here', 'admin here'])
})

t.test('row-level security alone hides foreign entries: the query has no scope', async (t) => {
  const test = await build(t)
  const { admin, member } = await world(test)
  const enter = await allowScopes(test.database)
  const seen = async (scope: TestScope) => {
    const rows = await test.app.db.read(enter(scope), (tx) => tx.auditEntry.findMany())
    return rows.map(({ reason }) => reason).toSorted()
  }
  t.same(await seen({ userId: member.userId }), ['member here'])
  t.same(await seen({ tenantId: admin.tenantId }), ['admin here', 'member here'])
  t.same(await seen({}), [])
})

t.test('the list is paged; a changed cursor is 400', async (t) => {
  const user = await createUser(test.database, { role: 'admin' })
  for (let index = 0; index < 5; index += 1)
    await note(test, user.userId, user.tenantId, `${index}`)
  const get = as(test, { cookie: (await signIn(test, user)).cookie })
  for (const path of ['/auth/audit', '/audit']) {
    const first = await get('GET', `${path}?limit=3`)
    t.same(reasons(first), ['4', '3', '2'])
    const { nextCursor } = first.json()
    // A new entry does not shift the next page.
    await note(test, user.userId, user.tenantId, 'late')
    const second = await get('GET', `${path}?limit=3&cursor=${nextCursor}`)
    t.same(reasons(second), ['1', '0'])
    t.equal(second.json().nextCursor, null)
    const elsewhere = path === '/audit' ? '/auth/audit' : '/audit'
    t.equal((await get('GET', `${elsewhere}?cursor=${nextCursor}`)).statusCode, 400)
    t.equal((await get('GET', `${path}?cursor=${nextCursor}x`)).statusCode, 400)
    await test.database.admin.query(`DELETE FROM audit_log WHERE reason = 'late'`)
  }
})
