import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { alertOwners } from './alerts.ts'
import { decideHealth, type EndpointState } from './health.ts'

/** The outcome of one delivery to an endpoint. */
export type EndpointOutcome = { endpointId: string; outcome: 'succeeded' | 'exhausted' }

type EndpointRow = EndpointState & { id: string; url: string }

/** Updates the state of the tenant's endpoints, one outcome after another. */
export async function recordHealth(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  outcomes: readonly EndpointOutcome[],
  now: Date,
): Promise<void> {
  const ids = [...new Set(outcomes.map(({ endpointId }) => endpointId))]
  // Locked in the order of ids, so that two transactions cannot deadlock.
  const rows = await tx.$queryRaw<EndpointRow[]>`
    SELECT id, url, status, last_success_at AS "lastSuccessAt", failing_since AS "failingSince",
           exhausted_deliveries AS "exhaustedDeliveries"
    FROM webhook_endpoints
    WHERE tenant_id = ${scope.tenantId}::uuid AND id = ANY (${ids}::uuid[])
    ORDER BY id FOR NO KEY UPDATE`
  for (const row of rows) {
    let state: EndpointState = row
    for (const { endpointId, outcome } of outcomes) {
      if (endpointId === row.id)
        state = await recordOutcome(tx, queue, scope, row, state, outcome, now)
    }
  }
}

/** @returns the state of the endpoint afterwards */
async function recordOutcome(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  { id, url }: Pick<EndpointRow, 'id' | 'url'>,
  before: EndpointState,
  outcome: EndpointOutcome['outcome'],
  now: Date,
): Promise<EndpointState> {
  const decision = decideHealth(before, outcome, now)
  if (decision === null) return before
  const { state, alert: kind } = decision
  const { status, lastSuccessAt, failingSince, exhaustedDeliveries, disabledAt } = state
  await tx.webhookEndpoint.updateMany({
    where: { tenantId: scope.tenantId, id },
    data: { status, lastSuccessAt, failingSince, exhaustedDeliveries, disabledAt },
  })
  if (kind !== null) await alertOwners(tx, queue, scope, { kind, endpointId: id, url }, now)
  return state
}
