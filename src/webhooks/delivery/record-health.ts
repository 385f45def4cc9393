import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { planDrain } from '#src/webhooks/delivery/held/drain.ts'
import { planTrial, waitingFor } from '#src/webhooks/delivery/held/trial.ts'
import { alertOwners } from '#src/webhooks/health/alerts.ts'
import {
  type AttemptOutcome,
  changeState,
  type EndpointState,
  type StateChange,
} from '#src/webhooks/health/state.ts'
import { planForecast } from './forecast.ts'

const dayMs = 86_400_000

/** The outcome of one attempt at an endpoint. */
export type EndpointOutcome = {
  endpointId: string
  outcome: AttemptOutcome
  /** As in `SendResult`. */
  certificateExpiresAt: Date | null
}

type EndpointRow = EndpointState & {
  id: string
  url: string
  certificateExpiresAt: Date | null
  forecastAt: Date | null
}

/** Updates the state of the tenant's endpoints, one outcome after another. */
export async function recordHealth(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  outcomes: readonly EndpointOutcome[],
  now: Date,
): Promise<void> {
  const ids = [...new Set(outcomes.map(({ endpointId }) => endpointId))]
  for (const row of await lockStates(tx, scope, ids)) {
    const own = outcomes.filter(({ endpointId }) => endpointId === row.id)
    await recordEndpoint(tx, queue, scope, row, own, now)
  }
}

/** Locked in the order of ids, each after its endpoint, so that two transactions cannot deadlock. */
function lockStates(
  tx: Tx,
  { tenantId }: TenantScope,
  ids: readonly string[],
): Promise<EndpointRow[]> {
  return tx.sql<EndpointRow>`
    SELECT e.id, e.url, s.status, s.last_success_at AS "lastSuccessAt",
      s.healthy_since AS "healthySince", s.retrying_since AS "retryingSince",
      s.failure_status AS "failureStatus", s.failure_cause AS "failureCause",
      s.failing_since AS "failingSince", s.exhausted_deliveries AS "exhaustedDeliveries",
      s.disabled_at AS "disabledAt", s.outage_since AS "outageSince",
      s.recovering_since AS "recoveringSince", s.recovery_step AS "recoveryStep",
      s.trial_at AS "trialAt", s.trials, s.trial_delivery_id AS "trialDeliveryId",
      s.certificate_expires_at AS "certificateExpiresAt", s.forecast_at AS "forecastAt"
    FROM webhook_endpoints e JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ANY (${[...ids]}::uuid[])
    ORDER BY e.id FOR KEY SHARE OF e FOR NO KEY UPDATE OF s`
}

async function recordEndpoint(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  { id, url, certificateExpiresAt, forecastAt, ...before }: EndpointRow,
  outcomes: readonly EndpointOutcome[],
  now: Date,
): Promise<void> {
  const { tenantId } = scope
  const hasBacklog = await findBacklog(tx, scope, id, before, outcomes)
  const changes = changesAfter(before, outcomes, { now, hasBacklog })
  const last = changes.at(-1)
  if (last === undefined) return
  const shown = outcomes.findLast((one) => one.certificateExpiresAt !== null)
  const expiresAt = shown?.certificateExpiresAt ?? certificateExpiresAt
  const looks = expiresAt !== null && expiresAt > now && isOverdue(forecastAt, now)
  const data = {
    ...last.state,
    certificateExpiresAt: expiresAt,
    ...(looks && { forecastAt: now }),
  }
  await tx.endpointState.updateMany({ where: { tenantId, id }, data })
  if (looks) await planForecast(tx, queue, scope, { endpointId: id, at: now }, now)
  const { trialAt, outageSince } = last.state
  if (trialAt !== null && trialAt.getTime() !== before.trialAt?.getTime()) {
    await planTrial(tx, queue, scope, { endpointId: id, at: trialAt }, now)
  }
  if (changes.some(({ drains }) => drains)) await planDrain(tx, queue, scope, id)
  for (const { alert: kind } of changes) {
    if (kind === null) continue
    // It may fail again while it recovers, but the owners hear only once that it recovers.
    const since = kind === 'endpoint.recovering' ? outageSince : null
    await alertOwners(tx, queue, scope, { kind, endpointId: id, url, since }, now)
  }
}

/** Whether the next forecast is overdue. Each forecast plans the next one, unless the endpoint was quiet. */
function isOverdue(forecastAt: Date | null, now: Date): boolean {
  return forecastAt === null || now.getTime() - forecastAt.getTime() > dayMs
}

/** Whether deliveries wait for the endpoint, if that makes a difference. */
async function findBacklog(
  tx: Tx,
  { tenantId }: TenantScope,
  endpointId: string,
  { status, recoveringSince }: EndpointState,
  outcomes: readonly EndpointOutcome[],
): Promise<boolean> {
  const mayRecover =
    (status !== 'active' || recoveringSince !== null) &&
    outcomes.some(({ outcome }) => outcome.kind === 'succeeded')
  if (!mayRecover) return false
  const rows = await tx.sql<object>`${waitingFor(tenantId, endpointId)} LIMIT 1`
  return rows.length > 0
}

/** The changes that outcomes make one after another, each from the state that the one before left. */
function changesAfter(
  before: EndpointState,
  outcomes: readonly EndpointOutcome[],
  moment: Parameters<typeof changeState>[2],
): readonly StateChange[] {
  const changes: StateChange[] = []
  for (const { outcome } of outcomes) {
    const change = changeState(changes.at(-1)?.state ?? before, outcome, moment)
    if (change !== null) changes.push(change)
  }
  return changes
}
