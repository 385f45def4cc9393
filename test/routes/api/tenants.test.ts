import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import {
  auditTrail,
  buildWithProvider,
  comeBack,
  openTab,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const json = { 'content-type': 'application/json' }

async function join({ database }: TestApp, tenantId: string, userId: number, role = 'viewer') {
  await database.admin.query(
    'INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, $3)',
    [tenantId, userId, role],
  )
}

/** For every test that changes nothing outside of tenants and users of its own. */
const test = await build(t)

t.test('the user’s memberships are listed by name, with role and the active one', async (t) => {
  const user = await createUser(test.database, { role: 'admin' })
  const other = await createUser(test.database)
  await createUser(test.database)
  await join(test, other.tenantId, user.userId)
  await test.database.admin.query(
    `UPDATE tenants SET name = CASE id WHEN $1 THEN 'Zebra' WHEN $2 THEN 'Apple' ELSE 'Foreign' END`,
    [user.tenantId, other.tenantId],
  )
  const get = as(test, { cookie: (await signIn(test, user)).cookie })
  const apple = { id: other.tenantId, name: 'Apple', role: 'viewer', active: false }
  const zebra = { id: user.tenantId, name: 'Zebra', role: 'admin', active: true }
  t.same((await get('GET', '/tenants')).json(), { data: [apple, zebra], nextCursor: null })
  const first = (await get('GET', '/tenants?limit=1')).json()
  t.same(first.data, [apple])
  const second = (await get('GET', `/tenants?limit=1&cursor=${first.nextCursor}`)).json()
  t.same(second, { data: [zebra], nextCursor: null })
})

t.test('a switch gives a new session id, ends the old one, and activates the tenant', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const other = await createUser(test.database)
  await join(test, other.tenantId, user.userId)
  const browser = { cookie: (await signIn(test, user)).cookie }
  const old = browser.cookie
  const sessionId = (await as(test, browser)('GET', '/auth/sessions')).json().data[0].id
  const answer = await visit(test.app, browser, '/session/tenant', {
    method: 'POST',
    headers: json,
    payload: JSON.stringify({ tenantId: other.tenantId }),
  })
  t.equal(answer.statusCode, 204)
  t.not(browser.cookie, old)
  t.equal((await as(test, { cookie: old })('GET', '/me')).statusCode, 401, 'the old id is invalid')
  const me = (await as(test, browser)('GET', '/me')).json()
  t.match(me, { tenant: { id: other.tenantId }, role: 'viewer' })
  t.same((await as(test, browser)('GET', '/auth/sessions')).json().data[0].id, sessionId)
  t.same(await auditTrail(test), ['tenant-switch done own-request'])
  const { rows } = await test.database.admin.query(
    'SELECT tenant_id FROM memberships WHERE user_id = $1 AND last_active_at IS NOT NULL',
    [user.userId],
  )
  t.same(rows, [{ tenant_id: other.tenantId }])
})

t.test('a form is redirected to the start page', async (t) => {
  const user = await createUser(test.database)
  const browser = { cookie: (await signIn(test, user)).cookie }
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
  }
  const payload = `tenantId=${user.tenantId}`
  const answer = await visit(test.app, browser, '/session/tenant', {
    method: 'POST',
    headers,
    payload,
  })
  t.equal(answer.statusCode, 303)
  t.equal(answer.headers.location, '/')
  t.equal((await visit(test.app, browser, '/me')).statusCode, 200)
})

t.test(
  'a tenant without membership is the same 404 as a missing one, and nothing changes',
  async (t) => {
    const test = await build(t)
    const user = await createUser(test.database)
    const other = await createUser(test.database)
    const { cookie } = await signIn(test, user)
    const post = as(test, { cookie })
    const foreign = await post('POST', '/session/tenant', { tenantId: other.tenantId })
    const missing = await post('POST', '/session/tenant', { tenantId: crypto.randomUUID() })
    t.equal(foreign.statusCode, 404)
    t.same({ ...foreign.json(), instance: '' }, { ...missing.json(), instance: '' })
    t.equal(foreign.headers['set-cookie'], undefined)
    for (const body of [{}, { tenantId: 'x' }, { tenantId: user.tenantId, userId: 1 }]) {
      t.equal((await post('POST', '/session/tenant', body)).statusCode, 400)
    }
    t.match((await post('GET', '/me')).json(), { tenant: { id: user.tenantId } })
    t.same(await auditTrail(test), [])
  },
)

