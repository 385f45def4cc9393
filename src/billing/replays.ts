import type { PgBoss } from 'pg-boss'
import { randomId } from '#src/crypto/hash.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { selectRows } from '#src/db/select-rows.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { addJob } from '#src/queue/jobs.ts'
import type { EventFilter, EventStatus } from './events.ts'

/** A request to process events again, once each, and its progress. */
export type Replay = {
  id: string
  total: number
  succeeded: number
  failed: number
  createdAt: string
  finishedAt: string | null
}

/** The events to process: by id, or by status and time. */
export type ReplaySelection = { ids: readonly string[] } | (EventFilter & { status: EventStatus })

type ReplayRow = Omit<Replay, 'createdAt' | 'finishedAt'> & {
  createdAt: Date
  finishedAt: Date | null
}

const statementTimeoutMs = statementTimeoutsMs.replay
const columns = Prisma.sql`id, total, succeeded, failed, created_at AS "createdAt",
  finished_at AS "finishedAt"`
const selected = Prisma.sql`
  received_at < r.received_to AND body IS NOT NULL
  AND (r.status IS NULL OR e.status = r.status)
  AND (r.event_ids IS NULL OR e.event_id = ANY (r.event_ids))
  AND (r.received_from IS NULL OR e.received_at >= r.received_from)`

/**
 * Creates a replay of the events selected now, and the job for its first page, in the transaction of
 * `connection`. Unknown events and those whose body has been deleted are left out. A replay of nothing
 * is finished at once.
 */
export async function createReplay(
  connection: Queryable,
  queue: PgBoss,
  selection: ReplaySelection,
): Promise<Replay> {
  const ids = 'ids' in selection ? [...selection.ids] : null
  const { status = null, from = null, to = null } = 'ids' in selection ? {} : selection
  const [row] = await selectRows<ReplayRow>(
    connection,
    Prisma.sql`
      WITH r AS (
        SELECT ${randomId()}::uuid AS id, ${status}::text AS status, ${ids}::text[] AS event_ids,
               ${from}::timestamptz AS received_from,
               LEAST(COALESCE(${to}::timestamptz, 'infinity'), clock_timestamp()) AS received_to
      )
      INSERT INTO billing_replays
        (id, status, event_ids, received_from, received_to, total, finished_at)
      SELECT r.*, counted.total, CASE WHEN counted.total = 0 THEN clock_timestamp() END
      FROM r CROSS JOIN LATERAL (
        SELECT count(*) AS total FROM received_events e WHERE ${selected}) AS counted
      RETURNING ${columns}`,
  )
  const replay = toReplay(row)
  if (replay.total > 0) {
    await addJob(queue, connection, 'billing-replay', { replayId: replay.id })
  }
  return replay
}

/** The ids that no received event has, and those of events whose body has been deleted. */
export async function findUnreplayable(
  connection: Tx | Queryable,
  ids: readonly string[],
): Promise<{ unknown: string[]; withoutBody: string[] }> {
  const rows = await selectRows<{ id: string; known: boolean }>(
    connection,
    Prisma.sql`
      SELECT id, e.event_id IS NOT NULL AS known
      FROM unnest(${[...new Set(ids)]}::text[]) WITH ORDINALITY AS given (id, position)
      LEFT JOIN received_events e ON e.event_id = id
      WHERE e.body IS NULL ORDER BY position`,
  )
  const { unknown = [], withoutBody = [] } = Object.groupBy(rows, ({ known }) =>
    known ? 'withoutBody' : 'unknown',
  )
  return {
    unknown: unknown.map(({ id }) => id),
    withoutBody: withoutBody.map(({ id }) => id),
  }
}

/** Whether a worker is processing a page of the replay now. */
export async function isReplayRunning(connection: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await connection.query({
    text: `SELECT FROM pgboss.job_common
           WHERE name = 'billing-replay' AND state = 'active' AND data->>'replayId' = $1`,
    values: [id],
  })
  return rowCount !== 0
}

/** @returns null if there is no such replay */
export async function findReplay(connection: Tx | Queryable, id: string): Promise<Replay | null> {
  const [row] = await selectRows<ReplayRow>(
    connection,
    Prisma.sql`SELECT ${columns} FROM billing_replays WHERE id = ${id}::uuid`,
  )
  return row === undefined ? null : toReplay(row)
}

/**
 * Processes one page of a replay. The progress and the job for the next page are one commit. A page
 * that is processed twice counts once.
 * @param runAgain processes one event and resolves to whether it succeeded; never rejects
 */
export async function workReplayPage(
  systemDb: SystemDatabase,
  queue: PgBoss,
  replayId: string,
  runAgain: (eventId: string) => Promise<boolean>,
  pageEvents = 50,
): Promise<void> {
  const rows = await selectRows<{ event_id: string }>(
    systemDb,
    Prisma.sql`
      SELECT e.event_id
      FROM billing_replays r JOIN received_events e ON ${selected}
        AND (r.cursor_event_id IS NULL
             OR (e.received_at, e.event_id) > (r.cursor_received_at, r.cursor_event_id))
      WHERE r.id = ${replayId}::uuid AND r.finished_at IS NULL
      ORDER BY e.received_at, e.event_id LIMIT ${pageEvents}`,
  )
  const outcomes = await Promise.all(rows.map(({ event_id }) => runAgain(event_id)))
  const succeeded = outcomes.filter(Boolean).length
  const last = rows.at(-1)
  const isLast = rows.length < pageEvents
  await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const { rowCount } = await connection.query({
      text: `
        WITH last AS (
          SELECT max(received_at) AS received_at, max(event_id) AS event_id
          FROM received_events WHERE event_id = $4
        )
        UPDATE billing_replays SET succeeded = succeeded + $2, failed = failed + $3,
          cursor_received_at = COALESCE(last.received_at, cursor_received_at),
          cursor_event_id = COALESCE(last.event_id, cursor_event_id),
          finished_at = CASE WHEN $5 THEN clock_timestamp() END
        FROM last
        WHERE id = $1 AND finished_at IS NULL AND (cursor_event_id IS NULL OR last.event_id IS NULL
          OR (cursor_received_at, cursor_event_id) < (last.received_at, last.event_id))`,
      values: [replayId, succeeded, rows.length - succeeded, last?.event_id ?? null, isLast],
    })
    if (rowCount === 1 && !isLast) await addJob(queue, connection, 'billing-replay', { replayId })
  })
}

function toReplay(row: ReplayRow | undefined): Replay {
  if (row === undefined) throw new Error('the replay was not written')
  const { createdAt, finishedAt, ...counts } = row
  return {
    ...counts,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}
