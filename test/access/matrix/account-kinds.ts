import { addIdentity } from '#test/support/account.ts'
import { insert, type Kinds, named, numbered } from './kind.ts'

/** Objects of a user's account, and members of a tenant. */
export const accountKinds: Kinds = {
  tenant: {
    ...named,
    create: async ({ tenantId }) => ({ id: tenantId }),
  },
  session: {
    ...named,
    create: ({ world, owner }) =>
      insert(
        world,
        `INSERT INTO sessions (id_hash, user_id, expires_at)
         VALUES (sha256(gen_random_uuid()::text::bytea), $1, now() + interval '1 day') RETURNING id`,
        [owner.userId],
      ),
  },
  token: {
    ...named,
    create: ({ world, owner }) =>
      insert(
        world,
        `INSERT INTO api_tokens (hash, user_id, tenant_id, name, expires_at)
         SELECT sha256(gen_random_uuid()::text::bytea), user_id, tenant_id, 'x', now() + interval '1 day'
         FROM memberships WHERE user_id = $1 LIMIT 1 RETURNING id`,
        [owner.userId],
      ),
  },
  identity: {
    missing: { provider: 'demo', subject: 'nobody' },
    malformed: { provider: 'Demo!', subject: 'x' },
    async create({ world, owner }) {
      // Two, because the last one cannot be unlinked.
      const subject = crypto.randomUUID()
      await addIdentity(world.test, owner.userId, subject)
      await addIdentity(world.test, owner.userId, `${subject}-other`)
      return { provider: 'demo', subject }
    },
  },
  provider: {
    missing: { provider: 'unheard_of' },
    malformed: { provider: 'Demo!' },
    create: async () => ({ provider: 'demo' }),
  },
  user: {
    ...numbered,
    tenantsOf: ({ memberOf }) => memberOf,
    async create({ tenantId, owner: { userId, memberOf } }) {
      return memberOf.includes(tenantId) ? { id: String(userId) } : null
    },
  },
  invitation: {
    ...named,
    create: ({ world, tenantId }) =>
      insert(
        world,
        `INSERT INTO invitations (tenant_id, email, role, expires_at)
         VALUES ($1, gen_random_uuid() || '@example.com', 'viewer', now() + interval '1 day')
         RETURNING id`,
        [tenantId],
      ),
  },
  'audit-entry': {
    ...numbered,
    create: ({ world, tenantId, owner }) =>
      insert(
        world,
        `INSERT INTO audit_log (action, outcome, user_id, tenant_id)
         VALUES ('x', 'done', $1, $2) RETURNING id`,
        [owner.userId, tenantId],
      ),
  },
}
