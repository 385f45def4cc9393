import { isDeepStrictEqual } from 'node:util'
import type { PgBoss } from 'pg-boss'
import { randomId } from '#src/crypto/hash.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import type { BillingMetrics } from '#src/observability/metrics.ts'
import { addJob } from '#src/queue/jobs.ts'
import type { BillingEvent } from './event.ts'
import { newEventJob } from './job.ts'
import type { EventListApi, EventPage } from './provider-api.ts'
import type { BillingProvider } from './providers/provider.ts'
import { recordStatement, type VerifiedEvent } from './record-store.ts'

/*
 * Webhooks can get lost on their way. A run reads the provider's list of events and records what
 * never arrived, as a webhook would be: once, with its job, in one commit per page. A webhook that
 * arrives later is a duplicate.
 */

export const reconciliationStatuses = ['running', 'finished', 'failed'] as const

/** A run over the provider's list, and how far it has come. Times are RFC 3339 in UTC. */
export type Reconciliation = {
  id: string
  /** Events that the provider created from here, until before `to`. */
  from: string
  to: string
  /** Only counts what is missing. */
  dryRun: boolean
  /** False if a person asked for it. */
  scheduled: boolean
  status: (typeof reconciliationStatuses)[number]
  /** Events in the list. */
  seen: number
  /** Events that were not known. Without `dryRun` they are recorded. */
  missed: number
  /** Known events whose content in the list is not what was received. */
  different: number
  /** Members of the list that are no events, or not of this time. */
  refused: number
  /** The first hundred of each. */
  missedIds: string[]
  differentIds: string[]
  /** Why it failed. */
  error: string | null
  createdAt: string
  finishedAt: string | null
}

type Row = Omit<Reconciliation, 'from' | 'to' | 'createdAt' | 'finishedAt'> & {
  from: Date
  to: Date
  createdAt: Date
  finishedAt: Date | null
}
type Run = Pick<Row, 'id' | 'from' | 'to' | 'dryRun'> & { cursor: string | null; pages: number }

const statementTimeoutMs = statementTimeoutsMs.replay
/** A provider may list an event late. */
const overlapSeconds = 3_600
/** A webhook that is still on its way is not missing. */
const settleSeconds = 600
/** The range of the first run, and the longest range of one run. */
const longestSeconds = 86_400
/** A wrong list may never end. The next scheduled run goes on after these pages. */
const maxPages = 1_000
const shownIds = 100

const columns = Prisma.sql`id, created_from AS "from", created_to AS "to", dry_run AS "dryRun",
  scheduled, status, seen, missed, different, refused, missed_ids AS "missedIds",
  different_ids AS "differentIds", error, created_at AS "createdAt", finished_at AS "finishedAt"`

export const reconciliationList = {
  name: 'billing-reconciliations',
  forms: [/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/],
}

/** Runs, newest first. */
export async function listReconciliations(connection: Queryable, page: Page) {
  const [last] = page.after ?? []
  const behind =
    last === undefined
      ? Prisma.sql`true`
      : Prisma.sql`(created_at, id) < (SELECT created_at, id FROM billing_reconciliations WHERE id = ${last}::uuid)`
  const rows =
    await connection.sql<Row>`SELECT ${columns} FROM billing_reconciliations WHERE ${behind}
      ORDER BY created_at DESC, id DESC LIMIT ${page.limit + 1}`
  return pageOf(rows, page, reconciliationList.name, ({ id }) => [id], toReconciliation)
}

/** @returns null if there is no such run */
export async function findReconciliation(
  connection: Queryable,
  id: string,
): Promise<Reconciliation | null> {
  const [row] =
    await connection.sql<Row>`SELECT ${columns} FROM billing_reconciliations WHERE id = ${id}::uuid`
  return row === undefined ? null : toReconciliation(row)
}

/**
 * Creates a run that a person asked for, and its job, in the transaction of `connection`. Unless said
 * otherwise it covers the last day, except for the last ten minutes.
 */
export async function createReconciliation(
  connection: Queryable,
  queue: PgBoss,
  { from, to, dryRun = false }: { from?: string; to?: string; dryRun?: boolean },
): Promise<Reconciliation> {
  const [row] = await connection.sql<Row>`
      WITH range AS (
        SELECT LEAST(COALESCE(${to ?? null}::timestamptz, 'infinity'),
                     now() - make_interval(secs => ${settleSeconds})) AS created_to
      )
      INSERT INTO billing_reconciliations (id, created_from, created_to, dry_run, scheduled)
      SELECT ${randomId()}::uuid,
             LEAST(COALESCE(${from ?? null}::timestamptz,
                            created_to - make_interval(secs => ${longestSeconds})),
                   created_to - interval '1 second'),
             created_to, ${dryRun}, false
      FROM range RETURNING ${columns}`
  if (row === undefined) throw new Error('the run was not written')
  await addJob(queue, connection, 'billing-reconciliation', { reconciliationId: row.id })
  return toReconciliation(row)
}

