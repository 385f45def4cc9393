import type { PgBoss } from 'pg-boss'
import { randomId } from '#src/crypto/hash.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { isJobActive } from '#src/queue/job-table.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import type { EventFilter, EventStatus } from './events.ts'
import { eventQueue, newEventJob } from './job.ts'
import type { BillingProvider } from './providers/provider.ts'

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
  const [row] = await connection.sql<ReplayRow>`
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
      RETURNING ${columns}`
  const replay = toReplay(row)
  if (replay.total > 0) {
    await addJob(queue, connection, 'billing-replay', { replayId: replay.id })
  }
  return replay
}

/** The ids that no received event has, and those of events whose body has been deleted. */
export async function findUnreplayable(
  connection: Queryable,
  ids: readonly string[],
): Promise<{ unknown: string[]; withoutBody: string[] }> {
  const rows = await connection.sql<{ id: string; known: boolean }>`
      SELECT id, e.event_id IS NOT NULL AS known
      FROM unnest(${[...new Set(ids)]}::text[]) WITH ORDINALITY AS given (id, position)
      LEFT JOIN received_events e ON e.event_id = id
      WHERE e.body IS NULL ORDER BY position`
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
  return isJobActive(connection, 'billing-replay', 'replayId', id)
}

/** @returns null if there is no such replay */
export async function findReplay(connection: Queryable, id: string): Promise<Replay | null> {
  const [row] =
    await connection.sql<ReplayRow>`SELECT ${columns} FROM billing_replays WHERE id = ${id}::uuid`
  return row === undefined ? null : toReplay(row)
}

/**
 * Adds a job for each event of the next page of a replay, in the order of their arrival. The cursor
 * moves in the same commit, so that no event is queued twice. The replay is finished when no event is
 * left and every job has ended.
 */
export async function workReplayPage(
  systemDb: SystemDatabase,
  queue: PgBoss,
  provider: BillingProvider,
  replayId: string,
  pageEvents = 50,
): Promise<void> {
  await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const page = await lockPage(connection, replayId, pageEvents)
    const last = page.at(-1)
    if (last === undefined) {
      await finish(connection, replayId)
      return
    }
    const jobs = page.map(({ eventId, body }) =>
      newEventJob(eventId, provider.parse({ 'webhook-id': eventId }, body), { replayId }),
    )
    await queue.insert(eventQueue, jobs, { db: transactionOf(connection) })
    await connection.sql`
      UPDATE billing_replays SET queued = queued + ${page.length},
        cursor_event_id = ${last.eventId}, cursor_received_at = (
          SELECT received_at FROM received_events WHERE event_id = ${last.eventId})
      WHERE id = ${replayId}`
  })
}

type PageRow = { eventId: string; body: Uint8Array }

/** The next events of a replay, which is locked until the transaction ends. */
async function lockPage(
  connection: Queryable,
  replayId: string,
  pageEvents: number,
): Promise<PageRow[]> {
  await connection.sql`SELECT FROM billing_replays WHERE id = ${replayId} FOR UPDATE`
  return connection.sql<PageRow>`
      SELECT e.event_id AS "eventId", e.body
      FROM billing_replays r JOIN received_events e ON ${selected}
        AND (r.cursor_event_id IS NULL
             OR (e.received_at, e.event_id) > (r.cursor_received_at, r.cursor_event_id))
      WHERE r.id = ${replayId}::uuid AND r.finished_at IS NULL
      ORDER BY e.received_at, e.event_id LIMIT ${pageEvents}`
}

async function finish(connection: Queryable, replayId: string): Promise<void> {
  await connection.sql`
    UPDATE billing_replays SET finished_at = clock_timestamp()
    WHERE id = ${replayId} AND finished_at IS NULL AND succeeded + failed >= queued`
}

/**
 * Counts an event of a replay, in the transaction that ends its job. After the last event of a page
 * the next page follows.
 */
export async function countReplayed(
  tx: Tx,
  queue: PgBoss,
  replayId: string,
  outcome: 'succeeded' | 'failed',
): Promise<void> {
  const rows = await tx.sql<{ ended: boolean }>`
    UPDATE billing_replays SET
      succeeded = succeeded + ${outcome === 'succeeded' ? 1 : 0},
      failed = failed + ${outcome === 'failed' ? 1 : 0}
    WHERE id = ${replayId}::uuid AND finished_at IS NULL
    RETURNING succeeded + failed >= queued AS ended`
  if (rows[0]?.ended) await addJob(queue, tx, 'billing-replay', { replayId })
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
