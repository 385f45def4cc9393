/** The privileges of both roles on a table, in the syntax of GRANT; empty for none. */
type TablePrivileges = { readonly web: string; readonly worker: string }

/**
 * The privileges of the application roles, table by table. `gatehouse migrate` grants exactly these;
 * a test fails if a table has no entry. `web` is the role of DATABASE_URL, `worker` that of
 * DATABASE_WORKER_URL. A role that is both gets the union.
 */
export const tablePrivileges: Readonly<Record<string, TablePrivileges>> = {
  _prisma_migrations: { web: 'SELECT', worker: 'SELECT' },
  tenants: { web: 'SELECT, INSERT', worker: 'SELECT' },
  users: {
    web: 'SELECT, INSERT, UPDATE (email, email_verified, billing_customer), DELETE',
    worker: 'SELECT, UPDATE (plan)',
  },
  // No UPDATE: an identity never changes its owner.
  oauth_identities: { web: 'SELECT, INSERT, DELETE', worker: '' },
  memberships: {
    web: 'SELECT, INSERT, UPDATE (role, department, last_active_at), DELETE',
    worker: 'SELECT',
  },
  tenant_members: { web: 'SELECT, UPDATE (role, department), DELETE', worker: '' },
  tenant_invitations: { web: 'SELECT, DELETE', worker: '' },
  // The worker deletes expired rows. It cannot read the hashes that identify a live one.
  sessions: {
    web: 'SELECT, INSERT, UPDATE (id_hash, last_seen_at, authenticated_at, expires_at, tenant_id, provider, provider_session), DELETE',
    worker: 'SELECT (id, last_seen_at, expires_at), DELETE',
  },
  sign_in_attempts: {
    web: 'SELECT, INSERT, UPDATE (session_id), DELETE',
    worker: 'SELECT (expires_at), DELETE',
  },
  invitations: {
    web: 'SELECT, INSERT, UPDATE (role, department, invited_by, created_at, expires_at, accepted_at), DELETE',
    worker: '',
  },
  api_tokens: {
    web: 'SELECT, INSERT, UPDATE (last_used_at), DELETE',
    worker: 'SELECT (id, expires_at), DELETE',
  },
  logout_tokens: { web: 'SELECT, INSERT, DELETE', worker: '' },
  provider_grants: {
    web: 'SELECT, INSERT, UPDATE (access_token, refresh_token, scope, expires_at, generation, status, refresh_attempt, created_at, updated_at), DELETE',
    worker: 'SELECT, UPDATE (access_token, refresh_token)', // `keys rotate`
  },
  token_revocations: {
    web: 'SELECT, INSERT, UPDATE (status, tenant_id), DELETE',
    worker: 'SELECT, UPDATE (token, status, attempts, last_error), DELETE',
  },
  orders: { web: 'SELECT, INSERT, UPDATE (shipping_address, updated_at)', worker: '' },
  posts: { web: 'SELECT, INSERT, UPDATE (title, body, updated_at), DELETE', worker: '' },
  invoices: { web: 'SELECT', worker: 'SELECT, INSERT' },
  teams: { web: 'SELECT, INSERT, UPDATE (name, updated_at), DELETE', worker: '' },
  team_members: { web: 'SELECT, INSERT, DELETE', worker: '' },
  folders: {
    web: 'SELECT, INSERT, UPDATE (name, team_id, parent_id, parent_depth, updated_at), DELETE',
    worker: '',
  },
  documents: { web: 'SELECT, INSERT, UPDATE (title, body, updated_at)', worker: '' },
  processed_events: { web: 'SELECT, INSERT', worker: '' },
  received_events: {
    web: 'SELECT, INSERT, UPDATE (other_bodies)',
    worker: 'SELECT, UPDATE (status, attempts, last_error, outcome, processed_at, body)',
  },
  billing_objects: { web: '', worker: 'SELECT, INSERT, UPDATE' },
  billing_replays: {
    web: 'SELECT, INSERT',
    worker: 'SELECT, UPDATE (succeeded, failed, cursor_received_at, cursor_event_id, finished_at)',
  },
  webhook_endpoints: {
    web: 'SELECT, INSERT, UPDATE (url, description, all_event_types, event_types, signature, secret, previous_secret, previous_secret_expires_at, secret_rotated_at, status, updated_at, enabled_at, failing_since, disabled_at), DELETE',
    // `keys rotate` re-encrypts the secrets.
    worker:
      'SELECT, UPDATE (status, failing_since, disabled_at, last_success_at, secret, previous_secret)',
  },
  outbound_events: { web: 'SELECT, INSERT', worker: 'SELECT, INSERT, DELETE' },
  deliveries: {
    web: 'SELECT, INSERT, UPDATE (status, series, attempts, next_attempt_at, finished_at)',
    worker: 'SELECT, INSERT, UPDATE (status, series, attempts, next_attempt_at, finished_at)',
  },
  // The web role makes the attempt of a test event.
  delivery_attempts: { web: 'SELECT, INSERT', worker: 'SELECT, INSERT' },
  notifications: { web: 'SELECT', worker: 'SELECT, INSERT, UPDATE (mailed_at)' },
  endpoint_replays: {
    web: 'SELECT, INSERT',
    worker: 'SELECT, UPDATE (done, cursor_created_at, cursor_delivery_id, finished_at)',
  },
  audit_log: { web: 'SELECT, INSERT', worker: 'INSERT' },
}

/** Privileges on the queue's schema: `web` only adds jobs, `worker` processes and maintains them. */
export const queuePrivileges: Readonly<
  Record<keyof TablePrivileges, Readonly<Record<string, string>>>
> = {
  web: {
    'pgboss.version, pgboss.queue': 'SELECT',
    'pgboss.job_common': 'SELECT, INSERT',
  },
  worker: { 'ALL TABLES IN SCHEMA pgboss': 'SELECT, INSERT, UPDATE, DELETE' },
}

/**
 * Tables that are read before any tenant is known (contract 8). They are read by key, one row at a
 * time, and have no row-level security. A tenant's admins access its rows through views with the
 * tenant as a condition (tenant_members, tenant_invitations). Every table outside both lists must be
 * under row-level security, and every view over the listed tables must be limited to a scope;
 * src/schema/verify.ts verifies this at start.
 */
export const unscopedTables = [
  'users',
  'oauth_identities',
  'sessions',
  'sign_in_attempts',
  'logout_tokens',
  'provider_grants',
  'token_revocations',
  'memberships',
  'invitations',
  'api_tokens',
] as const

/** Tables that belong to no tenant and that no tenant route reaches. */
export const serviceTables = [
  'processed_events',
  'received_events',
  'billing_objects',
  'billing_replays',
  '_prisma_migrations',
] as const

/** Row-level security applies to reading; every role may append rows for any tenant. */
export const appendOnly = ['audit_log'] as const
