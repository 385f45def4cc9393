import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { receive } from '#test/billing/received.ts'
import { createDatabase } from '#test/support/database/database.ts'
import {
  addSession,
  connect,
  enterSession,
  inside,
  isHeldUp,
  randomCredential,
} from './credentials.ts'

/* A closed tenant counts nowhere, while its rows wait for a worker. Each test compares it with an open one. */

/** A person in three tenants: their own, one that was closed, and one that is open. */
async function setUp(t: Test) {
  const database = await createDatabase(t)
  const { admin } = database
  const ada = await createUser(database, { role: 'admin' })
  const closed = await createUser(database)
  const open = await createUser(database, { role: 'admin' })
  for (const [{ tenantId }, role, minutesAgo] of [
    [closed, 'admin', 1],
    [open, 'viewer', 2],
  ] as const) {
    await admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role, last_active_at)
       VALUES ($1, $2, $3, now() - make_interval(mins => $4))`,
      [tenantId, ada.userId, role, minutesAgo],
    )
    await admin.query(
      `INSERT INTO posts (tenant_id, author_id, title, body) VALUES ($1, $2, 'x', 'x')`,
      [tenantId, ada.userId],
    )
  }
  await admin.query('SELECT close_tenant($1)', [closed.tenantId])
  const web = await connect(t, database.url)
  const rowsOf = async (sql: string, values: unknown[] = []) => (await web.query(sql, values)).rows
  const asOwner = async (sql: string, values: unknown[] = []) =>
    (await admin.query(sql, values)).rows
  const sessionIn = ({ tenantId }: TestUser) => addSession(database, { ...ada, tenantId })
  return { database, ada, closed, open, web, rowsOf, asOwner, sessionIn }
}

/** Begins a transaction in which the owner of the closed tenant signs in, a viewer of the open one by a role map. */
async function enterMapped({
  closed,
  open,
  web,
  rowsOf,
  asOwner,
}: Awaited<ReturnType<typeof setUp>>) {
  await asOwner(
    `INSERT INTO memberships (tenant_id, user_id, role, role_provider) VALUES ($1, $2, 'viewer', 'demo')`,
    [open.tenantId, closed.userId],
  )
  await asOwner(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', 'eve', $1, 'https://op')`,
    [closed.userId],
  )
  const ticket = await callBack(rowsOf, randomCredential(), 'sign-in')
  await web.query('BEGIN')
  await rowsOf('SELECT FROM enter_attempt($1)', [ticket])
  await rowsOf(`SELECT enter_identity('eve')`)
}

/** The ticket of an attempt whose callback has come. */
async function callBack(
  rowsOf: (sql: string, values: unknown[]) => Promise<unknown>,
  cookie: Buffer,
  purpose: 'link' | 'sign-in',
): Promise<Buffer> {
  const [state, ticket] = [randomCredential(), randomCredential()]
  const start = `SELECT start_attempt($1, $2, $3, 'demo', 'n', 'v', NULL, NULL, 600)`
  await rowsOf(start, [cookie, state, purpose])
  await rowsOf('SELECT FROM take_attempt($1, $2, $3)', [cookie, state, ticket])
  return ticket
}

t.test('a closed tenant is not switched to, left or deleted again', async (t) => {
  const { ada, closed, open, rowsOf, asOwner, sessionIn } = await setUp(t)
  const session = await sessionIn(ada)
  for (const call of ['switch_tenant', 'leave_tenant']) {
    const values = [session, randomCredential(), closed.tenantId]
    t.match(await rowsOf(`SELECT * FROM ${call}($1, $2, $3)`, values), [{ outcome: 'no-member' }])
  }
  const [{ name }] = await asOwner('SELECT name FROM tenants WHERE id = $1', [closed.tenantId])
  const remove = [await sessionIn(closed), randomCredential(), name]
  const deleted = await rowsOf('SELECT outcome FROM delete_tenant($1, $2, $3)', remove)
  t.strictSame(deleted, [{ outcome: 'session-ended' }])
  await asOwner('SELECT close_tenant($1)', [closed.tenantId])
  t.equal((await asOwner(`SELECT FROM erasures WHERE kind = 'tenant'`)).length, 1)
  const named = 'SELECT tenant_name($1) IS NOT NULL AS named'
  t.strictSame(await asOwner(named, [closed.tenantId]), [{ named: false }])
  t.strictSame(await asOwner(named, [open.tenantId]), [{ named: true }])

  const leave = [await sessionIn(ada), randomCredential(), ada.tenantId]
  await asOwner(`UPDATE memberships SET role = 'viewer' WHERE tenant_id = $1`, [ada.tenantId])
  t.match(await rowsOf('SELECT * FROM leave_tenant($1, $2, $3)', leave), [{ outcome: 'moved' }])
  const moved = await asOwner('SELECT tenant_id AS id FROM sessions WHERE id_hash = sha256($1)', [
    leave[1],
  ])
  t.strictSame(moved, [{ id: open.tenantId }], 'though the closed one was active later')
})

