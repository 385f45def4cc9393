/**
 * Tables read before any tenant is known (contract 8). They are reached by key only, through
 * functions that return one row, and carry no row-level security; those who manage a tenant reach
 * its rows through views that hold them to it (tenant_members, tenant_invitations). Every table
 * that stands in neither list must be under row-level security, and every view over one that does
 * must hold to a context: the boot proof checks it (src/schema/verify.ts).
 */
export const identityPlane = [
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
