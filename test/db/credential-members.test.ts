import type pg from 'pg'
import t from 'tap'
import {
  createDatabase,
  createUser,
  type TestDatabase,
  type TestUser,
} from '#test/support/helper.ts'
import {
  addSession,
  addToken,
  connect,
  enterSession,
  enterToken,
  inside,
  refusalOf,
} from './credentials.ts'

const denied = '42501'

t.test('people see themselves, what is theirs, and the members of their tenant', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin', email: 'ada@example.com' })
  const ben = await createUser(database, { tenantId: ada.tenantId, email: 'ben@example.com' })
  const eve = await createUser(database, { email: 'eve@example.com' })
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [eve.tenantId, ada.userId],
  )
  for (const user of [ada, ben, eve]) {
    await addEverything(database, user)
  }
  const credential = await addSession(database, ada)
  const web = await connect(t, database.url)
  await inside(web, async () => {
    await enterSession(web, credential)
    const seen = async (sql: string) => (await web.query(sql)).rows.map((row) => Number(row.id))
    t.strictSame(await seen('SELECT id FROM users ORDER BY 1'), [ada.userId, ben.userId])
    t.strictSame(await seen('SELECT user_id AS id FROM memberships ORDER BY 1'), [
      ada.userId,
      ada.userId,
      ben.userId,
    ])
    t.strictSame(await seen('SELECT user_id AS id FROM tenant_members ORDER BY 1'), [
      ada.userId,
      ben.userId,
    ])
    for (const table of ['oauth_identities', 'sessions', 'api_tokens', 'token_revocations']) {
      const own = await seen(`SELECT DISTINCT user_id AS id FROM ${table}`)
      t.strictSame(own, [ada.userId], table)
    }
    t.equal((await web.query('SELECT FROM provider_grants')).rowCount, 1)
    t.equal((await web.query('SELECT FROM tenants')).rowCount, 2, 'where she is a member')
    t.strictSame((await web.query('SELECT tenant_id FROM invitations')).rows, [
      { tenant_id: ada.tenantId },
    ])
  })
  const untouched: [string, string][] = [
    ['a role in another tenant', `UPDATE memberships SET role = 'admin' WHERE tenant_id <> $1`],
    ['a membership in another tenant', 'DELETE FROM memberships WHERE tenant_id <> $1'],
    ['a session of another', `DELETE FROM sessions WHERE user_id <> ${ada.userId} AND $1 <> ''`],
    [
      'an identity of another',
      `DELETE FROM oauth_identities WHERE user_id <> ${ada.userId} AND $1 <> ''`,
    ],
    ['an invitation elsewhere', 'DELETE FROM invitations WHERE tenant_id <> $1'],
    ['a customer elsewhere', `UPDATE users SET billing_customer = 'x' WHERE own_tenant_id <> $1`],
  ]
  for (const [name, sql] of untouched) {
    await inside(web, async () => {
      await enterSession(web, credential)
      t.equal((await web.query(sql, [ada.tenantId])).rowCount, 0, name)
    })
  }
})

t.test('a token makes no token', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const insert = (web: pg.Client) =>
    web.query(
      `INSERT INTO api_tokens (hash, user_id, tenant_id, name, expires_at)
       VALUES (sha256('x'), $1, $2, 'x', now() + interval '1 day')`,
      [user.userId, user.tenantId],
    )
  const web = await connect(t, database.url)
  const [session, token] = [await addSession(database, user), await addToken(database, user)]
  await inside(web, async () => {
    await enterSession(web, session)
    t.equal((await insert(web)).rowCount, 1)
  })
  await inside(web, async () => {
    await enterToken(web, token)
    t.equal(await refusalOf(insert(web)), denied)
  })
})

t.test('removing a member takes the user along with the last membership', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin' })
  const ben = await createUser(database, { tenantId: ada.tenantId })
  const cy = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [ada.tenantId, cy.userId],
  )
  const stranger = await createUser(database)
  await addEverything(database, ben)
  const credential = await addSession(database, ada)
  const web = await connect(t, database.url)
  const remove = async (id: number) =>
    (await web.query('SELECT * FROM remove_member($1)', [id])).rows
  await web.query('BEGIN')
  await enterSession(web, credential)
  t.strictSame(await remove(stranger.userId), [], 'of another tenant')
  t.strictSame(await remove(cy.userId), [{ user_gone: false, revocations: [] }])
  const [gone] = await remove(ben.userId)
  t.match(gone, { user_gone: true })
  t.equal(gone?.revocations.length, 1)
  await web.query('COMMIT')
  const left = await database.admin.query('SELECT id FROM users WHERE id = ANY ($1)', [
    [ben.userId, cy.userId, stranger.userId],
  ])
  t.equal(left.rowCount, 2)
  const { rows } = await database.admin.query(
    `SELECT id FROM token_revocations WHERE user_id = $1 AND status = 'revoking'`,
    [ben.userId],
  )
  t.strictSame(rows.map(({ id }) => id).filter((id) => gone?.revocations.includes(id)).length, 1)
  t.equal(await refusalOf(remove(cy.userId)), denied, 'without a credential')
})

t.test('an invitation is accepted for who holds the address, and for nobody else', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin' })
  const eve = await createUser(database, { email: 'Eve@example.com', emailVerified: true })
  const mal = await createUser(database, { email: 'eve@example.com' })
  const web = await connect(t, database.url)
  const credential = await addSession(database, ada)
  await inside(web, async () => {
    await enterSession(web, credential)
    await web.query(
      `INSERT INTO invitations (tenant_id, email, role, department, expires_at)
       VALUES ($1, 'eve@example.com', 'editor', 'sales', now() + interval '1 day')`,
      [ada.tenantId],
    )
    t.strictSame((await web.query(`SELECT * FROM find_holder('eve@EXAMPLE.com')`)).rows, [
      { user_id: String(eve.userId), member: false },
    ])
    const accept = (user: TestUser) =>
      web.query(`SELECT * FROM accept_invitations('eve@example.com', $1)`, [user.userId])
    t.match((await accept(eve)).rows, [{ tenant_id: ada.tenantId }])
    t.strictSame((await accept(eve)).rows, [], 'once')
    t.match((await web.query(`SELECT * FROM find_holder('eve@example.com')`)).rows, [
      { member: true },
    ])
    t.equal(await refusalOf(accept(mal)), denied)
  })
  t.strictSame((await web.query(`SELECT * FROM find_holder('eve@example.com')`)).rows, [])
})

async function addEverything(database: TestDatabase, user: TestUser): Promise<void> {
  const { admin } = database
  await addSession(database, user)
  await addToken(database, user)
  const subject = `subject-${user.userId}`
  await admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', $2, $1, 'https://op')`,
    [user.userId, subject],
  )
  await admin.query(
    `INSERT INTO provider_grants (provider, provider_user_id, access_token, scope)
     VALUES ('demo', $1, '', '')`,
    [subject],
  )
  await admin.query(
    `INSERT INTO token_revocations (provider, provider_user_id, user_id, token, kind, status)
     VALUES ('demo', $2, $1, '', 'access_token', 'revoking')`,
    [user.userId, subject],
  )
  await admin.query(
    `INSERT INTO invitations (tenant_id, email, role, expires_at)
     VALUES ($1, $2, 'viewer', now() + interval '1 day') ON CONFLICT DO NOTHING`,
    [user.tenantId, 'guest@example.com'],
  )
}