t.test('pending sign-ins of other tabs continue after a switch', async (t) => {
  const journey = await buildWithProvider(t)
  const browser = { cookie: '' }
  await signInThrough(journey, browser)
  const me = (await visit(journey.app, browser, '/me')).json()
  const tab = journey.op.approve(await openTab(journey.app, browser))
  const payload = JSON.stringify({ tenantId: me.tenant.id })
  await visit(journey.app, browser, '/session/tenant', { method: 'POST', headers: json, payload })
  t.equal((await comeBack(journey.app, browser, tab)).statusCode, 302)
})

t.test('a switch and a sign-out at once: in any order the user is signed out', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  for (let round = 0; round < 20; round += 1) {
    const { cookie } = await signIn(test, user)
    const send = as(test, { cookie })
    const [moved, left] = await Promise.all([
      send('POST', '/session/tenant', { tenantId: user.tenantId }),
      send('POST', '/auth/logout'),
    ])
    t.ok([204, 401].includes(moved.statusCode), `switch ${moved.statusCode}`)
    const { rows } = await test.database.admin.query('SELECT FROM sessions')
    // A sign-out with an id that was just replaced is 401, and the browser has the new id.
    if (left.statusCode === 204) t.equal(rows.length, 0, 'no session is left')
    else t.equal(left.statusCode, 401)
    await test.database.admin.query('DELETE FROM sessions')
  }
})

t.test('a sign-out that waits for a switch ends the new session', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  const { cookie } = await signIn(test, user)
  const { admin } = test.database
  const blocker = await admin.connect()
  await blocker.query('BEGIN; SELECT FROM sessions FOR UPDATE')
  const send = as(test, { cookie })
  const moved = send('POST', '/session/tenant', { tenantId: user.tenantId })
  await untilBlocked(test.database)
  const left = send('POST', '/auth/logout')
  await untilBlocked(test.database, 2)
  await blocker.query('COMMIT')
  blocker.release()
  t.equal((await left).statusCode, 204)
  t.ok([204, 401].includes((await moved).statusCode))
  t.equal((await admin.query('SELECT FROM sessions')).rowCount, 0)
})

t.test('two switches at once: one succeeds, the other gets 401', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  const { cookie } = await signIn(test, user)
  const send = as(test, { cookie })
  const body = { tenantId: user.tenantId }
  const answers = await Promise.all([1, 2, 3].map(() => send('POST', '/session/tenant', body)))
  t.same(answers.map(({ statusCode }) => statusCode).toSorted(), [204, 401, 401])
  t.same(await auditTrail(test), ['tenant-switch done own-request'])
})

t.test('a switch whose session has got another id changes nothing', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  const other = await createUser(test.database)
  await join(test, other.tenantId, user.userId)
  const { cookie } = await signIn(test, user)
  const { admin } = test.database
  const blocker = await admin.connect()
  await blocker.query(`BEGIN; UPDATE sessions SET id_hash = sha256('another')`)
  const moved = as(test, { cookie })('POST', '/session/tenant', { tenantId: other.tenantId })
  await untilBlocked(test.database)
  await blocker.query('COMMIT')
  blocker.release()
  t.equal((await moved).statusCode, 401)
  const { rows } = await admin.query('SELECT FROM memberships WHERE last_active_at IS NOT NULL')
  t.same(rows, [])
  t.same(await auditTrail(test), [])
})

t.test('row-level security shows a user only the tenants they are a member of', async (t) => {
  const user = await createUser(test.database)
  const other = await createUser(test.database)
  await createUser(test.database)
  await join(test, other.tenantId, user.userId)
  const { userId, tenantId } = user
  const enter = await allowScopes(test.database)
  const seen = async (scope: TestScope) =>
    (await test.app.db.read(enter(scope), (tx) => tx.tenant.findMany({ select: { id: true } })))
      .map(({ id }) => id)
      .toSorted()
  t.same(await seen({ userId, tenantId }), [tenantId, other.tenantId].toSorted())
  t.same(await seen({ tenantId }), [tenantId])
  t.same(await seen({ userId }), [tenantId, other.tenantId].toSorted())
  t.same(await seen({ userId: userId + 100 }), [])
  t.same(await seen({}), [])
})

