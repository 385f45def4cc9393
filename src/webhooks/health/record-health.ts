import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { alertOwners } from '#src/webhooks/endpoints/alerts.ts'
import { type AttemptOutcome, changeState, type EndpointState, type StateChange } from './state.ts'

/** The outcome of one attempt at an endpoint. */
export type EndpointOutcome = { endpointId: string; outcome: AttemptOutcome }

type EndpointRow = EndpointState & { id: string; url: string }

/** Updates the state of the tenant's endpoints, one outcome after another. */
export async function recordHealth(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  outcomes: readonly EndpointOutcome[],
  now: Date,
): Promise<void> {
  const { tenantId } = scope
  const ids = [...new Set(outcomes.map(({ endpointId }) => endpointId))]
  // Locked in the order of ids, so that two transactions cannot deadlock.
  const rows = await tx.$queryRaw<EndpointRow[]>`
    SELECT id, url, status, last_success_at AS "lastSuccessAt", healthy_since AS "healthySince",
      retrying_since AS "retryingSince", failure_status AS "failureStatus",
      failure_cause AS "failureCause", failing_since AS "failingSince",
      exhausted_deliveries AS "exhaustedDeliveries"
    FROM webhook_endpoints
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[])
    ORDER BY id FOR NO KEY UPDATE`
  for (const { id, url, ...before } of rows) {
    const own = outcomes.filter(({ endpointId }) => endpointId === id)
    const changes = changesAfter(before, own, now)
    const last = changes.at(-1)
    if (last === undefined) continue
    await tx.webhookEndpoint.updateMany({ where: { tenantId, id }, data: last.state })
    for (const { alert: kind } of changes) {
      if (kind !== null) await alertOwners(tx, queue, scope, { kind, endpointId: id, url }, now)
    }
  }
}

/** One after another, each from the state that the one before left. */
function changesAfter(
  before: EndpointState,
  outcomes: readonly EndpointOutcome[],
  now: Date,
): readonly StateChange[] {
  const changes: StateChange[] = []
  for (const { outcome } of outcomes) {
    const change = changeState(changes.at(-1)?.state ?? before, outcome, now)
    if (change !== null) changes.push(change)
  }
  return changes
}