/**
 * Creates the next scheduled run, and its job, unless one is in progress. It begins an hour before the
 * end of the last one that finished, or where the first one began if none has finished yet. If the last
 * one failed because its list has too many pages, it reads the rest of the same list: every page before
 * has been committed.
 * @returns seconds until the next run is due: 0 while this one does not reach the present
 */
export async function scheduleReconciliation(
  systemDb: SystemDatabase,
  queue: PgBoss,
  everySeconds: number,
): Promise<number> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const [row] = await connection.sql<{ id: string; isBehind: boolean }>`
        WITH last AS (
          SELECT max(created_to) FILTER (WHERE status = 'finished') AS until,
                 min(created_from) AS first
          FROM billing_reconciliations WHERE scheduled
        ), newest AS (
          SELECT created_from, created_to, cursor, status, pages FROM billing_reconciliations
          WHERE scheduled ORDER BY created_at DESC LIMIT 1
        ), stopped AS (
          SELECT created_from, created_to, cursor FROM newest
          WHERE status = 'failed' AND pages >= ${maxPages}
        ), range AS (
          SELECT now() - make_interval(secs => ${settleSeconds}) AS present,
                 COALESCE(until - make_interval(secs => ${overlapSeconds}), first,
                          now() - make_interval(secs => ${longestSeconds})) AS begins
          FROM last
        ), run AS (
          SELECT created_from, created_to, cursor FROM stopped
          UNION ALL
          SELECT begins, LEAST(present, begins + make_interval(secs => ${longestSeconds})), NULL
          FROM range WHERE NOT EXISTS (SELECT FROM stopped)
        )
        INSERT INTO billing_reconciliations
          (id, created_from, created_to, cursor, dry_run, scheduled)
        SELECT ${randomId()}::uuid, created_from, created_to, cursor, false, true FROM run
        ON CONFLICT (scheduled) WHERE scheduled AND status = 'running' DO NOTHING
        RETURNING id, created_to < now() - make_interval(secs => ${settleSeconds + everySeconds})
          AS "isBehind"`
    if (row === undefined) return everySeconds
    await addJob(queue, connection, 'billing-reconciliation', { reconciliationId: row.id })
    return row.isBehind ? 0 : everySeconds
  })
}

/**
 * Works on a run until its list ends, beginning where it was interrupted. A provider that fails or
 * sends a wrong list fails the run; the next scheduled one begins its range again, unless the list was
 * too long.
 */
export async function reconcile(
  systemDb: SystemDatabase,
  provider: BillingProvider,
  api: EventListApi | null,
  id: string,
): Promise<void> {
  const cursors = new Set<string>()
  for (let run = await findRun(systemDb, id); run !== null; run = await findRun(systemDb, id)) {
    const page = await readList(api, run, cursors).catch(toError)
    if (page instanceof Error) return end(systemDb, run, 'failed', page.message)
    await workPage(systemDb, provider, run, page)
    if (page.next === null) return end(systemDb, run, 'finished', null)
    cursors.add(page.next)
  }
}

async function readList(
  api: EventListApi | null,
  { from, to, cursor, pages }: Run,
  cursors: ReadonlySet<string>,
): Promise<EventPage> {
  if (api === null)
    throw new Error('BILLING_API_KEY is not set for the workers, or the provider has no list')
  if (pages >= maxPages) throw new Error(`the list does not end within ${maxPages} pages`)
  const range = { from: Math.floor(from.getTime() / 1_000), to: Math.ceil(to.getTime() / 1_000) }
  const page = await api.listEvents({ ...range, after: cursor })
  if (page.next !== null && (page.next === cursor || cursors.has(page.next))) {
    throw new Error('the list repeats its cursor')
  }
  return page
}

type Listed = { event: BillingEvent; item: unknown }

/** Records what is missing and moves the cursor, in one commit. */
async function workPage(
  systemDb: SystemDatabase,
  provider: BillingProvider,
  run: Run,
  page: EventPage,
): Promise<void> {
  const listed = new Map<string, Listed>()
  for (const item of page.items) {
    const event = provider.parse({}, Buffer.from(JSON.stringify(item)))
    if (event !== null && isOf(run, event)) listed.set(event.id, { event, item })
  }
  await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const missed = run.dryRun
      ? await findMissing(connection, [...listed.keys()])
      : await recordMissing(connection, [...listed.values()])
    const different = await findDifferent(connection, provider, listed, new Set(missed))
    const moved = await connection.sql`
      UPDATE billing_reconciliations SET pages = pages + 1, cursor = ${page.next},
        seen = seen + ${listed.size}, refused = refused + ${page.items.length - listed.size},
        missed = missed + cardinality(${missed}::text[]),
        different = different + cardinality(${different}::text[]),
        missed_ids = (missed_ids || ${missed}::text[])[1:${shownIds}],
        different_ids = (different_ids || ${different}::text[])[1:${shownIds}]
      WHERE id = ${run.id} AND pages = ${run.pages} AND status = 'running' RETURNING id`
    // Another worker has taken the run over; what it recorded counts.
    if (moved.length !== 1) throw new Error('another worker works on this run')
  })
}

