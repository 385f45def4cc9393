import pg from 'pg'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createDatabase } from '#test/support/database/database.ts'
import {
  addService,
  addSession,
  connect,
  enterSession,
  inside,
  isHeldUp,
  randomCredential,
  scopeOf,
} from './credentials.ts'

const enter = (client: pg.Client, credential: Buffer, forWrite = false) =>
  client.query('SELECT * FROM enter_service($1, $2)', [credential, forWrite])

/** The number of rows, or the code of the refusal. */
async function outcomeOf(client: pg.Client, sql: string, values: unknown[] = []) {
  await client.query('SAVEPOINT attempt')
  try {
    return (await client.query(sql, values)).rowCount
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.code
    throw error
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT attempt')
  }
}

const denied = '42501'

t.test('SQL in the scope of a service reaches its tenant, and nothing of a person', async (t) => {
  const database = await createDatabase(t)
  const { admin } = database
  const ada = await createUser(database, { role: 'admin' })
  const eve = await createUser(database, { role: 'admin' })
  for (const user of [ada, eve]) {
    await addSession(database, user)
    await admin.query(`INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'x', 'x')`, [
      user.tenantId,
    ])
    await admin.query(
      `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
       VALUES ($1, $2, '[]', '{}', '4242')`,
      [user.tenantId, user.userId],
    )
    await admin.query(
      `INSERT INTO invitations (tenant_id, email, role, expires_at)
       VALUES ($1, 'new@example.com', 'viewer', now() + interval '1 day')`,
      [user.tenantId],
    )
  }
  const credential = await addService(database, ada, { permissions: ['post:read'] })
  await addService(database, eve)
  const web = await connect(t, database.url)
  await inside(web, async () => {
    t.equal((await enter(web, credential)).rowCount, 1)
    t.strictSame(await scopeOf(web), { userId: null, tenantId: ada.tenantId })
    for (const [sql, expected] of [
      ['SELECT FROM posts', 1],
      ['SELECT FROM orders', 0],
      ['SELECT FROM documents', 0],
      ['SELECT id FROM sessions', 0],
      ['SELECT id FROM api_tokens', 0],
      ['SELECT FROM oauth_identities', 0],
      ['SELECT FROM idempotency_keys', 0],
      ['SELECT name FROM service_tokens', 1],
      ['DELETE FROM service_tokens', 0],
      [`UPDATE service_tokens SET permissions = '{post:delete}'`, 0],
      [`UPDATE memberships SET role = 'viewer'`, 0],
      ['DELETE FROM memberships', 0],
      [`UPDATE invitations SET role = 'admin'`, 0],
      ['DELETE FROM invitations', 0],
    ] as const) {
      t.equal(await outcomeOf(web, sql), expected, sql)
    }
    const invitation = `INSERT INTO invitations (tenant_id, email, role, expires_at)
      VALUES ($1, 'eve@example.com', 'admin', now())`
    t.equal(await outcomeOf(web, invitation, [ada.tenantId]), denied)
    const token = `INSERT INTO service_tokens (last_four, tenant_id, hash, name, permissions, expires_at)
      VALUES ('test', $1, sha256('mine'), 'x', '{user:create}', now())`
    t.equal(await outcomeOf(web, token, [ada.tenantId]), denied)
    const order = `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
      VALUES ($1, $2, '[]', '{}', '4242')`
    t.equal(await outcomeOf(web, order, [ada.tenantId, ada.userId]), denied)
    for (const [name, values] of [
      ['remove_member($1)', [ada.userId]],
      ['own_invitations(NULL, NULL)', []],
      ['lock_current_user()', []],
      [`export_own('profile', NULL, NULL, 10)`, []],
      ['enter_order_tenant(1)', []],
    ] as const) {
      const outcome = await outcomeOf(web, `SELECT * FROM ${name}`, [...values])
      t.ok(outcome === denied || outcome === 0 || name.startsWith('lock'), `${name}: ${outcome}`)
    }
  })
  await inside(web, async () => {
    await enterSession(web, await addSession(database, ada))
    t.equal(await outcomeOf(web, 'DELETE FROM service_tokens'), 1, 'a session of its tenant does')
    t.equal(await outcomeOf(web, 'SELECT FROM idempotency_keys'), 0)
  })
})

t.test('keys of a service are seen in its scope alone', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin' })
  const [one, two] = [await addService(database, ada), await addService(database, ada)]
  const web = await connect(t, database.url)
  const key = `INSERT INTO idempotency_keys (holder, tenant_id, key_hash, request_hash)
    VALUES ($1, current_tenant_id(), sha256('k'), sha256('r'))`
  await web.query('BEGIN')
  await enter(web, one, true)
  const { rows } = await web.query('SELECT current_service_id() AS id')
  const holder = `service ${rows[0].id} ${ada.tenantId}`
  t.equal(await outcomeOf(web, key, [`person ${ada.userId}`]), denied, 'nor for a person')
  await web.query(key, [holder])
  await web.query('COMMIT')
  for (const [credential, seen] of [
    [one, 1],
    [two, 0],
  ] as const) {
    await inside(web, async () => {
      await enter(web, credential)
      t.equal(await outcomeOf(web, 'SELECT FROM idempotency_keys'), seen)
    })
  }
  await inside(web, async () => {
    await enterSession(web, await addSession(database, ada))
    t.equal(await outcomeOf(web, 'SELECT FROM idempotency_keys'), 0, 'nor by an admin')
    t.equal(await outcomeOf(web, key, [holder]), denied)
  })
})

t.test('an expired token opens nothing, and is deleted 30 days later', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin' })
  const credential = await addService(database, ada, { expired: true })
  const [web, worker] = [await connect(t, database.url), await connect(t, database.workerUrl)]
  await inside(web, async () => {
    t.equal((await enter(web, credential)).rowCount, 0)
    t.strictSame(await scopeOf(web), { userId: null, tenantId: null })
  })
  const prune = async () => (await worker.query('SELECT tokens FROM prune_dead(1, 30, 10)')).rows
  t.strictSame(await prune(), [{ tokens: 0 }])
  await database.admin.query(`UPDATE service_tokens SET expires_at = now() - interval '31 days'`)
  t.strictSame(await prune(), [{ tokens: 1 }])
})

t.test('deleting a tenant waits for a write of its service, which needs its members', async (t) => {
  const database = await createDatabase(t)
  const { admin } = database
  const ada = await createUser(database, { role: 'admin' })
  const { tenantId } = ada
  const member = await createUser(database, { tenantId })
  await admin.query(`UPDATE tenants SET name = 'Ours' WHERE id = $1`, [tenantId])
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO teams (tenant_id, name) VALUES ($1, 'x') RETURNING id`,
    [tenantId],
  )
  const credential = await addService(database, ada, { permissions: ['team:update'] })
  const session = await addSession(database, ada)
  const [service, person] = [await connect(t, database.url), await connect(t, database.url)]
  await service.query('BEGIN')
  await enter(service, credential, true)
  const deleted = person.query(`SELECT outcome FROM delete_tenant($1, $2, 'Ours')`, [
    session,
    randomCredential(),
  ])
  await isHeldUp(database, person)
  for (const { userId } of [member, ada]) {
    await service.query(
      'INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)',
      [tenantId, rows[0]?.id, userId],
    )
  }
  await service.query('COMMIT')
  t.strictSame((await deleted).rows, [{ outcome: 'ended' }])
  t.equal((await enter(service, credential)).rowCount, 0, 'the token ended with the tenant')
})
