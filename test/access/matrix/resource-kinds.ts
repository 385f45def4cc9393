import { createDocument, createFolder, createTeam } from '#test/support/callers/chain.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { insert, type Kinds, missingNumber, numbered, type Wanted } from './kind.ts'

/** Orders, and resources of a tenant. */
export const resourceKinds: Kinds = {
  order: {
    ...numbered,
    async create({ world, tenantId, owner }) {
      return { id: String(await createOrder(world.test.database, { ...owner, tenantId })) }
    },
  },
  post: {
    ...numbered,
    departments: true,
    create: ({ world, tenantId, owner: { userId, memberOf, department } }) =>
      insert(
        world,
        `INSERT INTO posts (tenant_id, author_id, department, title, body)
         VALUES ($1, $2, $3, 'x', 'x') RETURNING id`,
        [tenantId, memberOf.includes(tenantId) ? userId : null, department],
      ),
  },
  invoice: {
    ...numbered,
    async create({ world, tenantId }) {
      return { id: String(await createTestInvoice(world.test.database, tenantId)) }
    },
  },
  team: {
    ...numbered,
    async create(wanted) {
      return { id: String(await createOwnTeam(wanted)) }
    },
  },
  'team-member': {
    missing: { id: missingNumber, userId: missingNumber },
    malformed: { id: '01', userId: '01' },
    async create(wanted) {
      const { tenantId, owner } = wanted
      if (!owner.memberOf.includes(tenantId)) return null
      return { id: String(await createOwnTeam(wanted)), userId: String(owner.userId) }
    },
  },
  folder: {
    ...numbered,
    async create(wanted) {
      return { id: String(await createOwnFolder(wanted)) }
    },
  },
  document: {
    ...numbered,
    async create(wanted) {
      const { database } = wanted.world.test
      return { id: String(await createDocument(database, await createOwnFolder(wanted))) }
    },
  },
}

/** A team with the owner as member, if they are a member of its tenant. */
async function createOwnTeam({ world, tenantId, owner }: Wanted): Promise<number> {
  const members = owner.memberOf.includes(tenantId) ? [owner.userId] : []
  return createTeam(world.test.database, tenantId, members)
}

async function createOwnFolder(wanted: Wanted): Promise<number> {
  const { world, tenantId } = wanted
  return createFolder(world.test.database, tenantId, await createOwnTeam(wanted))
}