t.test('a closed tenant takes no room among those of a person', async (t) => {
  const { ada, web, rowsOf, sessionIn } = await setUp(t)
  const session = await sessionIn(ada)
  await inside(web, async () => {
    await enterSession(web, session, true)
    const create = () => rowsOf(`SELECT create_tenant('new', 3) IS NOT NULL AS made`)
    t.strictSame(await create(), [{ made: true }])
    t.strictSame(await create(), [{ made: false }], 'three that are open')
  })
})

t.test('the role map of a provider makes no member of a closed tenant', async (t) => {
  const { closed, open, web, rowsOf } = await setUp(t)
  const ticket = await callBack(rowsOf, randomCredential(), 'sign-in')
  await inside(web, async () => {
    await rowsOf('SELECT FROM enter_attempt($1)', [ticket])
    await rowsOf(`SELECT create_user('eve', 'https://op', 'eve@example.com', 'Eve')`)
    const outcomeIn = ({ tenantId }: TestUser) =>
      rowsOf(`SELECT outcome FROM apply_role_map($1, 'viewer')`, [tenantId])
    t.strictSame(await outcomeIn(closed), [{ outcome: 'no-tenant' }])
    t.strictSame(await outcomeIn(open), [{ outcome: 'joined' }])
  })
})

t.test('a tenant is not closed while the role map changes its members', async (t) => {
  const scene = await setUp(t)
  const { database, open, web, rowsOf } = scene
  const [holder, other] = [
    await connect(t, database.superuserUrl),
    await connect(t, database.superuserUrl),
  ]
  await enterMapped(scene)
  await holder.query('BEGIN')
  await holder.query('SELECT FROM memberships WHERE tenant_id = $1 FOR UPDATE', [open.tenantId])
  const change = rowsOf(`SELECT outcome FROM apply_role_map($1, 'editor')`, [open.tenantId])
  const changed = t.resolveMatch(change, [{ outcome: 'changed' }])
  await isHeldUp(database, web)
  const closing = other.query('SELECT close_tenant($1)', [open.tenantId])
  await isHeldUp(database, other)
  await holder.query('COMMIT')
  await changed
  await web.query('COMMIT')
  await closing
})

t.test('whom the role map removes gets a tenant, though they are in a closed one', async (t) => {
  const scene = await setUp(t)
  const { closed, open, web, rowsOf, asOwner } = scene
  await enterMapped(scene)
  const removed = await rowsOf('SELECT outcome FROM apply_role_map($1, NULL)', [open.tenantId])
  t.strictSame(removed, [{ outcome: 'removed' }])
  await web.query('COMMIT')
  const own = await asOwner(
    `SELECT m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id
     WHERE m.user_id = $1 AND t.closed_at IS NULL`,
    [closed.userId],
  )
  t.strictSame(own, [{ role: 'admin' }])
})

t.test('a closed tenant has no scheduled jobs', async (t) => {
  const { ada, open, asOwner } = await setUp(t)
  const list = `SELECT list_open_tenants('00000000-0000-0000-0000-000000000000', 10) AS id`
  const ids = (await asOwner(list)).map(({ id }) => id)
  t.strictSame(ids, [ada.tenantId, open.tenantId].toSorted())
})

t.test('no customer is linked to a closed tenant', async (t) => {
  const { closed, open, asOwner } = await setUp(t)
  const linkTo = ({ tenantId }: TestUser) =>
    asOwner(`SELECT outcome FROM assign_customer('cus_1', NULL, NULL, $1)`, [tenantId])
  t.strictSame(await linkTo(closed), [{ outcome: 'no-tenant' }])
  t.strictSame(await linkTo(open), [{ outcome: 'linked' }])
})

t.test('nothing of a closed tenant is exported', async (t) => {
  const { ada, closed, open, web, rowsOf, asOwner, sessionIn } = await setUp(t)
  const session = await sessionIn(ada)
  for (const [{ tenantId }, rows] of [
    [closed, 0],
    [open, 1],
  ] as const) {
    await inside(web, async () => {
      await enterSession(web, session)
      const own = await rowsOf(`SELECT FROM export_own('posts', $1, NULL, 10)`, [tenantId])
      t.equal(own.length, rows)
    })
    const page = `SELECT FROM export_page('tenant', 'tenant', NULL, $1, NULL, 10)`
    t.equal((await asOwner(page, [tenantId])).length, rows)
  }
  const unknown = asOwner(`SELECT FROM export_page('tenant', 'unknown', NULL, $1, NULL, 10)`, [
    open.tenantId,
  ])
  await t.rejects(unknown, { message: 'no section unknown of a tenant' })
})

