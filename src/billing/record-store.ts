import type { PgBoss } from 'pg-boss'
import { sha256 } from '#src/crypto/hash.ts'
import {
  isPooled,
  poolOptions,
  rethrowSilence,
  survivesBrokenConnections,
} from '#src/db/pool-options.ts'
import { WatchedPool } from '#src/db/scoped-pool.ts'
import { type Queryable, runTransaction, withoutName } from '#src/db/system-database.ts'
import type { PoolWatch } from '#src/observability/metrics.ts'

/** A verified event as it is kept. */
export type Arrival = {
  eventId: string
  type: string
  /** The bytes as received. */
  body: Buffer
  /** Which configured secret verified it, counted from 0. */
  secretIndex: number
  /** A kind that is worked on; every other is recorded without a job. */
  handled: boolean
}

export type RecordStore = {
  /**
   * Records events of different ids, each with its job, in one statement and so in one commit.
   * @param sendBefore on the clock of `performance.now()`: later it is not even sent
   * @returns the ids that were new; the others were known, and for them nothing was written
   * @throws when nothing was recorded, and nothing will be
   */
  record(arrivals: readonly Arrival[], sendBefore: number): Promise<ReadonlySet<string>>
  /**
   * Counts the copies whose body is not the one that was kept (the first stays).
   * @returns for each copy whether it differed; a body no longer kept differs from nothing
   */
  compare(copies: readonly Arrival[]): Promise<boolean[]>
  close(): Promise<void>
}

export type StoreLimits = {
  connectMs: number
  /** The server must have begun with the statement so long after it was sent. */
  beginMs: number
  /** From then on it may take so long. */
  statementMs: number
}

const connections = 2 // one records, one compares
const graceMs = 100 // for the answer of a server that keeps the limits above

/** Thrown when the statement came too late to be allowed to commit. */
class TooLate extends Error {
  readonly code = '57014' // as PostgreSQL calls a statement that ran out of time
}

/**
 * Where the inbox writes. One statement is one round trip and one commit. It carries its own
 * deadline in the server's time: a server that was held up and reads it later records nothing, so
 * a sender that was told 503 is not contradicted. Whatever fails costs its connection.
 */
export function openRecordStore(
  url: string,
  queue: PgBoss,
  limits: StoreLimits,
  watch?: PoolWatch,
): RecordStore {
  const { connectMs, beginMs, statementMs } = limits
  const answerMs = beginMs + statementMs + graceMs
  const waits = { acquireMs: connectMs, statementMs, lockMs: statementMs, silenceMs: answerMs }
  const options = {
    ...poolOptions(url, connections, waits),
    application_name: 'gatehouse inbox',
    // One plan for few events and for many; making it anew costs more than carrying it out.
    ...(!isPooled(url) && { options: '-c plan_cache_mode=force_generic_plan' }),
  }
  const pool = survivesBrokenConnections(new WatchedPool(options, watch))
  // Behind a pooler the limit of a statement has to come with its transaction, in a second trip.
  const { query }: Queryable = isPooled(url)
    ? {
        query: (statement) =>
          runTransaction(pool, { statementTimeoutMs: statementMs, answerMs }, (connection) =>
            connection.query(withoutName(statement)),
          ),
      }
    : { query: (statement) => pool.query(statement) }
  /** Server time minus local monotonic time, in ms; null until the server has told its time. */
  let offset: number | null = null
  let recordText: Promise<string> | null = null

  async function serverNow(): Promise<number> {
    if (offset === null) {
      const { rows } = await pool.query<{ now: string }>(
        'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now',
      )
      offset = Number(rows[0]?.now) - performance.now()
    }
    return offset + performance.now()
  }

  async function record(
    arrivals: readonly Arrival[],
    sendBefore: number,
  ): Promise<ReadonlySet<string>> {
    recordText ??= buildRecordText(queue)
    const text = await recordText.catch((error) => {
      recordText = null
      throw error
    })
    const deadline = (await serverNow()) + limits.beginMs
    if (performance.now() > sendBefore) throw new TooLate('there was no time left to record')
    const { rows } = await query<{ fresh: string[] | null; now: string; taken: number }>({
      name: 'record-events',
      text,
      values: [
        arrivals.map(({ eventId }) => eventId),
        arrivals.map(({ type }) => type),
        arrivals.map(({ body }) => body),
        arrivals.map(({ secretIndex }) => secretIndex),
        arrivals.map(({ handled }) => handled),
        deadline,
      ],
    })
    const [row] = rows
    if (row === undefined) throw new Error('the recording statement gave no row')
    offset = Number(row.now) - performance.now()
    if (row.taken !== arrivals.length)
      throw new TooLate('the statement reached the server too late')
    return new Set(row.fresh ?? [])
  }

  async function compare(copies: readonly Arrival[]): Promise<boolean[]> {
    const { rows } = await query<{ copies: number[] }>({
      name: 'count-other-bodies',
      text: countText,
      values: [copies.map(({ eventId }) => eventId), copies.map(({ body }) => sha256(body))],
    })
    const other = new Set(rows.flatMap((row) => row.copies))
    return copies.map((_, index) => other.has(index + 1))
  }

  return {
    record: (arrivals, sendBefore) =>
      record(arrivals, sendBefore).catch((error) => {
        offset = null // the server may have been replaced by one with another clock
        return rethrowSilence(error)
      }),
    compare,
    close: () => pool.end(),
  }
}

/**
 * Event rows and jobs in one statement. How a job row is written is the queue's own statement,
 * asked of it once, with the fresh events in the place of its parameter.
 */
async function buildRecordText(queue: PgBoss): Promise<string> {
  let insertJobs = ''
  const db = {
    async executeSql(text: string) {
      insertJobs = text
      return { rows: [] }
    },
  }
  await queue.insert('billing-event', [], { db })
  if (insertJobs.split('$1').length !== 2) throw new Error('the queue writes jobs in another way')
  return `
    WITH batch AS MATERIALIZED (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::smallint[], $5::boolean[])
        AS one (event_id, type, body, secret_index, handled)
      WHERE (SELECT extract(epoch FROM clock_timestamp()) * 1000) < $6::float8
    ), fresh AS (
      INSERT INTO processed_events (event_id) SELECT event_id FROM batch
      ON CONFLICT DO NOTHING RETURNING event_id
    ), kept AS (
      INSERT INTO received_events (event_id, type, body, secret_index, status)
      SELECT event_id, type, body, secret_index,
             CASE WHEN handled THEN 'recorded' ELSE 'ignored' END
      FROM fresh JOIN batch USING (event_id)
    ), queued AS (
      ${insertJobs.replace('$1', () => freshJobs)}
    )
    SELECT (SELECT array_agg(event_id) FROM fresh) AS fresh,
           (SELECT count(*)::int FROM batch) AS taken,
           extract(epoch FROM clock_timestamp()) * 1000 AS now`
}

const freshJobs = `(
  SELECT coalesce(json_agg(json_build_object('data', json_build_object('eventId', event_id))), '[]')
  FROM fresh JOIN batch USING (event_id) WHERE handled
)`

const countText = `
  WITH other AS (
    SELECT event_id, array_agg(copy.number::int) AS copies
    FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS copy (event_id, hash, number)
    JOIN received_events USING (event_id)
    WHERE body IS NOT NULL AND sha256(body) <> copy.hash
    GROUP BY event_id
  )
  UPDATE received_events SET other_bodies = other_bodies + cardinality(other.copies)
  FROM other WHERE received_events.event_id = other.event_id
  RETURNING other.copies`
