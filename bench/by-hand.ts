import pg from 'pg'
import { onDatabase, type Place } from './place.ts'

const role = { name: 'bench_by_hand', password: 'bench' }

/** Copies with their keys, checks and indexes. LIKE copies no foreign keys. */
const copies = {
  tenants: 'tenants',
  users: 'users',
  memberships: 'memberships',
  sessions: 'sessions',
  orders: 'orders',
  endpoints: 'webhook_endpoints',
  events: 'outbound_events',
  deliveries: 'deliveries',
}

const scope = `tenant_id = (SELECT nullif(current_setting('app.tenant_id', true), '')::uuid)`
const user = `user_id = (SELECT nullif(current_setting('app.user_id', true), '')::bigint)`
const policies = {
  orders: `${user}`,
  endpoints: scope,
  events: scope,
  deliveries: scope,
}

const statements = [
  'CREATE SCHEMA by_hand',
  ...Object.entries(copies).flatMap(([name, of]) => [
    `CREATE TABLE by_hand.${name} (LIKE ${of} INCLUDING ALL)`,
    `INSERT INTO by_hand.${name} OVERRIDING SYSTEM VALUE SELECT * FROM ${of}`,
  ]),
  `SELECT setval(pg_get_serial_sequence('by_hand.orders', 'id'), (SELECT max(id) FROM orders))`,
  `ALTER TABLE by_hand.deliveries ALTER COLUMN id SET DEFAULT gen_random_uuid()`,
  `CREATE TABLE by_hand.jobs (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text NOT NULL,
     data jsonb NOT NULL, state text NOT NULL DEFAULT 'created', start_after timestamptz NOT NULL DEFAULT now())`,
  `CREATE INDEX ON by_hand.jobs (name, start_after) WHERE state = 'created'`,
  `ALTER TABLE by_hand.orders
     ADD FOREIGN KEY (tenant_id) REFERENCES by_hand.tenants,
     ADD FOREIGN KEY (user_id) REFERENCES by_hand.users`,
  'ALTER TABLE by_hand.events ADD FOREIGN KEY (tenant_id) REFERENCES by_hand.tenants',
  `ALTER TABLE by_hand.deliveries
     ADD FOREIGN KEY (tenant_id, event_id) REFERENCES by_hand.events,
     ADD FOREIGN KEY (tenant_id, endpoint_id) REFERENCES by_hand.endpoints`,
  ...Object.entries(policies).flatMap(([name, condition]) => [
    `ALTER TABLE by_hand.${name} ENABLE ROW LEVEL SECURITY`,
    `CREATE POLICY scope ON by_hand.${name} USING (${condition})`,
  ]),
  `CREATE ROLE ${role.name} LOGIN PASSWORD ${pg.escapeLiteral(role.password)}`,
  `GRANT USAGE ON SCHEMA by_hand TO ${role.name}`,
  `GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA by_hand TO ${role.name}`,
  'ANALYZE',
]

/**
 * Copies the tables of an order and its events, with row-level security on settings, for the baselines
 * that write.
 * @returns the URL of a role that is subject to it
 */
export async function prepareByHand({ superuserUrl }: Place): Promise<string> {
  await onDatabase(superuserUrl, statements)
  const url = new URL(superuserUrl)
  url.username = role.name
  url.password = role.password
  return url.href
}
