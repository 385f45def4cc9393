import t, { type Test } from 'tap'
import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { skipWithoutCluster } from './cluster.ts'
import { createDistributedDatabase } from './distributed-database.ts'
import { fillTenant, placeOf } from './tenant-rows.ts'

async function setUp(t: Test) {
  const { cluster, database } = await createDistributedDatabase(t)
  const config = testConfig(database)
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  const [, one, two] = cluster.servers
  if (one === undefined || two === undefined) throw new Error('A cluster has two nodes.')
  /** An admin of a tenant whose rows are on this node, with a row of each kind. */
  const createTenantOn = async (port: number) => {
    let tenant: TestUser
    do tenant = await createUser(database, { role: 'admin' })
    while ((await placeOf(database.admin, tenant)).port !== port)
    const { cookie } = await signIn({ config, database }, tenant)
    const ids = await fillTenant(database.admin, tenant)
    const get = async (url: string) => (await app.inject({ url, headers: { cookie } })).statusCode
    return { ...tenant, ids, get }
  }
  return {
    lost: two,
    tenant: await createTenantOn(one.port),
    other: await createTenantOn(two.port),
  }
}

/*
 * A node that is down shows which reads ask it. Every list and every row by its id is read with the node
 * of another tenant down.
 */
t.test('reads of a tenant ask its node alone', { skip: skipWithoutCluster }, async (t) => {
  const { lost, tenant, other } = await setUp(t)
  const { tenantId, userId, ids } = tenant
  const byId = [
    ...[`/posts/${ids.post}`, `/invoices/${ids.invoice}`, `/documents/${ids.document}`],
    ...[`/orders/${ids.order}`, `/folders/${ids.folder}`, `/teams/${ids.team}`],
    ...[`/teams/${ids.team}/members/${userId}`, `/deliveries/${tenantId}`],
    ...[`/webhook-endpoints/${tenantId}`, `/webhook-endpoints/${tenantId}/deliveries/count`],
    ...[`/app/posts/${ids.post}`, `/app/orders/${ids.order}`, `/app/documents/${ids.document}`],
    ...['', '/deliveries', '/settings', '/probe'].map((tab) => `/app/webhooks/${tenantId}${tab}`),
    ...[`/app/events/msg_${tenantId}`, `/app/deliveries/${tenantId}`],
  ]
  const lists = [
    ...['/me', '/tenants', '/users', '/audit', '/usage', '/notifications', '/invitations'],
    ...['/posts', '/invoices', '/documents', `/orders?tenantId=${tenantId}`, '/folders', '/teams'],
    ...['/events', '/webhook-endpoints', `/webhook-endpoints/${tenantId}/deliveries`],
    ...['/auth/sessions', '/auth/tokens', '/auth/identities', '/auth/audit', '/service-tokens'],
    ...['/app/posts', '/app/invoices', '/app/documents', '/app/teams', '/app/events'],
    ...['/app/event-types', '/app/event-types/order.updated'],
    ...['/app/webhooks', '/app/access', '/app/account', '/app/tenant', '/app/audit'],
  ]
  const ofAllTenants = ['/', '/orders', '/app/orders']
  const foreign = [
    ...[`/posts/${other.ids.post}`, `/invoices/${other.ids.invoice}`],
    ...[`/documents/${other.ids.document}`, `/deliveries/${other.tenantId}`],
  ]
  const foreignOrder = `/orders/${other.ids.order}`

  await t.test('with every node', async (t) => {
    for (const url of [...byId, ...lists, ...ofAllTenants]) t.equal(await tenant.get(url), 200, url)
    for (const url of [...foreign, foreignOrder]) t.equal(await tenant.get(url), 404, url)
  })

  await t.test('with the node of another tenant down', async (t) => {
    await lost.crash()
    for (const url of [...byId, ...lists]) t.equal(await tenant.get(url), 200, url)
    for (const url of foreign) t.equal(await tenant.get(url), 404, url)
    for (const url of ofAllTenants) {
      t.equal(await tenant.get(url), 503, `${url}: a person’s orders may be in any tenant`)
    }
    t.equal(
      await tenant.get(foreignOrder),
      503,
      'an order that is not in the tenant may be in another',
    )
    for (const url of [`/posts/${other.ids.post}`, '/posts', '/app/webhooks']) {
      t.equal(await other.get(url), 503, `${url} of a tenant of the node`)
    }
  })
})
