import { homeFunctionsOf, privilegesOf } from '#src/resources/kit/derived.ts'
import { distinctFromOwn } from '#src/resources/kit/distinct.ts'
import { seesTeams } from '#src/resources/kit/visible.ts'
import { placeIn } from '#src/resources/load-app.ts'
import { appFolder, resources, worksInBackground } from '#src/resources/running-app.ts'

/** Privileges of the two application roles on one table, as GRANT lists them; empty means none. */
type TablePrivileges = { readonly web: string; readonly worker: string }

const otherTables: Readonly<Record<string, TablePrivileges>> = {
  _prisma_migrations: { web: 'SELECT', worker: 'SELECT' },
  // Written by `gatehouse migrate` alone.
  schema_releases: { web: 'SELECT', worker: 'SELECT' },
  schema_objects: { web: 'SELECT', worker: 'SELECT' },
  // Read by the functions of the owner alone.
  scope_keys: { web: '', worker: '' },
  installation: { web: '', worker: '' },
  erasures: { web: '', worker: '' },
  // Without billing_customer and seats, which those who manage a tenant read through a function.
  tenants: {
    web: 'SELECT (id, name, created_at, closed_at, plan, subscription_status, subscription_period_end, subscription_cancels_at), UPDATE (name)',
    worker:
      'SELECT, UPDATE (plan, subscription_status, subscription_period_end, subscription_cancels_at, seats)',
  },
  users: {
    web: 'SELECT',
    worker:
      'SELECT, UPDATE (plan, subscription_status, subscription_period_end, subscription_cancels_at)',
  },
  // No UPDATE: an identity never changes its owner.
  oauth_identities: { web: 'SELECT, DELETE', worker: '' },
  memberships: { web: 'SELECT, UPDATE (role, department), DELETE', worker: 'SELECT' },
  tenant_members: { web: 'SELECT, UPDATE (role, department), DELETE', worker: '' },
  tenant_invitations: { web: 'SELECT, DELETE', worker: '' },
  // Without id_hash: sessions begin and change through functions.
  sessions: {
    web: 'SELECT (id, user_id, tenant_id, provider, user_agent, ip, created_at, authenticated_at, last_seen_at, expires_at), DELETE',
    worker: '',
  },
  sign_in_attempts: { web: '', worker: '' },
  invitations: {
    web: 'SELECT, INSERT, UPDATE (id, role, department, invited_by, created_at, expires_at, accepted_at, declined_at, mailed_at, link_hash), DELETE',
    worker: 'SELECT, UPDATE (mailed_at)',
  },
  api_tokens: {
    web: 'SELECT (id, user_id, tenant_id, name, last_four, all_permissions, permissions, created_at, expires_at, last_used_at), INSERT, DELETE',
    worker: '',
  },
  // A change of its secret sets the hash, which the web role may not read.
  service_tokens: {
    web: 'SELECT (tenant_id, id, name, last_four, permissions, created_by, created_at, expires_at, secret_rotated_at, last_used_at), INSERT, UPDATE (hash, last_four, name, permissions, expires_at, secret_rotated_at), DELETE',
    worker: '',
  },
  operators: { web: '', worker: 'SELECT, INSERT, DELETE' },
  app_tokens: {
    web: 'SELECT (id, name, last_four, permissions, created_by, created_at, expires_at, secret_rotated_at, portals_ended_at, last_used_at), INSERT, UPDATE (hash, last_four, name, permissions, expires_at, secret_rotated_at, portals_ended_at), DELETE',
    worker: '',
  },
  portal_sessions: {
    web: 'SELECT (id, tenant_id, app_token_id, created_at, opened_at, expires_at), INSERT (hash, tenant_id, app_token_id, expires_at), DELETE',
    worker: '',
  },
  app_event_types: {
    web: 'SELECT, INSERT, UPDATE (description, schema, example, updated_at)',
    worker: '',
  },
  logout_tokens: { web: '', worker: '' },
  invitation_mails: { web: '', worker: '' },
  idempotency_keys: {
    web: 'SELECT, INSERT, UPDATE (tenant_id, request_hash, result, secret, created_at)',
    worker: '',
  },
  provider_grants: {
    web: 'SELECT, INSERT, UPDATE (access_token, refresh_token, scope, issued_at, expires_at, generation, status, refresh_attempt, created_at, updated_at), DELETE',
    worker: '',
  },
  token_revocations: { web: 'SELECT, INSERT, UPDATE (status, tenant_id)', worker: '' },
  teams: { web: 'SELECT, INSERT, UPDATE (name, updated_at), DELETE', worker: '' },
  // Rows are deleted through a function, which waits for a write of the member.
  // Workers read it only if they run code of an app, in whose policies it is.
  team_members: {
    web: 'SELECT, INSERT',
    worker: worksInBackground && resources.some(seesTeams) ? 'SELECT' : '',
  },
  folders: {
    web: 'SELECT, INSERT, UPDATE (name, team_id, parent_id, parent_depth, updated_at), DELETE',
    worker: '',
  },
  processed_events: { web: 'SELECT, INSERT', worker: 'SELECT, INSERT' },
  received_events: {
    web: 'SELECT, INSERT, UPDATE (other_bodies)',
    worker:
      'SELECT, INSERT, UPDATE (status, attempts, last_error, outcome, processed_at, body, customer, forwarding, forward_attempts, forward_error, forwarded_at)',
  },
  billing_objects: { web: '', worker: 'SELECT, INSERT, UPDATE' },
  billing_replays: {
    web: 'SELECT, INSERT',
    worker:
      'SELECT, UPDATE (queued, succeeded, failed, cursor_received_at, cursor_event_id, finished_at), DELETE',
  },
  billing_reconciliations: {
    web: 'SELECT, INSERT',
    worker:
      'SELECT, INSERT, UPDATE (status, cursor, pages, seen, missed, different, refused, missed_ids, different_ids, error, finished_at), DELETE',
  },
  // Without tenants: a tenant reads its own, and an operator all, through functions.
  ledger_checks: {
    web: 'SELECT (id, checked_at, unaccounted, partial, kinds)',
    worker: 'SELECT, INSERT, UPDATE (tenants), DELETE',
  },
  webhook_endpoints: {
    web: 'SELECT, INSERT, UPDATE (url, description, all_event_types, event_types, signature, secret, previous_secret, previous_secret_expires_at, secret_rotated_at, rate_per_second, rate_burst, thin, recover_when_disabled, updated_at)',
    worker: 'SELECT, UPDATE (in_turn)',
  },
  endpoint_states: {
    web: 'SELECT, INSERT, UPDATE (status, enabled_at, failing_since, exhausted_deliveries, disabled_at, paused, paused_at, retrying_since, failure_status, failure_cause, outage_since, recovering_since, recovery_step, trial_at, trials, trial_delivery_id, rate_next_at, certificate_expires_at, forecasts)',
    worker:
      'SELECT, UPDATE (status, failing_since, exhausted_deliveries, disabled_at, last_success_at, healthy_since, retrying_since, failure_status, failure_cause, outage_since, recovering_since, recovery_step, trial_at, trials, trial_delivery_id, rate_next_at, certificate_expires_at, forecasts, forecast_at)',
  },
  endpoint_probes: { web: 'SELECT, INSERT, UPDATE (started_at, report)', worker: '' },
  outbound_events: { web: 'SELECT, INSERT', worker: 'SELECT, INSERT' },
  deliveries: {
    web: 'SELECT, INSERT, UPDATE (status, series, attempts, next_attempt_at, finished_at, held_for)',
    worker:
      'SELECT, INSERT, UPDATE (status, series, attempts, next_attempt_at, finished_at, held_for, stored_attempts, stored_bytes, http_status, unusual_status, unusual_class)',
  },
  due_attempts: {
    web: 'SELECT, INSERT, UPDATE (due_at, series, number, released)',
    worker: 'SELECT, INSERT, UPDATE (due_at, series, number, released), DELETE',
  },
  // The web role makes the attempt of a test event.
  delivery_attempts: { web: 'SELECT, INSERT', worker: 'SELECT, INSERT' },
  notifications: { web: 'SELECT', worker: 'SELECT, INSERT, UPDATE (mailed_at)' },
  endpoint_replays: {
    web: 'SELECT, INSERT, UPDATE (finished_at, cancelled_at)',
    worker:
      'SELECT, UPDATE (total, done, cursor_created_at, cursor_delivery_id, finished_at, worked_at)',
  },
  running_processes: {
    web: 'SELECT, INSERT, UPDATE (seen_at, ended_at, clock_offset_ms), DELETE',
    worker: 'SELECT, INSERT, UPDATE (seen_at, ended_at, clock_offset_ms), DELETE',
  },
  // Written by triggers alone.
  tenant_usage: { web: 'SELECT', worker: '' },
  member_usage: { web: '', worker: '' },
  usage_changes: { web: 'SELECT', worker: '' },
  audit_log: { web: 'SELECT, INSERT', worker: 'INSERT' },
}

