import { named, numbered } from '#dev/testing/access/kind.ts'
import { createUser } from '#dev/testing/people.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { insert, type Kinds } from './kind.ts'

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
        `INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, expires_at)
         SELECT 'test', sha256(gen_random_uuid()::text::bytea), user_id, tenant_id, 'x', now() + interval '1 day'
         FROM memberships WHERE user_id = $1 LIMIT 1 RETURNING id`,
        [owner.userId],
      ),
  },
  'service-token': {
    ...named,
    create: ({ world, tenantId }) =>
      insert(
        world,
        `INSERT INTO service_tokens (last_four, tenant_id, hash, name, permissions, expires_at)
         VALUES ('test', $1, sha256(gen_random_uuid()::text::bytea), 'x', '{post:read}', now() + interval '1 day')
         RETURNING id`,
        [tenantId],
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
  // To the verified address of its owner, into a tenant that only its inviter is a member of.
  'own-invitation': {
    ...named,
    async create({ world, owner }) {
      const { database } = world.test
      const host = await createUser(database, { role: 'admin' })
      const email = `invited-${owner.userId}@example.com`
      await database.admin.query(
        'UPDATE users SET email = $2, email_verified = true WHERE id = $1',
        [owner.userId, email],
      )
      return insert(
        world,
        `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
         VALUES ($1, $2, 'viewer', $3, now() + interval '1 day') RETURNING id`,
        [host.tenantId, email, host.userId],
      )
    },
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
