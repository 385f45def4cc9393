import type { SystemDatabase } from '#src/db/system-database.ts'

const batchRows = 500
const maxBatches = 200

/** `since`: where the next run begins. `done`: no body is older than the limit any more. */
export type Purged = { bodies: number; since: string; done: boolean }

/**
 * Deletes raw bodies older than `days`, in small commits. Rows and event ids stay. Uses database
 * time, because `received_at` is database time.
 * @param since RFC 3339; events received before it have been handled by an earlier run
 */
export async function purgeBodies(
  systemDb: SystemDatabase,
  days: number,
  since: string | undefined,
  limits = { batchRows, maxBatches },
): Promise<Purged> {
  let from = since ?? '-infinity'
  let bodies = 0
  for (let batch = 0; batch < limits.maxBatches; batch++) {
    const [row] = await systemDb.sql<{ purged: number; until: string | null; seen: number }>`
      WITH old AS (
        SELECT event_id, received_at FROM received_events
        WHERE received_at >= ${from}::timestamptz
          AND received_at < now() - make_interval(days => ${days}) AND body IS NOT NULL
        ORDER BY received_at, event_id LIMIT ${limits.batchRows}
      ), purged AS (
        UPDATE received_events e SET body = NULL FROM old WHERE e.event_id = old.event_id
        RETURNING 1
      )
      SELECT (SELECT count(*)::int FROM purged) AS purged, count(*)::int AS seen,
             to_char(max(received_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS until
      FROM old`
    bodies += row?.purged ?? 0
    from = row?.until ?? from
    if ((row?.seen ?? 0) < limits.batchRows) return { bodies, since: from, done: true }
  }
  return { bodies, since: from, done: false }
}

/** Deletes replays that finished more than `days` ago. @returns their number */
export async function purgeReplays(systemDb: SystemDatabase, days: number): Promise<number> {
  const purged = await systemDb.sql`
    DELETE FROM billing_replays WHERE finished_at < now() - make_interval(days => ${days})
    RETURNING id`
  return purged.length
}
