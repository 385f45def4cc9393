import t from 'tap'
import { createDatabase } from '#test/support/database/database.ts'

/** Tenant tables whose rows are limited by other means, or are written by the operator's side alone. */
const notCounted = [
  'api_tokens', // 50 per person
  'audit_log', // retention
  'delivery_attempts', // counted with their delivery
  'due_attempts', // one per pending delivery
  'endpoint_probes', // one per endpoint
  'endpoint_states', // one per endpoint
  'erasures', // one for each deletion of a tenant or person
  'invoices', // by the billing provider
  'member_usage', // one per membership
  'memberships', // one per accepted invitation
  'portal_sessions', // 100 per tenant
  'service_tokens', // 50 per tenant
  'sessions', // expire
  'tenant_usage',
  'token_revocations', // by the revocation of a token
  'usage_changes',
  'webhook_endpoints', // 50 per tenant
]

t.test('every tenant table is counted, or its rows are limited by other means', async (t) => {
  const { admin } = await createDatabase(t)
  const { rows } = await admin.query<{ name: string; triggers: number }>(
    `SELECT c.relname AS name, count(g.oid)::int AS triggers
     FROM pg_class c
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
     LEFT JOIN pg_trigger g ON g.tgrelid = c.oid AND g.tgenabled = 'O'
       AND g.tgname IN ('count_insert', 'count_update', 'count_delete')
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
     GROUP BY c.relname ORDER BY c.relname`,
  )
  const without = rows.filter(({ triggers }) => triggers === 0).map(({ name }) => name)
  t.strictSame(without, notCounted, 'no other table is without count_table')
  for (const { name, triggers } of rows) {
    if (triggers > 0) t.equal(triggers, 3, name)
  }
})
