import type { Queryable } from '#src/db/system-database.ts'

/** Tables of which most rows are updated or deleted soon. */
const busyTables = [
  'deliveries',
  'due_attempts',
  'outbound_events',
  'received_events',
  'job_common',
]

export type OpenTransactions = {
  /**
   * Seconds that the oldest transaction with an id has been open at least, in any database of the server;
   * 0 without one, and until a later one has ended. The event feed waits for it.
   */
  oldestSeconds: number
  /** By table: rows that VACUUM has not removed yet. It cannot while an older transaction is open. */
  deadRows: ReadonlyMap<string, number>
}

/**
 * Looks for transactions that stay open. PostgreSQL shows other roles' sessions only to privileged ones,
 * but everyone sees the oldest id in progress: how long it stays the same is how long it is open.
 */
export function watchTransactions(
  now: () => number = () => performance.now(),
): (systemDb: Queryable) => Promise<OpenTransactions> {
  let oldest = ''
  let since = 0
  return async function look(systemDb) {
    const [row] = await systemDb.sql<Row>`
      SELECT pg_snapshot_xmin(s)::text AS oldest, pg_snapshot_xmin(s) < pg_snapshot_xmax(s) AS open,
        ARRAY(
          SELECT json_build_object('table', relname, 'dead', n_dead_tup::float8)
          FROM pg_stat_user_tables
          WHERE schemaname IN ('public', 'pgboss') AND relname = ANY (${busyTables})) AS tables
      FROM pg_current_snapshot() AS s`
    if (row === undefined || !row.open || row.oldest !== oldest) {
      oldest = row?.oldest ?? ''
      since = now()
    }
    const deadRows = new Map(row?.tables.map(({ table, dead }) => [table, dead]))
    return { oldestSeconds: (now() - since) / 1_000, deadRows }
  }
}

type Row = { oldest: string; open: boolean; tables: readonly { table: string; dead: number }[] }

/** From then on `/readyz` names it. Longer than a transaction of this program can be open. */
const longSeconds = 120

/** What an operator should know, although everything works; empty if there is nothing. */
export function warningsOf({ oldestSeconds }: OpenTransactions): string[] {
  if (oldestSeconds < longSeconds) return []
  const seconds = Math.floor(oldestSeconds)
  return [
    `A transaction has been open for ${seconds} s: the event feed waits and VACUUM removes nothing.`,
  ]
}
