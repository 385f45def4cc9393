/** What the two application roles may do on one table, as GRANT lists it; empty is nothing. */
type TablePrivileges = { readonly web: string; readonly worker: string }

/**
 * The rights of the application roles, table by table. `gatehouse migrate` gives exactly these;
 * a test fails when a table has no entry. Web is DATABASE_URL, worker is DATABASE_WORKER_URL;
 * where both name one role it gets the union.
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
  // The worker clears dead rows away; it cannot read what would open one (id_hash, hash, state_hash).
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
    // `keys rotate` seals secrets anew.
    worker:
      'SELECT, UPDATE (status, failing_since, disabled_at, last_success_at, secret, previous_secret)',
  },
  outbound_events: { web: 'SELECT, INSERT', worker: 'SELECT, INSERT, DELETE' },
  deliveries: {
    web: 'SELECT, INSERT, UPDATE (status, series, attempts, next_attempt_at, finished_at)',
    worker: 'SELECT, INSERT, UPDATE (status, series, attempts, next_attempt_at, finished_at)',
  },
  // The web role makes the one attempt of the test button.
  delivery_attempts: { web: 'SELECT, INSERT', worker: 'SELECT, INSERT' },
  notifications: { web: 'SELECT', worker: 'SELECT, INSERT, UPDATE (mailed_at)' },
  endpoint_replays: {
    web: 'SELECT, INSERT',
    worker: 'SELECT, UPDATE (done, cursor_created_at, cursor_delivery_id, finished_at)',
  },
  audit_log: { web: 'SELECT, INSERT', worker: 'INSERT' },
}

/** The queue's own schema, objects to rights: web only adds jobs, worker settles and maintains them. */
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
 * Tables read before any tenant is known (contract 8). They are reached by key only, through
 * functions that return one row, and carry no row-level security; those who manage a tenant reach
 * its rows through views that hold them to it (tenant_members, tenant_invitations). Every table
 * that stands in neither list must be under row-level security, and every view over one that does
 * must hold to a context: the boot proof checks it (src/schema/verify.ts).
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

/** Under row-level security for reading; everyone may append, for whomever the entry concerns. */
export const appendOnly = ['audit_log'] as const
