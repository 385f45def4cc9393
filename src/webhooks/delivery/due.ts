import type { TenantScope } from '#src/access/caller.ts'
import { type Cause, readCause } from '#src/db/cause.ts'
import type { Tx } from '#src/db/database.ts'
import type { EncryptedSecrets } from '#src/webhooks/endpoints/secrets.ts'
import type { LatestState } from '#src/webhooks/health/state.ts'
import type { SignatureProfile } from './signature.ts'
import { thinBody } from './thin-body.ts'

/** A delivery with everything an attempt needs. */
export type DueDelivery = {
  id: string
  status: 'pending' | 'succeeded' | 'exhausted'
  series: number
  /** Attempts made in the series so far. */
  attempts: number
  createdAt: Date
  event: { id: string; body: string; cause: Cause | null; traceparent: string | null }
  endpoint: Target & LatestState & { isLimited: boolean }
  /** A trial of an endpoint that fails: one attempt, whose result decides. */
  isTrial: boolean
}

/** The URL of an attempt and the secrets that sign it. */
export type Target = EncryptedSecrets & {
  id: string
  tenantId: string
  url: string
  signature: SignatureProfile
}

type Row = {
  id: string
  status: DueDelivery['status']
  series: number
  attempts: number
  created_at: Date
  event_id: string
  body: string
  cause: string | null
  traceparent: string | null
  endpoint_id: string
  thin: boolean
  is_limited: boolean
  is_trial: boolean | null
  recovering_since: Date | null
  url: string
  signature: SignatureProfile
  endpoint_status: LatestState['status']
  last_success_at: Date | null
  retrying_since: Date | null
  failure_status: number | null
  failure_cause: string | null
  secret: Uint8Array
  previous_secret: Uint8Array | null
  previous_secret_expires_at: Date | null
}

/** The deliveries of the tenant by id. Missing ones and those of other tenants are left out. */
export async function findDueDeliveries(
  tx: Tx,
  { tenantId }: TenantScope,
  ids: readonly string[],
): Promise<Map<string, DueDelivery>> {
  const rows = await tx.$queryRaw<Row[]>`
    SELECT d.id, d.status, d.series, d.attempts, d.created_at, d.event_id, v.body, v.cause, v.traceparent,
      e.id AS endpoint_id, e.thin, e.rate_per_second IS NOT NULL AS is_limited, e.url, e.signature, e.status AS endpoint_status, e.last_success_at,
      e.retrying_since, e.failure_status, e.failure_cause, e.recovering_since,
      e.trial_delivery_id = d.id AND (e.status <> 'disabled' OR e.recover_when_disabled) AS is_trial,
      e.secret, e.previous_secret, e.previous_secret_expires_at
    FROM unnest(${[...ids]}::uuid[]) AS due (id)
    -- Forces a lookup by the whole key for each id, even on a new table without statistics.
    CROSS JOIN LATERAL (
      SELECT * FROM deliveries
      WHERE tenant_id = ${tenantId}::uuid AND deliveries.id = due.id LIMIT 1
    ) AS d
    CROSS JOIN LATERAL (
      SELECT body, cause, traceparent FROM outbound_events
      WHERE tenant_id = ${tenantId}::uuid AND outbound_events.id = d.event_id LIMIT 1
    ) AS v
    JOIN webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id`
  return new Map(rows.map((row) => [row.id, toDelivery(row, tenantId)]))
}

function toDelivery(row: Row, tenantId: string): DueDelivery {
  return {
    id: row.id,
    status: row.status,
    series: row.series,
    attempts: row.attempts,
    createdAt: row.created_at,
    isTrial: row.is_trial === true,
    event: {
      id: row.event_id,
      body: row.thin ? thinBody(row.body) : row.body,
      cause: readCause(row.cause),
      traceparent: row.traceparent,
    },
    endpoint: {
      id: row.endpoint_id,
      tenantId,
      url: row.url,
      signature: row.signature,
      isLimited: row.is_limited,
      status: row.endpoint_status,
      lastSuccessAt: row.last_success_at,
      retryingSince: row.retrying_since,
      failureStatus: row.failure_status,
      failureCause: row.failure_cause,
      recoveringSince: row.recovering_since,
      secret: row.secret,
      previousSecret: row.previous_secret,
      previousSecretExpiresAt: row.previous_secret_expires_at,
    },
  }
}
