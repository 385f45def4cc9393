import type pg from 'pg'
import t, { type Test } from 'tap'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { addSession, connect } from '#test/db/credentials.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/*
 * Ending a right takes constant time, however much history there is: counted in rows that the transaction
 * changes and in pages that it reads, side by side with a world that has next to no history. The history
 * goes later, in batches.
 */

const many = 500_000
const manyMembers = 50_000
const few = 10

/** An admin, a member who has another tenant, a member who has no other, and all that they have left. */
type World = {
  admin: TestUser
  member: TestUser
  lone: TestUser
  /** Of a session of the member. */
  credential: string
  endpointId: string
  serviceId: string
}

/** By kind of history: rows of `n` from 1, of the tenant $1, the member $2, the endpoint $3, the service $4. */
const history: Readonly<Record<string, string>> = {
  posts: `(tenant_id, author_id, title, body) SELECT $1::uuid, $2::bigint, 'x', 'x'`,
  orders: `(tenant_id, user_id, line_items, shipping_address, card_last4)
    SELECT $1::uuid, $2::bigint, '[]', '{}', '4242'`,
  invitations: `(tenant_id, email, role, invited_by, expires_at, accepted_at)
    SELECT $1::uuid, 'a' || n || '@' || $1::text, 'viewer', $2::bigint, now(), now()`,
  outbound_events: `(tenant_id, id, type, body)
    SELECT $1::uuid, 'msg_' || lpad(n::text, 16, '0'), 'order.updated', '{"userId":' || $2::bigint || ',}'`,
  deliveries: `(tenant_id, id, event_id, endpoint_id, event_type, held_for)
    SELECT $1::uuid, lpad(to_hex(n), 32, '0')::uuid, 'msg_' || lpad(n::text, 16, '0'), $3::uuid, 'order.updated', 'rate'`,
  due_attempts: `(tenant_id, delivery_id, endpoint_id, due_at, series, number)
    SELECT $1::uuid, lpad(to_hex(n), 32, '0')::uuid, $3::uuid, now(), 0, 1`,
  delivery_attempts: `(tenant_id, delivery_id, series, number, started_at, duration_ms)
    SELECT $1::uuid, lpad(to_hex(n), 32, '0')::uuid, 0, 1, now(), 1`,
  endpoint_replays: `(tenant_id, endpoint_id, replay_from, replay_to, total, finished_at)
    SELECT $1::uuid, $3::uuid, now(), now(), 0, now()`,
  notifications: `(tenant_id, endpoint_id, kind, message) SELECT $1::uuid, $3::uuid, 'endpoint.failing', 'x'`,
  audit_log: `(action, outcome, tenant_id, user_id, ip) SELECT 'sign-in', 'done', $1::uuid, $2::bigint, '192.0.2.0/24'`,
  idempotency_keys: `(holder, key_hash, tenant_id, request_hash)
    SELECT 'person ' || $2::bigint, sha256(n::text::bytea), $1::uuid, sha256('')`,
}

/** The others would have the same keys twice. */
const ofEachPerson = ['posts', 'orders', 'audit_log', 'idempotency_keys']

/** Each right, and the statement that ends it as the owner of the tables does inside of the functions. */
const endings: Readonly<Record<string, (world: World) => string>> = {
  'a membership': ({ admin, member }) =>
    `SELECT * FROM remove_membership('${admin.tenantId}', ${member.userId})`,
  'the last membership of a person': ({ admin, lone }) =>
    `SELECT * FROM remove_membership('${admin.tenantId}', ${lone.userId})`,
  'an account': ({ member }) => `SELECT * FROM erase_person(${member.userId})`,
  'an account by its own person': ({ credential }) =>
    `SELECT * FROM erase_account('${credential}')`,
  'the account of a person without another tenant': ({ lone }) =>
    `SELECT * FROM erase_person(${lone.userId})`,
  'a session': ({ member }) => `DELETE FROM sessions WHERE user_id = ${member.userId}`,
  'an API token': ({ member }) => `DELETE FROM api_tokens WHERE user_id = ${member.userId}`,
  'a service token': ({ serviceId }) => `DELETE FROM service_tokens WHERE id = '${serviceId}'`,
  'an endpoint': ({ admin, endpointId }) =>
    `SELECT delete_endpoint('${admin.tenantId}', '${endpointId}')`,
  'a tenant': ({ admin }) => `SELECT close_tenant('${admin.tenantId}')`,
}

t.test('ending a right takes constant time, whatever history there is', async (t) => {
  const test = await build(t)
  const [large, small] = [await createWorld(test), await createWorld(test)]
  await fill(test.database, large, many)
  await fill(test.database, small, few)
  await addMembers(test.database, large, manyMembers)
  await addMembers(test.database, small, few)
  await test.database.admin.query('VACUUM ANALYZE')

  const owner = await connect(t, test.database.ownerUrl)
  for (const [right, statement] of Object.entries(endings)) {
    await measure(owner, small, statement(small)) // fills the caches of the connection
    const before = await measure(owner, small, statement(small))
    const after = await measure(owner, large, statement(large))
    t.ok(before.rows > 0, `${right} ends`)
    t.equal(after.rows, before.rows, `${right}: rows that change, with ${many} of each kind`)
    // An index of half a million rows is two levels deeper. A scan of one table would be thousands of pages.
    const most = before.pages * 1.5 + 100
    t.ok(after.pages <= most, `${right}: ${after.pages} pages after ${before.pages}`)
  }

  await answersRequests(t, test, large)
})

