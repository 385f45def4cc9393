import type { Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'

/** Where a request came from, cut down to what tells devices apart. */
export type ClientInfo = {
  userAgent: string | null
  /** The network part of the address: /24 of IPv4, /48 of IPv6. */
  ip: string | null
}

export type AuditEntry = {
  action:
    | 'sign-in'
    | 'sign-out'
    | 'link'
    | 'unlink'
    | 'reauthenticate'
    | 'session-end'
    | 'tenant-switch'
    | 'token-create'
    | 'token-delete'
    | 'invitation-create'
    | 'invitation-accept'
    | 'invitation-delete'
    | 'user-update'
    | 'user-remove'
    | 'refresh-tokens'
    | 'revoke-tokens'
    | 'endpoint-create'
    | 'endpoint-change'
    | 'endpoint-delete'
    | 'endpoint-rotate'
    | 'endpoint-enable'
    | 'endpoint-test'
    | 'endpoint-replay'
    | 'delivery-replay'
  outcome: 'done' | 'refused' | 'unavailable' | 'failed'
  /** Stable code: why it was refused, or how it was done. */
  reason: string
  provider?: string | null
  userId?: number | null
  tenantId?: string | null
  /** Id of the session, token, tenant, invitation, user, endpoint or delivery it is about. */
  target?: string | null
}

/** Who changes something in a tenant, and from where. */
export type Actor = {
  readonly userId: number
  readonly tenantId: string
  readonly clientInfo: ClientInfo
}

/** Adds one row to the append-only audit log. Nothing that opens a door may be in it. */
export async function recordAudit(
  connection: Queryable,
  entry: AuditEntry,
  clientInfo: ClientInfo,
): Promise<void> {
  await connection.query({
    name: 'record-audit',
    text: `
      INSERT INTO audit_log (action, outcome, reason, provider, user_id, tenant_id, ip, user_agent, target)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      entry.action,
      entry.outcome,
      entry.reason,
      entry.provider ?? null,
      entry.userId ?? null,
      entry.tenantId ?? null,
      clientInfo.ip,
      clientInfo.userAgent,
      entry.target ?? null,
    ],
  })
}

/** What `by` did in their tenant: an entry that stands and falls with the change it tells of. */
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

/** Cuts a request's address and user agent down to a Device. */
export function clientInfoOf(address: string, userAgent: string | undefined): ClientInfo {
  return { userAgent: userAgent?.slice(0, maxUserAgent) ?? null, ip: networkOf(address) }
}

function networkOf(address: string): string | null {
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+)\.\d+$/.exec(address)
  if (ipv4) return `${ipv4[1]}.0/24`
  const groups = address.split('::')[0]?.split(':').slice(0, 3) ?? []
  return address.includes(':') ? `${groups.filter((group) => group !== '').join(':')}::/48` : null
}
