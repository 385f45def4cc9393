import type { PgBoss } from 'pg-boss'
import { randomId } from '#src/crypto/hash.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { type EventFilter, type EventStatus, instant } from './events.ts'

/** A request to run events again, once each, and how far it has come. */
export type Replay = {
  id: string
  total: number
  succeeded: number
  failed: number
  createdAt: string
  finishedAt: string | null
}

/** Which events: those named, or those of a state and time. */
export type ReplaySelection = { ids: readonly string[] } | (EventFilter & { status: EventStatus })

type ReplayRow = {
  id: string
  total: number
  succeeded: number
  failed: number
  created_at: Date
  finished_at: Date | null
}

const statementTimeoutMs = statementTimeoutsMs.replay
const shown = 'id, total, succeeded, failed, created_at, finished_at'
const selected = `
  received_at < r.received_to AND body IS NOT NULL
  AND (r.status IS NULL OR e.status = r.status)
  AND (r.event_ids IS NULL OR e.event_id = ANY (r.event_ids))
  AND (r.received_from IS NULL OR e.received_at >= r.received_from)`

/**
 * Asks for a replay: the selection as it is now, and the job that works through it, in one commit.
 * Events whose body is no longer kept are not part of it.
 */
export async function createReplay(
  systemDb: SystemDatabase,
  queue: PgBoss,
  selection: ReplaySelection,
): Promise<Replay> {
  const byIds = 'ids' in selection
  const values = byIds
    ? [randomId(), null, [...selection.ids], null, null]
    : [randomId(), selection.status, null, selection.from ?? null, selection.to ?? null]
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const { rows } = await connection.query<ReplayRow>({
      text: `
        WITH r AS (
          SELECT $1::uuid AS id, $2::text AS status, $3::text[] AS event_ids,
                 $4::timestamptz AS received_from,
                 LEAST(COALESCE($5::timestamptz, 'infinity'), clock_timestamp()) AS received_to
        )
        INSERT INTO billing_replays (id, status, event_ids, received_from, received_to, total)
        SELECT r.*, (SELECT count(*) FROM received_events e WHERE ${selected}) FROM r
        RETURNING ${shown}`,
      values,
    })
    const replay = toReplay(rows[0])
    await sendPage(queue, connection, replay.id)
    return replay
  })
}

/** @returns null when there is no such replay */
export async function findReplay(systemDb: Queryable, id: string): Promise<Replay | null> {
  const { rows } = await systemDb.query<ReplayRow>({
    text: `SELECT ${shown} FROM billing_replays WHERE id = $1`,
    values: [id],
  })
  return rows[0] === undefined ? null : toReplay(rows[0])
}

type PageRow = { event_id: string; received_us: string }

/**
 * Works one page of a replay; the progress and the job of the page after it are one commit. Run
 * twice, a page counts once.
 * @param runAgain runs one event and resolves to whether that went well; it never rejects
 */
export async function workReplayPage(
  systemDb: SystemDatabase,
  queue: PgBoss,
  replayId: string,
  runAgain: (eventId: string) => Promise<boolean>,
  pageEvents = 50,
): Promise<void> {
  const { rows } = await systemDb.query<PageRow>({
    text: `
      SELECT e.event_id, (extract(epoch FROM e.received_at) * 1000000)::bigint AS received_us
      FROM billing_replays r JOIN received_events e ON ${selected}
        AND (r.cursor_event_id IS NULL
             OR (e.received_at, e.event_id) > (r.cursor_received_at, r.cursor_event_id))
      WHERE r.id = $1 AND r.finished_at IS NULL
      ORDER BY e.received_at, e.event_id LIMIT $2`,
    values: [replayId, pageEvents],
  })
  const outcomes = await Promise.all(rows.map(({ event_id }) => runAgain(event_id)))
  const succeeded = outcomes.filter(Boolean).length
  const last = rows.at(-1)
  const isLast = rows.length < pageEvents
  await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const { rowCount } = await connection.query({
      text: `
        UPDATE billing_replays SET succeeded = succeeded + $2, failed = failed + $3,
          cursor_received_at = COALESCE(${instant('$4')}, cursor_received_at),
          cursor_event_id = COALESCE($5::text, cursor_event_id),
          finished_at = CASE WHEN $6 THEN clock_timestamp() END
        WHERE id = $1 AND finished_at IS NULL AND (cursor_event_id IS NULL OR $5::text IS NULL
          OR (cursor_received_at, cursor_event_id) < (${instant('$4')}, $5::text))`,
      values: [
        replayId,
        succeeded,
        rows.length - succeeded,
        last?.received_us ?? null,
        last?.event_id ?? null,
        isLast,
      ],
    })
    if (rowCount === 1 && !isLast) await sendPage(queue, connection, replayId)
  })
}

async function sendPage(queue: PgBoss, connection: Queryable, replayId: string): Promise<void> {
  await queue.send(
    'billing-replay',
    { replayId },
    { db: { executeSql: (text, values) => connection.query({ text, values: values ?? [] }) } },
  )
}

function toReplay(row: ReplayRow | undefined): Replay {
  if (row === undefined) throw new Error('the replay was not written')
  return {
    id: row.id,
    total: row.total,
    succeeded: row.succeeded,
    failed: row.failed,
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  }
}