/** By requests: none of them is a 503, and access ends with the answer. */
async function answersRequests(t: Test, test: TestApp, world: World): Promise<void> {
  const { admin, member, lone, endpointId, serviceId } = world
  const send = as(test, await signIn(test, admin))
  const [ofMember, ofLone] = [await signIn(test, member), await signIn(test, lone)]
  for (const path of [
    `/webhook-endpoints/${endpointId}`,
    `/service-tokens/${serviceId}`,
    `/users/${member.userId}`,
    `/users/${lone.userId}`,
  ]) {
    const answer = await send('DELETE', path)
    t.equal(answer.statusCode, 204, `${path} ${answer.body}`)
  }
  t.equal((await send('GET', `/webhook-endpoints/${endpointId}/deliveries`)).statusCode, 404)
  t.strictSame((await send('GET', '/notifications')).json().data, [])
  for (const caller of [ofMember, ofLone]) {
    t.equal((await as(test, caller)('GET', '/me')).statusCode, 401)
  }
  const { rows } = await test.database.admin.query(`SELECT name FROM tenants WHERE id = $1`, [
    admin.tenantId,
  ])
  const deleted = await send('POST', '/session/tenant/delete', { name: rows[0]?.name })
  t.ok(deleted.statusCode < 300, deleted.body)
  t.equal((await send('GET', '/me')).statusCode, 401)
}

async function createWorld({ database }: TestApp): Promise<World> {
  const admin = await createUser(database, { role: 'admin' })
  const lone = await createUser(database, { tenantId: admin.tenantId, role: 'editor' })
  const elsewhere = await createUser(database, { role: 'admin' })
  const member = { ...elsewhere, tenantId: admin.tenantId }
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
    [admin.tenantId, member.userId],
  )
  await database.admin.query(
    `WITH session AS (
       INSERT INTO sessions (id_hash, user_id, tenant_id, expires_at)
       VALUES (sha256(gen_random_uuid()::text::bytea), $2, $1, now() + interval '1 day'))
     INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, expires_at)
     VALUES ('test', sha256(gen_random_uuid()::text::bytea), $2, $1, 'x', now() + interval '1 day')`,
    [admin.tenantId, member.userId],
  )
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO service_tokens (last_four, tenant_id, hash, name, permissions, expires_at)
     VALUES ('test', $1, sha256(gen_random_uuid()::text::bytea), 'x', '{}', now() + interval '1 day') RETURNING id`,
    [admin.tenantId],
  )
  const endpointId = await createEndpoint(database, admin, { url: 'https://a.example/' })
  const credential = `\\x${(await addSession(database, member)).toString('hex')}`
  return { admin, member, lone, credential, endpointId, serviceId: rows[0]?.id ?? '' }
}

/** Without triggers and foreign keys, which would count and check each row. */
async function fill(database: TestDatabase, world: World, count: number): Promise<void> {
  const { admin, member, lone, endpointId, serviceId } = world
  const client = await database.admin.connect()
  try {
    await client.query('SET session_replication_role = replica')
    for (const [table, columns] of Object.entries(history)) {
      for (const { userId } of ofEachPerson.includes(table) ? [member, lone] : [member]) {
        await client.query({
          text: `WITH given AS (SELECT $1::uuid, $2::bigint, $3::uuid, $4::uuid)
                 INSERT INTO ${table} ${columns} FROM given, generate_series(1, $5::int) AS n`,
          values: [admin.tenantId, userId, endpointId, serviceId, count],
        })
      }
    }
    await client.query('RESET session_replication_role')
  } finally {
    client.release()
  }
}

/** Members who have no other tenant, each with a session and an API token. */
async function addMembers(database: TestDatabase, { admin }: World, count: number): Promise<void> {
  const client = await database.admin.connect()
  try {
    await client.query('SET session_replication_role = replica')
    await client.query(
      `WITH person AS (
         INSERT INTO users (email) SELECT 'member' FROM generate_series(1, $2::int) RETURNING id
       ), member AS (
         INSERT INTO memberships (tenant_id, user_id, role) SELECT $1, id, 'viewer' FROM person
       ), session AS (
         INSERT INTO sessions (id_hash, user_id, tenant_id, expires_at)
         SELECT sha256(id::text::bytea), id, $1, now() + interval '1 day' FROM person)
       INSERT INTO api_tokens (hash, last_four, user_id, tenant_id, name, expires_at)
       SELECT sha256(id::text::bytea), 'test', id, $1, 'x', now() + interval '1 day' FROM person`,
      [admin.tenantId, count],
    )
    await client.query('RESET session_replication_role')
  } finally {
    client.release()
  }
}

/** What a statement changes and reads, rolled back. */
async function measure(owner: pg.Client, { admin }: World, statement: string) {
  await owner.query('BEGIN')
  await owner.query(`SELECT set_scope('session', '', NULL, '${admin.tenantId}')`)
  const before = await changedRows(owner)
  const { rows } = await owner.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
  )
  const changed = (await changedRows(owner)) - before
  await owner.query('ROLLBACK')
  const { 'Shared Hit Blocks': hit = 0, 'Shared Read Blocks': read = 0 } =
    rows[0]?.['QUERY PLAN'][0].Plan ?? {}
  return { rows: changed, pages: hit + read }
}

/** Counted on this connection, transactions before included until they are reported. */
async function changedRows(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::int AS count
     FROM pg_stat_xact_user_tables`,
  )
  return rows[0]?.count ?? 0
}
