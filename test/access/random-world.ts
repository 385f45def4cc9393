import fc from 'fast-check'
import { createUser } from '#dev/testing/people.ts'
import { createDocument, createFolder, createTeam } from '#test/support/callers/chain.ts'
import { createOrder, createTestInvoice, createTestPost } from '#test/support/callers/objects.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

const tenants = 3
const people = 4

/** The viewer, and their active tenant. */
export type Viewer = { userId: number; tenantId: string; role: string; department: string | null }

/** An object with the facts that a decision needs. */
export type Made = {
  id: number
  tenantId: string
  ownerId: number | null
  department: string | null
  /** Members of the team at the start of the chain. */
  team: readonly number[]
}

const tenant = fc.nat({ max: tenants - 1 })
const person = fc.nat({ max: people - 1 })
const department = fc.constantFrom('press', 'sales', null)
const some = { maxLength: 6 }

/** A plan of tenants, memberships with roles, and objects with their scopes. */
export const anyWorld = fc.record({
  members: fc.array(
    fc.record({
      tenant,
      person,
      role: fc.constantFrom('viewer', 'editor', 'admin'),
      department,
    }),
    { minLength: 1, maxLength: 8 },
  ),
  orders: fc.array(fc.record({ tenant, person }), some),
  posts: fc.array(fc.record({ tenant, department }), some),
  invoices: fc.array(tenant, some),
  /** A team with some of the members, and one document in its folder. */
  teams: fc.array(fc.record({ tenant, people: fc.uniqueArray(person) }), some),
})

type Plan = typeof anyWorld extends fc.Arbitrary<infer World> ? World : never

/** Creates the world of a plan. The viewer is its first member. */
export async function createObjects(
  database: TestDatabase,
  plan: Plan,
): Promise<{ viewer: Viewer; objects: Record<'order' | 'post' | 'invoice' | 'document', Made[]> }> {
  const owners = await Promise.all(Array.from({ length: tenants }, () => createUser(database)))
  const tenantOf = (index: number) => owners[index]?.tenantId ?? ''
  const ids = await createPeople(database)
  const idOf = (index: number) => ids[index] ?? 0
  const joined = await join(database, plan, tenantOf, idOf)

  const orders = plan.orders.map(async (order) => {
    const owner = { tenantId: tenantOf(order.tenant), userId: idOf(order.person) }
    const id = await createOrder(database, owner)
    return made(id, owner.tenantId, { ownerId: owner.userId })
  })
  const posts = plan.posts.map(async (post) => {
    const tenantId = tenantOf(post.tenant)
    const id = await createTestPost(database, tenantId, post.department)
    return made(id, tenantId, { department: post.department })
  })
  const invoices = plan.invoices.map(async (index) => {
    const tenantId = tenantOf(index)
    return made(await createTestInvoice(database, tenantId), tenantId, {})
  })
  const documents = plan.teams.map(async (team) => {
    const tenantId = tenantOf(team.tenant)
    const members = team.people.map(idOf).filter((id) => joined.has(`${tenantId} ${id}`))
    const teamId = await createTeam(database, tenantId, members)
    const id = await createDocument(database, await createFolder(database, tenantId, teamId))
    return made(id, tenantId, { team: members })
  })
  const [first] = plan.members
  if (first === undefined) throw new Error('A world has at least one member.')
  const { role, department } = first
  return {
    viewer: { userId: idOf(first.person), tenantId: tenantOf(first.tenant), role, department },
    objects: {
      order: await Promise.all(orders),
      post: await Promise.all(posts),
      invoice: await Promise.all(invoices),
      document: await Promise.all(documents),
    },
  }
}

async function createPeople({ admin }: TestDatabase): Promise<number[]> {
  const { rows } = await admin.query<{ id: string }>(
    'INSERT INTO users (plan) SELECT NULL FROM generate_series(1, $1) RETURNING id',
    [people],
  )
  return rows.map(({ id }) => Number(id))
}

/** Creates the memberships without duplicates; resolves to their pairs. */
async function join(
  { admin }: TestDatabase,
  { members }: Plan,
  tenantOf: (index: number) => string,
  idOf: (index: number) => number,
): Promise<Set<string>> {
  const pairs = new Set<string>()
  for (const { tenant, person, role, department } of members) {
    const pair = `${tenantOf(tenant)} ${idOf(person)}`
    if (pairs.has(pair)) continue
    pairs.add(pair)
    await admin.query(
      'INSERT INTO memberships (tenant_id, user_id, role, department) VALUES ($1, $2, $3, $4)',
      [tenantOf(tenant), idOf(person), role, department],
    )
  }
  return pairs
}

function made(id: number, tenantId: string, facts: Partial<Made>): Made {
  return { id, tenantId, ownerId: null, department: null, team: [], ...facts }
}
