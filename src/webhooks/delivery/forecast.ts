import type { Job, PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import type { Jobs } from '#src/queue/queue.ts'
import { alertOwners } from '#src/webhooks/health/alerts.ts'
import {
  beforeHours,
  type Forecast,
  forecast,
  mergeForecasts,
  nextForecastAt,
  recentHours,
  type Sample,
} from '#src/webhooks/health/forecast.ts'

/** At most one job of an endpoint waits. It looks for signs of a failure to come. */
export const forecastQueue = 'endpoint-forecast'

const dayMs = 86_400_000
const hourMs = 3_600_000
const sampledDeliveries = 200

/** Plans the next look at an endpoint, in the transaction that writes its `forecast_at`. */
export async function planForecast(
  tx: Tx,
  queue: PgBoss,
  { tenantId }: TenantScope,
  { endpointId, at }: { endpointId: string; at: Date },
  now: Date,
): Promise<void> {
  const startAfter = Math.max(0, (at.getTime() - now.getTime()) / 1_000)
  const options = { singletonKey: endpointId, startAfter }
  await addJob(queue, tx, forecastQueue, { tenantId, endpointId }, options)
}

/** Does a job: the warnings, the plan for the next look and the end of this job are one commit. */
export async function workForecast(
  db: Database,
  queue: PgBoss,
  { id, data }: Job<Jobs['endpoint-forecast']>,
  { timeoutMs, now }: { timeoutMs: number; now: Date },
): Promise<void> {
  const { endpointId } = data
  await db.write(enterJobs(forecastQueue, [id]), async (tx, scope) => {
    await queue.deleteJob(forecastQueue, id, { db: transactionOf(tx) })
    const where = { tenantId: scope.tenantId, id: endpointId }
    // The lock keeps two looks at once from telling the owners twice.
    const [row] = await tx.$queryRaw<EndpointRow[]>`
      SELECT url, status, certificate_expires_at AS "certificateExpiresAt", forecasts,
        last_success_at AS "lastSuccessAt"
      FROM webhook_endpoints
      WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${endpointId}::uuid FOR NO KEY UPDATE`
    if (row === undefined) return
    const facts = { ...row, timeoutMs, ...(await measure(tx, scope, endpointId, now)) }
    const { forecasts, fresh } = mergeForecasts(row.forecasts, forecast(facts, now))
    const at = isQuiet(row, now) ? null : nextForecastAt(facts, now)
    await tx.webhookEndpoint.updateMany({ where, data: { forecasts, forecastAt: at } })
    if (at !== null) await planForecast(tx, queue, scope, { endpointId, at }, now)
    for (const { kind, message } of fresh) {
      const since = kind === 'certificate' ? null : new Date(now.getTime() - dayMs)
      const alert = { kind: `endpoint.${kind}`, endpointId, url: row.url, since, message } as const
      await alertOwners(tx, queue, scope, alert, now)
    }
  })
}

type EndpointRow = {
  url: string
  status: string
  certificateExpiresAt: Date | null
  forecasts: Forecast[]
  lastSuccessAt: Date | null
}

/** Nothing to look at until the next success, which plans a look. */
function isQuiet({ certificateExpiresAt, lastSuccessAt }: EndpointRow, now: Date): boolean {
  const hasCertificate = certificateExpiresAt !== null && certificateExpiresAt > now
  const idleMs = now.getTime() - (lastSuccessAt?.getTime() ?? 0)
  return !hasCertificate && idleMs > dayMs
}

/** Attempts of the newest deliveries of both time spans, without tests. */
async function measure(
  tx: Tx,
  { tenantId }: TenantScope,
  endpointId: string,
  now: Date,
): Promise<{ recent: Sample; before: Sample }> {
  const ago = (hours: number) => new Date(now.getTime() - hours * hourMs)
  const sample = async (from: Date, to: Date): Promise<Sample> => {
    const [row] = await tx.$queryRaw<Sample[]>`
      SELECT count(*)::int AS attempts, count(*) FILTER (WHERE made.succeeded)::int AS succeeded,
        percentile_cont(0.95) WITHIN GROUP (ORDER BY made.duration_ms) AS "slowMs"
      FROM (
        SELECT d.id FROM deliveries d
        WHERE d.tenant_id = ${tenantId}::uuid AND d.endpoint_id = ${endpointId}::uuid
          AND d.created_at >= ${from} AND d.created_at < ${to}
          AND d.event_type <> 'endpoint.test' AND NOT d.example
        ORDER BY d.created_at DESC LIMIT ${sampledDeliveries}
      ) d
      CROSS JOIN LATERAL (
        SELECT a.duration_ms, a.error IS NULL AND a.status_code BETWEEN 200 AND 299 AS succeeded
        FROM delivery_attempts a WHERE a.tenant_id = ${tenantId}::uuid AND a.delivery_id = d.id
      ) made`
    return row ?? { attempts: 0, succeeded: 0, slowMs: null }
  }
  const recent = await sample(ago(recentHours), now)
  return { recent, before: await sample(ago(beforeHours), ago(recentHours)) }
}