/**
 * The privileges of the application roles by table. `gatehouse migrate` grants exactly these; a test
 * fails if a table has no entry. Web is the role of DATABASE_URL, worker that of DATABASE_WORKER_URL;
 * if both name one role it gets the union.
 */
export const tablePrivileges: Readonly<Record<string, TablePrivileges>> = Object.fromEntries(
  distinctFromOwn(
    Object.entries(otherTables).concat(Object.entries(privilegesOf(resources, worksInBackground))),
    ([table]) => table,
    (table) => `The resource at ${placeIn(appFolder, table)} has the table ${table} of Gatehouse.`,
  ),
)

const bothRoles = [
  'current_user_id()',
  'current_tenant_id()',
  'current_webhook_tenant_id()',
  'current_scope_kind()',
  'current_service_id()',
  'current_key_holder()',
  'current_idempotency_holder()',
  'current_service_name()',
  'is_manager()',
]

/**
 * The functions that each role may call, as GRANT names them; the migrations revoke the rest from
 * everyone. They run with the privileges of the owner (SECURITY DEFINER), so `serve` does not start
 * if a role may call one that is not listed for it.
 */
export const functionPrivileges: Readonly<Record<keyof TablePrivileges, readonly string[]>> = {
  web: [
    ...bothRoles,
    'enter_session(bytea, integer, boolean)',
    'enter_token(bytea, boolean)',
    'enter_service(bytea, boolean)',
    'enter_session_as(bytea, integer, uuid, bigint, text, text, uuid, text, text, text, text)',
    'enter_token_as(bytea, uuid, text[], bigint, text, text, uuid, text, text)',
    'enter_service_as(bytea, uuid, text, text[], uuid)',
    'enter_app_token_as(bytea, uuid, text, text[], uuid)',
    'enter_app_token(bytea, uuid, boolean)',
    'enter_portal_session(bytea, boolean)',
    'find_portal_link(bytea)',
    'open_portal_link(bytea, bytea, bytea)',
    'touch_session(bytea)',
    'touch_token(text, bytea)',
    'expire_credentials(uuid[])',
    'switch_tenant(bytea, bytea, uuid)',
    ...homeFunctionsOf(resources),
    'start_attempt(bytea, bytea, text, text, text, text, text, text, integer, text)',
    'take_attempt(bytea, bytea, bytea)',
    'enter_attempt(bytea)',
    'look_up_identity(text, text, text[])',
    'look_up_admission(text, bytea)',
    'enter_identity(text)',
    'link_by_address(text, text, text, text[])',
    'create_user(text, text, text, text)',
    'apply_role_map(uuid, text)',
    'prove_address(text)',
    'link_identity(text, text)',
    'record_verified_email(text, text)',
    'record_profile(text, text)',
    'start_session(bytea, text, text, text, text, integer, double precision)',
    'renew_session(bytea, text, text, integer, double precision)',
    'remember_logout(text, bytea, integer)',
    'end_provider_sessions(text, text, text)',
    'lock_current_user()',
    'is_first_user()',
    'is_operator()',
    'own_invitations(uuid, bytea)',
    'accept_invitation(uuid, bytea)',
    'decline_invitation(uuid, bytea)',
    'lock_members(uuid, bigint)',
    'change_member(uuid, bigint, text, text)',
    'remove_member(bigint)',
    'remove_team_member(uuid, bigint, bigint)',
    'place_folder(bigint, bigint, bigint, integer, text, timestamp with time zone)',
    'create_tenant(text, integer)',
    'leave_tenant(bytea, bytea, uuid)',
    'erase_account(bytea)',
    'delete_tenant(bytea, bytea, text)',
    'delete_endpoint(uuid, uuid)',
    'export_own(text, uuid, text, integer)',
    'link_customer(text, bigint, text, uuid)',
    'customer_is_free(text)',
    'list_customers(text, integer)',
    'list_double_payers(integer)',
    'own_subscriptions()',
    'tenant_billing(text)',
    'list_subscriptions(text, integer)',
    'dismiss_event(text, text)',
    'find_grant(text, text, integer)',
    'measure_due_attempts(integer)',
    'own_unaccounted()',
    'unaccounted_tenants(integer)',
    'mark_refresh(text, text, integer, uuid)',
    'clear_refresh(text, text, uuid)',
    'end_refresh(text, text, uuid, boolean)',
    'store_refreshed(text, text, uuid, bytea, bytea, text, integer)',
    'retire_late_token(text, text, bigint, bytea)',
  ],
  worker: [
    ...bothRoles,
    'enter_job(text, uuid[])',
    'enter_billing_event(text, text, text)',
    'assign_customer(text, bigint, text, uuid)',
    'claim_customer(text, bigint, uuid)',
    'former_customer(bigint, uuid, text)',
    'count_customers(text)',
    'leading_subscription(text)',
    'purge_history(uuid, timestamp with time zone, timestamp with time zone, integer)',
    'check_usage(uuid, boolean)',
    'list_open_tenants(uuid, integer)',
    'list_usage(integer)',
    'set_quota(uuid, bigint[], bigint[])',
    'count_near_quota(bigint[], double precision)',
    'claim_erasure(integer, integer)',
    'work_erasure(bigint, integer)',
    'measure_erasures()',
    'claim_invitation_mail(uuid, integer, integer)',
    'prune_dead(integer, integer, integer)',
    'prune_idempotency_keys(integer)',
    'prune_records(integer, integer)',
    'find_revocation(uuid)',
    'settle_revocation(uuid)',
    'fail_revocation(uuid, text, boolean)',
    'retry_revocations(integer, integer)',
    'expire_revocations(integer, integer)',
    'count_sealed(text)',
    'read_sealed(text, bytea, text[], integer)',
    'write_sealed(text, text[], bytea[])',
    'rotate_scope_key()',
    'list_scope_keys()',
    'installation_state(boolean)',
    'adopt_installation()',
    'quarantine_installation()',
    'trace_outgoing(text[], text, uuid, integer)',
    'trace_event(uuid, text, uuid, integer)',
    'trace_audit(uuid[], uuid, text[], integer)',
    'check_deliveries(timestamp with time zone, timestamp with time zone, integer)',
    'measure_due_attempts(integer)',
    'measure_endpoints(integer)',
  ],
}

