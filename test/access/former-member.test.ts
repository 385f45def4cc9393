import t, { type Test } from 'tap'
import type { Placed } from '#dev/testing/access/kind.ts'
import { traceOf } from '#dev/testing/access/trace.ts'
import type { Caller } from '#dev/testing/access/world.ts'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { actors } from '#test/access/matrix/actors.ts'
import { entriesOf } from '#test/access/matrix/entries.ts'
import { expectedStatus } from '#test/access/matrix/expected.ts'
import type { Kind, Kinds } from '#test/access/matrix/kind.ts'
import { openProgram } from '#test/access/matrix/matrix.ts'
import { outboundKinds } from '#test/access/matrix/outbound-kinds.ts'
import { send } from '#test/access/matrix/request.ts'
import { resourceKinds } from '#test/access/matrix/resource-kinds.ts'
import { serviceKinds } from '#test/access/matrix/service-kinds.ts'
import { createCaller, createWorld, type World } from '#test/access/matrix/world.ts'
import { descriptions } from '#test/resources/index.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/*
 * A person who was a member of a tenant, has objects there, and is now a member of another tenant only.
 */

const shippingAddress = {
  name: 'x'.repeat(200),
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

/** What an owner changes: the row, and what the tenant of the row stores. */
const rowsOfOwners: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  descriptions
    .filter(({ rules }) => rules.read?.reach === 'owner')
    .map(({ name, table }) => [name, [table, 'tenant_usage', 'usage_changes']]),
)

const kindsOfTenants: Kinds = { ...resourceKinds, ...outboundKinds, ...serviceKinds }

t.test('a former member changes no row of the tenant but their own rows', async (t) => {
  const { setup, routes } = await openProgram(t, { queryScope: true, rowLevelSecurity: true })
  const { test } = setup
  setup.setTime('12:00:00.000')
  const tried = new Set<string>()
  const wrong: string[] = []
  for (const entry of entriesOf(routes)) {
    const { object = '' } = entry.row
    const kind = kindsOfTenants[object]
    if (kind === undefined) continue
    const world = await createWorld(test)
    const former = await createFormerMember(world, setup.operators, kind)
    tried.add(object)
    const before = await traceOf({ ...world, elsewhere: world.home })
    const answer = await send(test, entry, former.caller, former.object)
    const after = await traceOf({ ...world, elsewhere: world.home })
    const expected = expectedStatus(entry.row, entry, former.caller, former.object)
    if (answer.statusCode !== expected) {
      wrong.push(`${entry.name} is ${answer.statusCode} instead of ${expected}`)
    }
    const changed = Object.keys(before).filter((table) => before[table] !== after[table])
    const allowed = rowsOfOwners[object] ?? []
    const unexpected = changed.filter((table) => !allowed.includes(table))
    if (unexpected.length > 0) wrong.push(`${entry.name} changed ${unexpected}`)
  }
  t.strictSame(wrong, [])
  t.strictSame(
    Object.keys(kindsOfTenants).filter((name) => !tried.has(name)),
    ['notification'],
    'every resource is tried but the one that no route names by its id',
  )
})

t.test('an order changed by a former member is published nowhere', async (t) => {
  const { test, home, owner, orderId } = await createMemberOfTwo(t)
  const { cookie } = await signIn(test, owner)
  const change = () => as(test, { cookie })('PATCH', `/orders/${orderId}`, { shippingAddress })

  t.equal((await change()).statusCode, 200)
  t.equal(await publishedIn(test, home.tenantId), 1, 'a member’s change is published')

  await removeFrom(test, home, owner.userId)
  const before = await usageOf(test, home.tenantId)
  const changed = await change()
  t.equal(changed.statusCode, 200)
  t.equal(changed.json().shippingAddress.name, shippingAddress.name, 'the order is theirs')
  t.equal(await publishedIn(test, home.tenantId), 1, 'and the tenant hears nothing of it')
  t.equal(await publishedIn(test, owner.tenantId), 0, 'nor does the other one')
  t.strictSame(await usageOf(test, home.tenantId), before, 'nothing is counted')
})

t.test('a removal under way is decided before the change is published', async (t) => {
  const { test, home, owner, orderId } = await createMemberOfTwo(t)
  const { cookie } = await signIn(test, owner)
  const removal = await test.database.admin.connect()
  await removal.query('BEGIN')
  await removal.query('DELETE FROM memberships WHERE tenant_id = $1 AND user_id = $2', [
    home.tenantId,
    owner.userId,
  ])
  const change = as(test, { cookie })('PATCH', `/orders/${orderId}`, { shippingAddress })
  await untilBlocked(test.database)
  await removal.query('COMMIT')
  removal.release()
  t.equal((await change).statusCode, 200)
  t.equal(await publishedIn(test, home.tenantId), 0)
})

/** An admin of both tenants who made the object in `home`, was removed there, and goes on in the other. */
async function createFormerMember(world: World, operators: Set<string>, kind: Kind) {
  const { test, home, elsewhere, colleague } = world
  const member = await createCaller(world, adminOfBoth(), operators)
  const { userId } = member
  if (userId === null) throw new Error('The actor is no person.')
  const params = await kind.create({ world, tenantId: home, owner: { ...member, userId } })
  if (params === null) throw new Error('The object cannot exist.')
  await createEndpoint(test.database, { tenantId: home }, { url: 'https://hooks.example.com/all' })
  await removeFrom(test, { userId: colleague.userId, tenantId: home }, userId)
  const caller: Caller = { ...member, memberOf: [elsewhere] }
  const { department } = caller
  const place = { place: 'own', tenantIds: [home], ownerId: userId } as const
  const object: Placed = { ...place, params, department, chained: [userId] }
  return { caller, object }
}

function adminOfBoth() {
  const found = actors.find(({ name }) => name === 'admin of both tenants, in the other one')
  if (found === undefined) throw new Error('There is no such actor.')
  return found
}

/** A person with an order in `home` and a tenant of their own, in which they will be signed in. */
async function createMemberOfTwo(t: Test) {
  const test = await build(t)
  const { database } = test
  const home = await createUser(database, { role: 'admin' })
  await createEndpoint(database, home, { url: 'https://hooks.example.com/all' })
  const owner = await createUser(database, { role: 'admin' })
  await createEndpoint(database, owner, { url: 'https://hooks.example.com/all' })
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`,
    [home.tenantId, owner.userId],
  )
  const orderId = await createOrder(database, { ...owner, tenantId: home.tenantId })
  return { test, home, owner, orderId }
}

/** As an admin of the tenant removes a member. */
async function removeFrom(test: TestApp, admin: TestUser, userId: number): Promise<void> {
  const { cookie } = await signIn(test, admin)
  const { statusCode } = await as(test, { cookie })('DELETE', `/users/${userId}`)
  if (statusCode !== 204) throw new Error(`The removal answered ${statusCode}.`)
}

async function publishedIn({ database }: TestApp, tenantId: string): Promise<number> {
  const { rowCount } = await database.admin.query(
    `SELECT FROM outbound_events e JOIN deliveries d ON d.tenant_id = e.tenant_id AND d.event_id = e.id
     WHERE e.tenant_id = $1`,
    [tenantId],
  )
  return rowCount ?? 0
}

async function usageOf({ database }: TestApp, tenantId: string) {
  const { rows } = await database.admin.query('SELECT * FROM counted_usage($1)', [tenantId])
  return rows
}