t.test('a link that was begun in a closed tenant has no session any more', async (t) => {
  const { closed, open, web, rowsOf, sessionIn } = await setUp(t)
  for (const [tenant, isLive] of [
    [closed, false],
    [open, true],
  ] as const) {
    const ticket = await callBack(rowsOf, await sessionIn(tenant), 'link')
    await inside(web, async () => {
      const [entered] = await rowsOf('SELECT * FROM enter_attempt($1)', [ticket])
      t.equal(entered.session_user_id !== null, isLive)
    })
  }
})

t.test('an invitation to a closed tenant is of no use', async (t) => {
  const { database, ada, closed, open, web, rowsOf, asOwner } = await setUp(t)
  const ticket = await callBack(rowsOf, randomCredential(), 'sign-in')
  for (const [{ tenantId }, inviter, isOpen] of [
    [closed, ada, false],
    [open, open, true],
  ] as const) {
    const email = `${isOpen}@example.com`
    const [{ id }] = await asOwner(
      `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
       VALUES ($1, $2, 'viewer', $3, now() + interval '1 day') RETURNING id`,
      [tenantId, email, inviter.userId],
    )
    const guest = await addSession(
      database,
      await createUser(database, { email, emailVerified: true }),
    )
    for (const use of [
      'SELECT count(*) = 1 AS done FROM own_invitations($1, NULL)',
      'SELECT accept_invitation($1, NULL) IS NOT NULL AS done',
      'SELECT decline_invitation($1, NULL) AS done',
    ]) {
      await inside(web, async () => {
        await enterSession(web, guest, true)
        t.strictSame(await rowsOf(use, [id]), [{ done: isOpen }], use)
      })
    }
    await inside(web, async () => {
      await rowsOf('SELECT FROM enter_attempt($1)', [ticket])
      const admission = `SELECT invited FROM look_up_admission($1, NULL)`
      t.strictSame(await rowsOf(admission, [email]), [{ invited: isOpen }])
    })
  }
})

t.test('an event about a payment does not enter a closed tenant', async (t) => {
  const { database, closed, open, asOwner } = await setUp(t)
  await receive(database, { id: 'evt_1' })
  await asOwner(
    `INSERT INTO billing_objects (object_id, kind, invoice_tenant)
     VALUES ('closed', 'payment', $1), ('open', 'payment', $2)`,
    [closed.tenantId, open.tenantId],
  )
  const worker = await connect(t, database.workerUrl)
  const enter = async (payment: string) =>
    (await worker.query(`SELECT FROM enter_billing_event('evt_1', NULL, $1)`, [payment])).rowCount
  t.equal(await enter('closed'), 0)
  t.equal(await enter('open'), 1)
})

t.test('a tenant that closes after somebody has entered it buys nothing', async (t) => {
  const { ada, web, rowsOf, asOwner, sessionIn } = await setUp(t)
  const session = await sessionIn(ada)
  await inside(web, async () => {
    await enterSession(web, session)
    const billing = async () => (await rowsOf('SELECT FROM tenant_billing(NULL)')).length
    t.equal(await billing(), 1)
    await asOwner('SELECT close_tenant($1)', [ada.tenantId])
    t.equal(await billing(), 0)
  })
})

t.test('the last admin of a closed tenant can delete their account', async (t) => {
  const { ada, open, rowsOf, sessionIn } = await setUp(t)
  const erase = 'SELECT outcome, tenants FROM erase_account($1)'
  const erased = await rowsOf(erase, [await sessionIn(ada)])
  t.strictSame(erased, [{ outcome: 'erased', tenants: [open.tenantId] }], 'who hears of it')
})

t.test('a worker deletes nothing of an open tenant', async (t) => {
  const { ada, closed, open, asOwner } = await setUp(t)
  const members = 'SELECT count(*)::int FROM memberships WHERE tenant_id = $1'
  const posts = 'SELECT author_id::int AS author FROM posts WHERE tenant_id = $1'
  await asOwner('SELECT end_memberships($1, 10)', [open.tenantId])
  t.strictSame(await asOwner(members, [open.tenantId]), [{ count: 2 }])
  await asOwner('DELETE FROM memberships WHERE tenant_id = $1', [open.tenantId])
  t.strictSame(await asOwner('SELECT purge_tenant($1, 10) AS ended', [open.tenantId]), [
    { ended: true },
  ])
  t.strictSame(await asOwner(posts, [open.tenantId]), [{ author: ada.userId }])

  await asOwner('DELETE FROM memberships WHERE tenant_id = $1', [closed.tenantId])
  t.strictSame(
    await asOwner('SELECT purge_member($1, $2, 10) AS ended', [closed.tenantId, ada.userId]),
    [{ ended: true }],
  )
  t.strictSame(
    await asOwner(posts, [closed.tenantId]),
    [{ author: ada.userId }],
    'they are deleted',
  )
})
