import { missingNumber, numbered } from '#dev/testing/access/kind.ts'
import { kindsOf } from '#test/resources/description.ts'
import { descriptions } from '#test/resources/index.ts'
import { createFolder, createTeam } from '#test/support/callers/chain.ts'
import type { Kinds, Wanted } from './kind.ts'

/** Orders, and resources of a tenant. */
export const resourceKinds: Kinds = {
  ...kindsOf(descriptions),
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
