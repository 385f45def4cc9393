import type { TenantPrincipal } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { networkOf } from '#src/http/headers/client-address.ts'

/** The client of a request, shortened to what distinguishes devices. */
export type ClientInfo = {
  userAgent: string | null
  /** The network part of the address: /24 of IPv4, /48 of IPv6. */
  ip: string | null
  /** The id of the request, which its log lines have too. */
  requestId?: string | null
}

/** For entries of jobs, which have no client. */
export const noClientInfo: ClientInfo = { userAgent: null, ip: null }

export const auditOutcomes = ['done', 'refused', 'unavailable', 'failed'] as const

export type AuditEntry = {
  action:
    | 'sign-in'
    | 'sign-out'
    | 'link'
    | 'unlink'
    | 'reauthenticate'
    | 'address-verify'
    | 'address-remove'
    | 'session-end'
    | 'tenant-switch'
    | 'tenant-create'
    | 'tenant-rename'
    | 'tenant-leave'
    | 'tenant-delete'
    | 'account-delete'
    | 'token-create'
    | 'token-delete'
    | 'service-token-create'
    | 'service-token-change'
    | 'service-token-rotate'
    | 'service-token-delete'
    | 'app-token-create'
    | 'app-token-change'
    | 'app-token-rotate'
    | 'app-token-delete'
    | 'portal-link-create'
    | 'portal-link-open'
    | 'portal-link-delete'
    | 'invitation-create'
    | 'invitation-accept'
    | 'invitation-decline'
    | 'invitation-delete'
    | 'user-update'
    | 'user-remove'
    | 'role-map'
    | 'customer-link'
    | 'event-dismiss'
    | 'refresh-tokens'
    | 'revoke-tokens'
    | 'endpoint-create'
    | 'endpoint-change'
    | 'endpoint-delete'
    | 'endpoint-rotate'
    | 'endpoint-enable'
    | 'endpoint-pause'
    | 'endpoint-resume'
    | 'endpoint-test'
    | 'endpoint-probe'
    | 'endpoint-replay'
    | 'endpoint-replay-cancel'
    | 'delivery-replay'
    | 'row-action'
  outcome: (typeof auditOutcomes)[number]
  /** Stable code: why it was refused or how it was done. */
  reason: string
  provider?: string | null
  /** The `error` code that the provider sent: [a-z_]{1,64}. */
  providerError?: string | null
  userId?: number | null
  tenantId?: string | null
  /** Id of the session, token, tenant, invitation, user, customer, billing event, endpoint or
   * delivery concerned. */
  target?: string | null
  /** How many requests the entry counts; default 1. */
  occurrences?: number
}

/**
 * The user or service who changes something in a tenant, and their client. The database adds the
 * service of the scope to the entry.
 */
export type Actor = Pick<TenantPrincipal, 'userId' | 'tenantId'> & {
  readonly clientInfo: ClientInfo
}

/** Adds one row to the append-only audit log. It must not contain secrets. */
export async function recordAudit(
  connection: Queryable,
  entry: AuditEntry,
  clientInfo: ClientInfo,
): Promise<void> {
  await connection.sql`
    INSERT INTO audit_log (action, outcome, reason, provider, provider_error, user_id, tenant_id,
      ip, user_agent, target, occurrences, request_id)
    VALUES (${entry.action}, ${entry.outcome}, ${entry.reason}, ${entry.provider ?? null},
      ${entry.providerError ?? null}, ${entry.userId ?? null}, ${entry.tenantId ?? null},
      ${clientInfo.ip}, ${clientInfo.userAgent}, ${entry.target ?? null},
      ${entry.occurrences ?? 1}, ${clientInfo.requestId ?? null})`
}

/** Records a change that `by` made in their tenant, in the transaction of the change. */
export async function recordChange(
  tx: Tx,
  by: Actor,
  { action, reason, target }: Pick<AuditEntry, 'action' | 'reason'> & { target: string },
): Promise<void> {
  const { userId, tenantId, clientInfo } = by
  await tx.auditEntry.createMany({
    data: { action, outcome: 'done', reason, target, userId, tenantId, ...clientInfo },
  })
}

const maxUserAgent = 255

/** Shortens the address to its network and the user agent to 255 characters. */
export function clientInfoOf(
  address: string,
  userAgent: string | undefined,
  requestId: string,
): ClientInfo {
  return {
    userAgent: userAgent?.slice(0, maxUserAgent) ?? null,
    ip: networkOf(address),
    requestId,
  }
}