/** The clock of the provider is the one that counts here: a range of its own times was asked for. */
function isOf({ from, to }: Run, { created }: BillingEvent): boolean {
  if (created === null) return true
  return created >= Math.floor(from.getTime() / 1_000) && created < Math.ceil(to.getTime() / 1_000)
}

/** @returns the ids that were not known */
async function recordMissing(connection: Queryable, listed: readonly Listed[]): Promise<string[]> {
  // In the order of ids, as every recorder, so that two cannot deadlock.
  const ordered = listed.toSorted((a, b) => (a.event.id < b.event.id ? -1 : 1))
  const events = ordered.map(({ event, item }): VerifiedEvent => {
    const { id: eventId, type, ignored } = event
    const job = ignored === null ? newEventJob(eventId, event) : null
    const body = Buffer.from(JSON.stringify(item))
    return { eventId, type, body, secretIndex: null, requestId: null, job, ignored }
  })
  const statement = recordStatement(events, Number.MAX_SAFE_INTEGER)
  const [row] = await connection.sql<{ inserted: string[] }>(statement)
  return row?.inserted ?? []
}

async function findMissing(connection: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await connection.sql<{ id: string }>`
      SELECT id FROM unnest(${[...ids]}::text[]) AS listed (id)
      WHERE NOT EXISTS (SELECT FROM processed_events p WHERE p.event_id = listed.id)`
  return rows.map(({ id }) => id)
}

/** The known events that say something else; what a provider adds to each delivery does not count. */
async function findDifferent(
  connection: Queryable,
  provider: BillingProvider,
  listed: ReadonlyMap<string, Listed>,
  missed: ReadonlySet<string>,
): Promise<string[]> {
  const known = [...listed.keys()].filter((id) => !missed.has(id))
  const rows = await connection.sql<{
    id: string
    body: Uint8Array
  }>`SELECT event_id AS id, body FROM received_events
      WHERE event_id = ANY (${known}) AND body IS NOT NULL`
  return rows
    .filter(({ id, body }) => {
      const received = provider.parse({ 'webhook-id': id }, body)
      return !isDeepStrictEqual(received, listed.get(id)?.event)
    })
    .map(({ id }) => id)
}

async function findRun(systemDb: Queryable, id: string): Promise<Run | null> {
  const [row] =
    await systemDb.sql<Run>`SELECT id, created_from AS "from", created_to AS "to", dry_run AS "dryRun", cursor, pages
      FROM billing_reconciliations WHERE id = ${id}::uuid AND status = 'running'`
  return row ?? null
}

async function end(
  systemDb: Queryable,
  { id }: Run,
  status: 'finished' | 'failed',
  error: string | null,
): Promise<void> {
  await systemDb.sql`
    UPDATE billing_reconciliations
    SET status = ${status}, error = ${error}, finished_at = clock_timestamp()
    WHERE id = ${id} AND status = 'running'`
}

/** Deletes runs that ended more than `days` ago, but never the one that the next run follows. */
export async function purgeReconciliations(systemDb: Queryable, days: number): Promise<void> {
  await systemDb.sql`
    DELETE FROM billing_reconciliations
    WHERE finished_at < now() - make_interval(days => ${days})
      AND NOT (scheduled AND status = 'finished' AND created_to = (
        SELECT max(created_to) FROM billing_reconciliations
        WHERE scheduled AND status = 'finished'))`
}

/** Sets the gauges of what was missing in the last day, and how old the last finished run is. */
export async function measureReconciliation(
  systemDb: Queryable,
  metrics: BillingMetrics,
): Promise<void> {
  const [row] = await systemDb.sql<{ missed: number; age: number | null }>`
      SELECT (SELECT coalesce(sum(missed), 0)::int FROM billing_reconciliations
              WHERE created_at > now() - interval '1 day' AND NOT dry_run) AS missed,
             (SELECT extract(epoch FROM now() - max(created_to))::float8
              FROM billing_reconciliations WHERE scheduled AND status = 'finished') AS age`
  metrics.missedEvents.set(row?.missed ?? 0)
  metrics.reconciledAge.set(Math.max(row?.age ?? 0, 0))
}

function toReconciliation({ from, to, createdAt, finishedAt, ...row }: Row): Reconciliation {
  return {
    ...row,
    from: from.toISOString(),
    to: to.toISOString(),
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
