import type { PgBoss } from 'pg-boss'
import type { TenantScope, Tx } from '#src/db/database.ts'
import { alertOwners } from './alerts.ts'
import { type EndpointState, judgeEndpoint, unwellSince } from './health.ts'

export type DeliveryEnd = { endpointId: string; ended: 'succeeded' | 'exhausted' }

type Row = {
  id: string
  url: string
  status: EndpointState['status']
  enabled_at: Date
  last_success_at: Date | null
  failing_since: Date | null
}

const enough = 10 // more than the rule asks for need not be counted

/** Moves the endpoints of the tenant to where the ends of their deliveries bring them. */
export async function recordHealth(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  ends: readonly DeliveryEnd[],
  now: Date,
): Promise<void> {
  const ids = [...new Set(ends.map(({ endpointId }) => endpointId))]
  // Locked in one order, so that two of these never wait for each other in a circle.
  const rows = await tx.$queryRaw<Row[]>`
    SELECT id, url, status, enabled_at, last_success_at, failing_since FROM webhook_endpoints
    WHERE tenant_id = ${scope.tenantId}::uuid AND id = ANY (${ids}::uuid[])
    ORDER BY id FOR NO KEY UPDATE`
  for (const row of rows) {
    for (const { endpointId, ended } of ends) {
      if (endpointId === row.id) await noteEnd(tx, queue, scope, row, ended, now)
    }
  }
}

/** Leaves in `row` what the endpoint has become. */
async function noteEnd(
  tx: Tx,
  queue: PgBoss,
  scope: TenantScope,
  row: Row,
  ended: DeliveryEnd['ended'],
  now: Date,
): Promise<void> {
  const state: EndpointState = {
    status: row.status,
    enabledAt: row.enabled_at,
    lastSuccessAt: row.last_success_at,
    failingSince: row.failing_since,
  }
  const exhausted = ended === 'succeeded' ? 0 : await countExhausted(tx, scope, row.id, state)
  const judgement = judgeEndpoint(state, ended, exhausted, now)
  if (judgement === null) return
  const { status, lastSuccessAt, failingSince, disabledAt } = judgement.state
  await tx.webhookEndpoint.updateMany({
    where: { tenantId: scope.tenantId, id: row.id },
    data: { status, lastSuccessAt, failingSince, disabledAt },
  })
  Object.assign(row, { status, last_success_at: lastSuccessAt, failing_since: failingSince })
  if (judgement.alert === null) return
  const alert = { kind: judgement.alert, endpointId: row.id, url: row.url }
  await alertOwners(tx, queue, scope, alert, now)
}

async function countExhausted(
  tx: Tx,
  { tenantId }: TenantScope,
  endpointId: string,
  state: EndpointState,
): Promise<number> {
  const [row] = await tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int FROM (
      SELECT FROM deliveries
      WHERE tenant_id = ${tenantId}::uuid AND endpoint_id = ${endpointId}::uuid
        AND created_at >= ${unwellSince(state)} AND status = 'exhausted' AND attempts > 0
        AND event_type <> 'endpoint.test'
      ORDER BY created_at, id LIMIT ${enough}) AS counted`
  return row?.count ?? 0
}
