import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { attemptsAs, denied } from '#test/db/attempt.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createDatabase } from '#test/support/database/database.ts'

const statements = [
  'SELECT FROM tenant_members',
  `UPDATE tenant_members SET role = 'admin'`,
  'DELETE FROM tenant_members',
  'SELECT FROM tenant_invitations',
  'DELETE FROM tenant_invitations',
]

t.test(
  'the views show the rows of the transaction’s tenant, and none without a tenant',
  async (t) => {
    const database = await createDatabase(t)
    const mine = await createUser(database)
    const other = await createUser(database)
    for (const { tenantId } of [mine, other]) {
      await database.admin.query(
        `INSERT INTO invitations (tenant_id, email, role, expires_at)
       VALUES ($1, 'a@example.com', 'viewer', now() + interval '1 day')`,
        [tenantId],
      )
    }
    const app = await attemptsAs(t, database, database.url)
    const worker = await attemptsAs(t, database, database.workerUrl)
    for (const sql of statements) {
      t.match(await app({ tenantId: mine.tenantId }, sql), { rows: 1 }, sql)
      t.match(await app({}, sql), { rows: 0 }, `${sql} without a context`)
      t.match(await app({ userId: mine.userId }, sql), { rows: 0 }, `${sql} as a user alone`)
      t.match(await app({ tenantId: crypto.randomUUID() }, sql), { rows: 0 }, `${sql} elsewhere`)
      t.match(await worker(mine, sql), denied, `${sql} as the worker`)
    }
    const never = [
      `INSERT INTO tenant_members (tenant_id, user_id, role) VALUES ('${mine.tenantId}', ${other.userId}, 'admin')`,
      `UPDATE tenant_members SET tenant_id = '${other.tenantId}'`,
      `UPDATE tenant_members SET user_id = ${other.userId}`,
      `UPDATE tenant_invitations SET role = 'admin'`,
    ]
    for (const sql of never) t.match(await app(mine, sql), denied, sql)
  },
)

const lists = ['/users', '/invitations'] as const

/** Two tenants with a member and an invitation each, and requests for the other tenant's rows. */
async function world(t: Parameters<typeof build>[0]) {
  const test = await build(t)
  const { user, send } = await owner(test, { role: 'admin' })
  const stranger = await owner(test, { role: 'admin' })
  const invite = { email: 'a@example.com', role: 'viewer' }
  await send('POST', '/users', invite)
  const { id } = (await stranger.send('POST', '/users', invite)).json()
  const attacks = async () => [
    (await send('PATCH', `/users/${stranger.user.userId}`, { role: 'viewer' })).statusCode,
    (await send('DELETE', `/users/${stranger.user.userId}`)).statusCode,
    (await send('DELETE', `/invitations/${id}`)).statusCode,
  ]
  const seen = async () => {
    const answers = await Promise.all(lists.map((url) => send('GET', url)))
    return answers.map((answer) => answer.json().data.length)
  }
  return { test, user, attacks, seen }
}

t.test('the query’s scope alone protects other tenants’ rows', async (t) => {
  const { test, attacks, seen } = await world(t)
  await test.database.admin.query(`
    CREATE OR REPLACE VIEW tenant_members WITH (security_invoker = true) AS
      SELECT tenant_id, user_id, role, department, created_at FROM memberships;
    CREATE OR REPLACE VIEW tenant_invitations WITH (security_invoker = true) AS
      SELECT tenant_id, id, email, role, department, invited_by, created_at, expires_at, accepted_at,
        link_hash, greatest(created_at, mailed_at) AS sent_at
      FROM invitations`)
  t.strictSame(await seen(), [1, 1])
  t.strictSame(await attacks(), [404, 404, 404])
})

t.test(
  'each lock alone keeps foreign rows in: the tables without row-level security',
  async (t) => {
    const { test, attacks, seen } = await world(t)
    for (const table of ['memberships', 'invitations', 'users']) {
      await test.database.admin.query(`ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`)
    }
    t.strictSame(await seen(), [1, 1])
    t.strictSame(await attacks(), [404, 404, 404])
  },
)

t.test('each lock alone keeps foreign rows in: without the query’s own scope', async (t) => {
  const { test, user, attacks, seen } = await world(t)
  // Every row now matches any tenant that a query asks for.
  await test.database.admin.query(`
    CREATE OR REPLACE VIEW tenant_members WITH (security_invoker = true) AS
      SELECT '${user.tenantId}'::uuid AS tenant_id, user_id, role, department, created_at FROM memberships
      WHERE tenant_id = (SELECT current_tenant_id());
    CREATE OR REPLACE VIEW tenant_invitations WITH (security_invoker = true) AS
      SELECT '${user.tenantId}'::uuid AS tenant_id, id, email, role, department, invited_by,
             created_at, expires_at, accepted_at, link_hash, greatest(created_at, mailed_at) AS sent_at
      FROM invitations WHERE tenant_id = (SELECT current_tenant_id())`)
  t.strictSame(await seen(), [1, 1])
  t.strictSame(await attacks(), [404, 404, 404])
})