/**
 * Functions that run with the privileges and policies of their caller (SECURITY INVOKER), so that everyone
 * may call them.
 */
export const callerFunctions: readonly string[] = [
  'put_setting(text, text)',
  'search_words(text)',
  'feed_horizon()',
  'body_within_budget(uuid, text)',
  'publish_event(uuid, text, text, text, timestamp with time zone, uuid)',
  'publish_app_events(uuid, text[], text[], text[], timestamp with time zone)',
  'require_event_types(text[], timestamp with time zone[])',
  'schedule_attempts(uuid, uuid[], boolean, timestamp with time zone)',
  'record_outcomes(uuid, uuid[], json, timestamp with time zone)',
  'release_held(uuid, uuid, double precision[], timestamp with time zone)',
  'end_turns(uuid, uuid[], timestamp with time zone, timestamp with time zone)',
  'turn_waits(uuid)',
]

/** Privileges in the schema of the queue: web only adds jobs, worker completes and maintains them. */
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
 * Tables with ENABLE but without FORCE ROW LEVEL SECURITY: the functions above run as their owner and
 * read them before a scope exists, to find out whom a credential belongs to; triggers write the
 * counters of what a tenant stores in every scope. Policies apply to every other role. All tables that are not listed here or in `serviceTables` must have FORCE too
 * (src/schema/verification/verify-tables.ts).
 */
export const identityTables = [
  'tenants',
  'users',
  'oauth_identities',
  'sessions',
  'sign_in_attempts',
  'logout_tokens',
  'invitation_mails',
  'provider_grants',
  'token_revocations',
  'memberships',
  'invitations',
  'api_tokens',
  'service_tokens',
  'app_tokens',
  'portal_sessions',
  'idempotency_keys',
  'scope_keys',
  'installation',
  'tenant_usage',
  'member_usage',
  'usage_changes',
  'erasures',
] as const

/** Tables without tenant or owner, so without row-level security; no tenant route reads them. */
export const serviceTables = [
  'processed_events',
  'received_events',
  'billing_objects',
  'billing_replays',
  'billing_reconciliations',
  'ledger_checks',
  'operators',
  'app_event_types',
  'running_processes',
  '_prisma_migrations',
  'schema_releases',
  'schema_objects',
] as const

/** Tables whose INSERT policy accepts every row: an audit entry may concern any tenant and user. */
export const appendOnly = ['audit_log'] as const
