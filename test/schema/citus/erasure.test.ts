import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { distributedTables } from '#src/schema/citus/placement.ts'
import { eraseAll } from '#test/auth/erasure/support.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'
import { fillTenant } from './tenant-rows.ts'

t.test('a person is erased on a distributed database', { skip: skipWithoutCluster }, async (t) => {
  const { database } = await createDistributedDatabase(t)
  const { admin } = database
  const config = testConfig(database)
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  const { user, send } = await owner({ app, config, database, log: [] }, { role: 'admin' })
  const other = await createUser(database, { role: 'admin' })
  await admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [other.tenantId, user.userId],
  )
  await fillTenant(admin, user)
  const { order, post } = await fillTenant(admin, { ...other, userId: user.userId })
  const event = {
    ...{
      id: `msg_${crypto.randomUUID()}`,
      type: 'order.updated',
      createdAt: '2026-01-31T12:00:00.000Z',
    },
    data: { id: order, userId: user.userId, shippingAddress: { name: 'Ada' }, cardLast4: '4242' },
  }
  await admin.query(
    'INSERT INTO outbound_events (tenant_id, id, type, body) VALUES ($1, $2, $3, $4)',
    [other.tenantId, event.id, event.type, JSON.stringify(event)],
  )
  const { order: kept } = await fillTenant(admin, await createUser(database))

  const { statusCode } = await send('POST', '/auth/account/delete', { confirm: 'delete' })
  t.equal(statusCode, 204)
  t.equal((await send('GET', '/me')).statusCode, 401)
  await eraseAll(database)

  const count = async (table: string, column: string, value: unknown) => {
    const { rows } = await admin.query<{ count: number }>(
      `SELECT count(*)::int FROM ${table} WHERE ${column} = $1`,
      [value],
    )
    return rows[0]?.count
  }
  for (const table of distributedTables) {
    t.equal(await count(table, 'tenant_id', user.tenantId), 0, `${table} of the own tenant`)
  }
  t.equal(await count('tenants', 'id', user.tenantId), 0)
  t.equal(await count('users', 'id', user.userId), 0)
  for (const table of ['memberships', 'team_members', 'orders']) {
    t.equal(await count(table, 'user_id', user.userId), 0, `${table} in another tenant`)
  }
  const { rows: posts } = await admin.query(
    'SELECT author_id FROM posts WHERE tenant_id = $1 AND id = $2',
    [other.tenantId, post],
  )
  t.strictSame(posts, [{ author_id: null }], 'a post stays without its author')
  const { rows: events } = await admin.query(
    'SELECT body::json FROM outbound_events WHERE tenant_id = $1 AND id = $2',
    [other.tenantId, event.id],
  )
  const data = { ...event.data, shippingAddress: { name: 'erased' }, cardLast4: '0000' }
  t.match(events, [{ body: { ...event, data } }], 'address and card are gone from the events')
  t.equal(await count('orders', 'id', kept), 1, 'orders of others stay')
  t.equal(await count('erasures', 'user_id', user.userId), 0, 'and nothing is left to do')
})
