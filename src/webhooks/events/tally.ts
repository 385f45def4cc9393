import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { openJobs } from '#src/queue/job-table.ts'
import { deliverQueue, endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'

/** The events of one day (UTC, `2026-01-31`), counted by the states of their deliveries. */
export type DayTally = {
  day: string
  events: number
  succeeded: number
  exhausted: number
  /** After a failed attempt, with a further one to come. */
  retrying: number
  /** For the first attempt. */
  waiting: number
  /** Unfinished deliveries without a due attempt or a job: their next attempt would never be made. */
  unaccounted: number
}

/** Only the newest events of a tenant are counted, because a busy one has many a day. */
export const talliedEvents = 2_000
const days = 7

/** The id of the job that adds the lost attempt of a delivery (schedule/due-attempts.ts). */
const lostAttemptJobId = Prisma.sql`md5(concat_ws(':', d.id, d.series, d.attempts + 1))::uuid`

/**
 * The last seven days with events, newest first, without test events. A delivery and its attempt are
 * written in one commit, so that one snapshot shows both or none. The jobs are read once, before the rows.
 */
export function tallyDays(tx: Tx, { tenantId }: TenantScope, now: Date): Promise<DayTally[]> {
  const from = new Date(now.getTime() - days * 86_400_000)
  return tx.sql<DayTally>`
    WITH turns AS MATERIALIZED (${openJobs(endpointTurnQueue)}),
      lost AS MATERIALIZED (${openJobs(deliverQueue)})
    SELECT to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
      count(DISTINCT e.id)::int AS events,
      count(*) FILTER (WHERE d.status = 'succeeded')::int AS succeeded,
      count(*) FILTER (WHERE d.status = 'exhausted')::int AS exhausted,
      count(*) FILTER (WHERE d.status = 'pending' AND d.attempts > 0)::int AS retrying,
      count(*) FILTER (WHERE d.status = 'pending' AND d.attempts = 0)::int AS waiting,
      count(*) FILTER (WHERE d.status = 'pending' AND d.held_for IS NULL
        AND NOT (
          EXISTS (
            SELECT FROM due_attempts a
            WHERE a.tenant_id = ${tenantId}::uuid AND a.delivery_id = d.id AND a.series = d.series
              AND a.number = d.attempts + 1)
          AND d.endpoint_id::text IN (SELECT group_id FROM turns))
        AND ${lostAttemptJobId} NOT IN (SELECT id FROM lost))::int AS unaccounted
    FROM (
      SELECT o.id, o.created_at FROM outbound_events o
      WHERE o.tenant_id = ${tenantId}::uuid AND o.created_at >= ${from}::timestamptz
        AND o.type <> 'endpoint.test'
      ORDER BY o.created_at DESC LIMIT ${talliedEvents}
    ) e
    LEFT JOIN deliveries d ON d.tenant_id = ${tenantId}::uuid AND d.event_id = e.id
    GROUP BY 1 ORDER BY 1 DESC`
}
