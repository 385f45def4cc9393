import { sha256 } from '#src/crypto/hash.ts'
import { RefusedStatement, type Statement, sendOnce } from '#src/db/connections/one-trip.ts'
import {
  isPooled,
  poolOptions,
  rethrowSilence,
  survivesBrokenConnections,
} from '#src/db/connections/pool-options.ts'
import { withSettings } from '#src/db/connections/session-settings.ts'
import { WatchedPool } from '#src/db/connections/watched-pool.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { composeOnce, nameStatements, sqlOver } from '#src/db/sql.ts'
import { runTransaction } from '#src/db/system-database.ts'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { jobInsert } from '#src/queue/job-table.ts'
import { createDeadlines } from '#src/runtime/deadlines.ts'
import type { IgnoredReason } from './event.ts'
import { eventQueue, type newEventJob } from './job.ts'

/** A verified event, as it is stored. */
export type VerifiedEvent = {
  eventId: string
  type: string
  /** The bytes as received. */
  body: Buffer
  /** Which configured secret verified it, counted from 0; null if it came from the provider's list. */
  secretIndex: number | null
  /** The request that brought it; null if none did. */
  requestId: string | null
  /** Null if it is ignored. */
  job: ReturnType<typeof newEventJob> | null
  ignored: IgnoredReason | null
}

export type RecordStore = {
  /**
   * Records events with different ids, and a job for each, in one statement and one commit.
   * @param sendBefore in ms of `performance.now()`; after that the statement is not sent
   * @returns the ids that were new; nothing was written for the others
   * @throws if nothing was recorded, now or later
   */
  record(events: readonly VerifiedEvent[], sendBefore: number): Promise<ReadonlySet<string>>
  /**
   * Counts the duplicates whose body differs from the stored one, which is the first.
   * @returns whether each body differs; false if the stored body has been deleted
   */
  compare(duplicates: readonly VerifiedEvent[]): Promise<boolean[]>
  close(): Promise<void>
}

export type StoreLimits = {
  connectMs: number
  /** The server must begin the statement within this time after it was sent. */
  beginMs: number
  /** How long the statement may take from then on. */
  statementMs: number
}

const connections = 2 // one to record, one to compare
const graceMs = 100 // for the answer to arrive when the server keeps its limits

/** Thrown when the statement was too late to commit. */
class TooLate extends Error {
  readonly code = '57014' // query_canceled, as for a statement timeout
}

/**
 * Writes verified events. One statement is one round trip and one commit. The statement carries a
 * deadline in the server's time: if the server reads it later, it records nothing, so that an event
 * answered with 503 is never recorded afterwards. Every error closes its connection.
 */
export function openRecordStore(url: string, limits: StoreLimits, watch?: PoolWatch): RecordStore {
  const { connectMs, beginMs, statementMs } = limits
  const answerMs = beginMs + statementMs + graceMs
  const waits = { acquireMs: connectMs, statementMs, lockMs: statementMs, silenceMs: answerMs }
  const options = {
    ...poolOptions(url, connections, waits),
    pipeline: isPooled(url), // sendOnce takes a connection without it
    application_name: 'gatehouse recorder',
    // The same plan for few events and for many: planning costs more than executing.
    ...(!isPooled(url) && withSettings(url, { plan_cache_mode: 'force_generic_plan' })),
    ...(!isPooled(url) && { query_timeout: 0 }), // sendOnce has the limit
  }
  const pool = survivesBrokenConnections(new WatchedPool(options, watch))
  const silence = createDeadlines(answerMs)
  const nameOf = nameStatements(url)
  const inTransaction = { nameOf, pooled: true, statementTimeoutMs: statementMs, answerMs }
  // Behind a pooler the statement timeout has to be set in the transaction: a second round trip.
  const sql = sqlOver(
    isPooled(url)
      ? (statement) => runTransaction(pool, inTransaction, (sql) => sql(statement))
      : sendAlone,
  )
  async function sendAlone({ text, values = [] }: Statement): Promise<object[]> {
    const client = await pool.connect()
    try {
      const [rows = []] = await sendOnce(client, [{ name: nameOf(text), text, values }], silence)
      client.release()
      return rows
    } catch (error) {
      client.release(true)
      throw error instanceof RefusedStatement ? error.cause : error
    }
  }

  /** Server time minus `performance.now()`, in ms; null while unknown. */
  let offset: number | null = null

  async function serverNow(): Promise<number> {
    if (offset === null) {
      const [row] = await sql<{ now: number }>`
        SELECT date_part('epoch', clock_timestamp()) * 1000 AS now`
      offset = Number(row?.now) - performance.now()
    }
    return offset + performance.now()
  }

  async function record(
    events: readonly VerifiedEvent[],
    sendBefore: number,
  ): Promise<ReadonlySet<string>> {
    const deadline = (await serverNow()) + limits.beginMs
    if (performance.now() > sendBefore) throw new TooLate('no time left to record')
    const [row] = await sql<RecordedRow>(recordStatement(events, deadline))
    if (row === undefined) throw new Error('the recording statement returned no row')
    offset = row.now - performance.now()
    if (!row.accepted) throw new TooLate('the statement reached the server too late')
    return new Set(row.inserted)
  }

  async function compare(duplicates: readonly VerifiedEvent[]): Promise<boolean[]> {
    const rows = await sql<{ positions: number[] }>`
      WITH differing AS (
        SELECT event_id, array_agg(duplicate.position::int) AS positions
        FROM unnest(${duplicates.map(({ eventId }) => eventId)}::text[],
                    ${duplicates.map(({ body }) => sha256(body))}::bytea[])
          WITH ORDINALITY AS duplicate (event_id, hash, position)
        JOIN received_events USING (event_id)
        -- Bytes from the provider's list differ from those of the webhook, even for the same event.
        WHERE body IS NOT NULL AND secret_index IS NOT NULL AND sha256(body) <> duplicate.hash
        GROUP BY event_id
      )
      UPDATE received_events SET other_bodies = other_bodies + cardinality(differing.positions)
      FROM differing WHERE received_events.event_id = differing.event_id
      RETURNING differing.positions`
    const differing = new Set(rows.flatMap(({ positions }) => positions))
    return duplicates.map((_, index) => differing.has(index + 1))
  }

  return {
    record: (events, sendBefore) =>
      record(events, sendBefore).catch((error) => {
        offset = null // after a failover the server has another clock
        return rethrowSilence(error)
      }),
    compare,
    close: () => pool.end(),
  }
}

