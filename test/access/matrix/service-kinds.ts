import { missingNumber, missingUuid, named } from '#dev/testing/access/kind.ts'
import { receive } from '#test/billing/received.ts'
import { insert, type Kinds } from './kind.ts'
import { portalAppOf } from './portal-app.ts'

/** Objects for operators. */
export const serviceKinds: Kinds = {
  'billing-event': {
    missing: { id: 'evt_missing' },
    malformed: { id: '\n' },
    async create({ world }) {
      const id = `evt_${crypto.randomUUID()}`
      await receive(world.test.database, { id, status: 'dead' })
      return { id }
    },
  },
  // Belongs to no tenant and no person, so one for each world: an installation can have few.
  'app-token': {
    ...named,
    create: ({ world }) =>
      insert(
        world,
        `WITH known AS (SELECT id FROM app_tokens WHERE name = $1::text),
           new AS (
             INSERT INTO app_tokens (last_four, hash, name, permissions, expires_at)
             SELECT 'test', sha256(convert_to($1::text, 'UTF8')), $1::text, '{event:publish}',
               now() + interval '1 day'
             WHERE NOT EXISTS (SELECT FROM known) RETURNING id
           )
         SELECT id FROM known UNION ALL SELECT id FROM new`,
        [world.home],
      ),
  },
  'portal-link': {
    missing: { id: missingUuid, linkId: missingUuid },
    malformed: { id: 'x', linkId: 'x' },
    async create({ world, tenantId: id }) {
      const app = await portalAppOf(world.test)
      const made = await insert(
        world,
        `INSERT INTO portal_sessions (hash, tenant_id, app_token_id, expires_at)
         VALUES (sha256(uuid_send(gen_random_uuid())), $1, $2, now() + interval '5 minutes')
         RETURNING id`,
        [id, app.id],
      )
      return made && { id, linkId: made.id ?? '' }
    },
  },
  'billing-customer': {
    missing: { customer: 'cus_missing', userId: missingNumber },
    malformed: { customer: '\n', userId: '1' },
    async create({ world, owner }) {
      const customer = `cus_${crypto.randomUUID()}`
      await world.test.database.admin.query(
        'UPDATE users SET billing_customer = $2 WHERE id = $1',
        [owner.userId, customer],
      )
      return { customer, userId: String(owner.userId) }
    },
  },
  // Dismissed by its customer.
  'unlinked-event': {
    missing: { customer: 'cus_missing' },
    malformed: { customer: '\n' },
    async create({ world }) {
      const customer = `cus_${crypto.randomUUID()}`
      const id = await receive(world.test.database, { id: `evt_${customer}`, status: 'unlinked' })
      await world.test.database.admin.query(
        'UPDATE received_events SET customer = $2 WHERE event_id = $1',
        [id, customer],
      )
      return { customer }
    },
  },
  'billing-reconciliation': {
    ...named,
    create: ({ world }) =>
      insert(
        world,
        `INSERT INTO billing_reconciliations (id, created_from, created_to, dry_run, scheduled)
         VALUES (gen_random_uuid(), now() - interval '1 day', now(), true, false) RETURNING id`,
        [],
      ),
  },
  'billing-replay': {
    ...named,
    create: ({ world }) =>
      insert(
        world,
        `INSERT INTO billing_replays (id, event_ids, received_to, total)
         VALUES (gen_random_uuid(), '{}', now(), 0) RETURNING id`,
        [],
      ),
  },
}
