import type { Job, PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import type { Jobs } from '#src/queue/queue.ts'
import { alertOwners } from '#src/webhooks/health/alerts.ts'
import { type Forecast, forecast, nextForecastAt } from '#src/webhooks/health/forecast.ts'

/** At most one job of an endpoint waits. It looks at when the certificate expires. */
export const forecastQueue = 'endpoint-forecast'

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

/** Does a job: the warning, the plan for the next look and the end of this job are one commit. */
export async function workForecast(
  db: Database,
  queue: PgBoss,
  { id, data }: Job<Jobs['endpoint-forecast']>,
  now: Date,
): Promise<void> {
  const { endpointId } = data
  await db.write(enterJobs(forecastQueue, [id]), async (tx, scope) => {
    await queue.deleteJob(forecastQueue, id, { db: transactionOf(tx) })
    const where = { tenantId: scope.tenantId, id: endpointId }
    // The lock keeps two looks at once from warning the owners twice.
    const [row] = await tx.sql<EndpointRow>`
      SELECT e.url, s.certificate_expires_at AS "expiresAt", s.forecasts
      FROM webhook_endpoints e JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
      WHERE e.tenant_id = ${scope.tenantId}::uuid AND e.id = ${endpointId}::uuid
      FOR KEY SHARE OF e FOR NO KEY UPDATE OF s`
    if (row === undefined) return
    const { url, expiresAt, forecasts } = row
    const isValid = expiresAt !== null && expiresAt > now
    const warning = isValid ? forecast(expiresAt, forecasts, now) : null
    const at = isValid ? nextForecastAt(expiresAt, now) : null
    const found = warning === null ? [] : [warning]
    await tx.endpointState.updateMany({ where, data: { forecasts: found, forecastAt: at } })
    if (at !== null) await planForecast(tx, queue, scope, { endpointId, at }, now)
    if (warning === null || forecasts.includes(warning)) return
    const alert = { kind: 'endpoint.certificate', message: warning.message } as const
    await alertOwners(tx, queue, scope, { ...alert, endpointId, url }, now)
  })
}

type EndpointRow = { url: string; expiresAt: Date | null; forecasts: Forecast[] }