type RecordedRow = { inserted: string[]; now: number; accepted: boolean }

/**
 * The one statement that records events: their rows and jobs, except for ids that are known. Its row
 * has the ids that were new (`inserted`).
 * @param deadline in ms of the server's time; if the server reads it later, it records nothing
 */
export function recordStatement(events: readonly VerifiedEvent[], deadline: number): Prisma.Sql {
  const rows = events.map(valuesOf)
  const [first] = rows
  if (first !== undefined && rows.length === 1) return recordOne(...first, deadline)
  return recordMany(...types.map((_, column) => rows.map((values) => values[column])), deadline)
}

// The types of `valuesOf`.
const types = ['text', 'text', 'bytea', 'smallint', 'uuid', 'text', 'uuid', 'text', 'int', 'text']

function valuesOf(event: VerifiedEvent): unknown[] {
  const { eventId, type, body, secretIndex, requestId, ignored, job } = event
  const queued = job && [job.id, JSON.stringify(job.data), job.priority, job.group.id]
  return [
    eventId,
    type,
    body,
    secretIndex,
    requestId,
    ignored,
    ...(queued ?? [null, null, null, null]),
  ]
}

/**
 * A lone event has plain values, which PostgreSQL puts in place wherever the statement reads them: arrays
 * of one element would cost it and the driver more.
 */
const recordOne = composeOnce((...values: unknown[]) => {
  const cells = types.map((type, index) => Prisma.sql`${values[index]}::${Prisma.raw(type)}`)
  const rows = Prisma.sql`NOT MATERIALIZED (SELECT * FROM (VALUES (${Prisma.join(cells)}))`
  return recording(rows, values.at(-1))
})

const recordMany = composeOnce((...values: unknown[]) => {
  const cells = types.map((type, index) => Prisma.sql`${values[index]}::${Prisma.raw(`${type}[]`)}`)
  const rows = Prisma.sql`MATERIALIZED (SELECT * FROM unnest(${Prisma.join(cells)})`
  return recording(rows, values.at(-1))
})

/** @param rows the beginning of the events' rows: whether they are materialized, and FROM where */
function recording(rows: Prisma.Sql, deadline: unknown): Prisma.Sql {
  const jobs = Prisma.sql`inserted JOIN batch USING (event_id) WHERE job_id IS NOT NULL`
  return Prisma.sql`
    WITH batch AS ${rows} AS event (
        event_id, type, body, secret_index, request_id, ignored,
        job_id, job_data, job_priority, job_group)
      WHERE date_part('epoch', statement_timestamp()) * 1000 < ${deadline}::float8
    ), inserted AS (
      INSERT INTO processed_events (event_id) SELECT event_id FROM batch
      ON CONFLICT DO NOTHING RETURNING event_id
    ), stored AS (
      INSERT INTO received_events
        (event_id, type, body, secret_index, request_id, status, outcome)
      SELECT event_id, type, body, secret_index, request_id,
             CASE WHEN job_id IS NULL THEN 'ignored' ELSE 'recorded' END, ignored
      FROM inserted JOIN batch USING (event_id)
    ), queued AS (${insertJobs(jobs)})
    SELECT ARRAY(SELECT event_id FROM inserted) AS inserted,
           EXISTS (SELECT FROM batch) AS accepted,
           date_part('epoch', clock_timestamp()) * 1000 AS now`
}

const insertJobs = jobInsert(eventQueue, {
  id: 'job_id',
  data: 'job_data',
  priority: 'job_priority',
  groupId: 'job_group',
})