t.test('a person creates a tenant of their own, without leaving the active one', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'viewer' })
  const send = as(test, await signIn(test, user))
  const answer = await send('POST', '/tenants', { name: 'Café Numéro 2' })
  t.equal(answer.statusCode, 201)
  const created = answer.json()
  t.match(created, { name: 'Café Numéro 2', role: 'admin', active: false })
  t.notOk('location' in answer.headers, 'a tenant is not read by its path')
  t.equal((await send('GET', '/me')).json().tenant.id, user.tenantId)
  const { data } = (await send('GET', '/tenants')).json()
  t.match(
    data.find(({ id }: { id: string }) => id === created.id),
    created,
  )
  t.same(await auditTrail(test), ['tenant-create done own-request'])
  const { rows } = await test.database.admin.query(
    'SELECT FROM tenant_usage WHERE tenant_id = $1',
    [created.id],
  )
  t.equal(rows.length, 1, 'what it stores is counted')
})

t.test('names of tenants that are refused', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const send = as(test, await signIn(test, user))
  for (const name of ['', '   ', 'a\nb', 'a\0', 'x'.repeat(201), 7, undefined]) {
    t.equal((await send('POST', '/tenants', { name })).statusCode, 400, JSON.stringify(name))
    const path = `/tenants/${user.tenantId}`
    t.equal((await send('PATCH', path, { name })).statusCode, 400, JSON.stringify(name))
  }
  t.same(await auditTrail(test), [])
})

t.test(
  'a member of a hundred tenants creates no other, two requests at once included',
  async (t) => {
    const user = await createUser(test.database, { role: 'admin' })
    await test.database.admin.query(
      `WITH made AS (
       INSERT INTO tenants (id, name) SELECT gen_random_uuid(), 'x' FROM generate_series(1, 98) RETURNING id)
     INSERT INTO memberships (tenant_id, user_id, role) SELECT id, $1, 'viewer' FROM made`,
      [user.userId],
    )
    const send = as(test, await signIn(test, user))
    const both = await Promise.all([
      send('POST', '/tenants', { name: 'one' }),
      send('POST', '/tenants', { name: 'two' }),
    ])
    t.same(both.map(({ statusCode }) => statusCode).toSorted(), [201, 409])
    t.match(both.find(({ statusCode }) => statusCode === 409)?.json(), { type: /too-many-tenants/ })
  },
)

t.test('an admin renames the active tenant, and no other', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const other = await createUser(test.database, { role: 'admin' })
  await join(test, other.tenantId, user.userId, 'admin')
  const send = as(test, await signIn(test, user))
  const answer = await send('PATCH', `/tenants/${user.tenantId}`, { name: 'Acme & Söhne' })
  t.equal(answer.statusCode, 200)
  t.same(answer.json(), { id: user.tenantId, name: 'Acme & Söhne' })
  t.equal((await send('GET', '/me')).json().tenant.name, 'Acme & Söhne')
  const notActive = await send('PATCH', `/tenants/${other.tenantId}`, { name: 'Taken' })
  t.equal(notActive.statusCode, 404, 'their other tenant is not the active one')
  const { rows } = await test.database.admin.query('SELECT name FROM tenants WHERE id = $1', [
    other.tenantId,
  ])
  t.not(rows[0].name, 'Taken')
  t.same(await auditTrail(test), ['tenant-rename done own-request'])
})

t.test(
  'a creation that is sent again with its key makes one tenant, without an active one too',
  async (t) => {
    const test = await build(t)
    const user = await createUser(test.database, { role: 'admin' })
    const { cookie } = await signIn(test, user)
    const send = (key: string) =>
      test.app.inject({
        method: 'POST',
        url: '/tenants',
        headers: { ...json, cookie, 'idempotency-key': key },
        payload: { name: 'Once' },
      })
    const [first, again] = [await send('a'), await send('a')]
    t.equal(first.statusCode, 201)
    t.equal(again.body, first.body)
    t.equal(again.headers['idempotent-replayed'], 'true')
    const listed = (await as(test, { cookie })('GET', '/tenants')).json().data
    t.equal(listed.length, 2, 'their own and the new one')
    await test.database.admin.query('UPDATE sessions SET tenant_id = NULL')
    const [alone, replayed] = [await send('b'), await send('b')]
    t.equal(alone.statusCode, 201)
    t.equal(replayed.body, alone.body)
  },
)
