import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { eventsWithJob } from '#src/queue/job-table.ts'

/*
 * The ledger accounts for every event and delivery: each has the rows and the job that it needs, until it has
 * ended. Event and job are written in one commit, so recording an event or a delivery costs nothing for this;
 * a check searches for rows without their counterparts.
 */

/** Something that is not accounted for. Ids are null where they do not apply. */
export type Finding = {
  kind:
    | 'event-not-recorded'
    | 'event-not-known'
    | 'event-without-job'
    | 'delivery-without-job'
    | 'event-without-delivery'
  /** When the event was received or published, RFC 3339. */
  at: string
  tenantId: string | null
  eventId: string | null
  deliveryId: string | null
  endpointId: string | null
  /** Of the attempt that has no job. */
  series: number | null
  number: number | null
  /** The status of a received event, or the type of a published one. */
  detail: string | null
}

/** The outcome of a check. */
export type LedgerCheck = {
  findings: readonly Finding[]
  /** A kind has more findings than are listed. */
  partial: boolean
}

/** Events received or published at or after `from` and before `to`. */
type Range = { from: Date; to: Date }
type Row = Omit<Finding, 'at'> & { at: Date }

/** A two-phase commit of a cluster is over after less than this. */
const settleMs = 600_000
const hourMs = 3_600_000
const dayMs = 86_400_000
/** A whole check searches at least this many days one by one; events and deliveries are kept about as long. */
const wholeDays = 92
/** The ages at which events and their deliveries are looked at: new, when the retries have ended, and a day later. */
export const looksMs = [0, 2 * hourMs, dayMs] as const
const maxFindings = 1_000
const checksKeptDays = 31
/** Tenants that a check stores by name, those with most findings first, so that it stays small. */
const maxTenants = 1_000

const statementTimeoutMs = statementTimeoutsMs.ledger

/** Everything before this time can be checked, by the clock of the database. */
export async function findSettled(systemDb: Queryable): Promise<Date> {
  const [row] = await systemDb.sql<{ settled: Date }>`
    SELECT now() - make_interval(secs => ${settleMs / 1_000}::int) AS settled`
  return row?.settled ?? new Date(0)
}

/** Checks what was received or published in the ranges, and whether what was received before `before` has its job. */
export async function checkLedger(
  systemDb: Pick<SystemDatabase, 'transaction'>,
  ranges: readonly Range[],
  before: Date,
): Promise<LedgerCheck> {
  const searches = [
    (connection: Queryable) => findEventsWithoutJob(connection, before),
    ...ranges.flatMap((range) => [
      (connection: Queryable) => findUnpairedEvents(connection, range),
      (connection: Queryable) => findDeliveries(connection, range),
    ]),
  ]
  const found: Row[] = []
  let partial = false
  for (const search of searches) {
    const rows = await systemDb.transaction({ statementTimeoutMs }, search)
    const kinds = Object.values(Object.groupBy(rows, ({ kind }) => kind))
    if (kinds.some((some) => some.length >= maxFindings)) partial = true
    found.push(...rows)
  }
  const findings = found.map((row): Finding => ({ ...row, at: row.at.toISOString() }))
  // Ranges may overlap.
  return {
    findings: [...new Map(findings.map((one) => [JSON.stringify(one), one])).values()],
    partial,
  }
}

/** A known id gets 200 as a duplicate, so it must also be recorded, and the other way round. */
function findUnpairedEvents({ sql }: Queryable, { from, to }: Range): Promise<Row[]> {
  return sql<Row>`
    (SELECT 'event-not-recorded' AS kind, p.created_at AS at, NULL AS "tenantId", p.event_id AS "eventId",
       NULL AS "deliveryId", NULL AS "endpointId", NULL::int AS series, NULL::int AS number, NULL AS detail
     FROM processed_events p
     WHERE p.created_at >= ${from} AND p.created_at < ${to}
       AND NOT EXISTS (SELECT FROM received_events r WHERE r.event_id = p.event_id)
     LIMIT ${maxFindings})
    UNION ALL
    (SELECT 'event-not-known', r.received_at, NULL, r.event_id, NULL, NULL, NULL, NULL, r.status
     FROM received_events r
     WHERE r.received_at >= ${from} AND r.received_at < ${to}
       AND NOT EXISTS (SELECT FROM processed_events p WHERE p.event_id = r.event_id)
     LIMIT ${maxFindings})`
}

/**
 * A received event that waits has a job. No index has the event of a job, and a join without statistics would
 * compare every event with every job: EXCEPT reads both once.
 */
function findEventsWithoutJob({ sql }: Queryable, before: Date): Promise<Row[]> {
  return sql<Row>`
    WITH waiting AS MATERIALIZED (
      SELECT event_id FROM received_events
      WHERE status IN ('recorded', 'failed') AND received_at < ${before}
    ), lost AS (
      SELECT event_id FROM waiting
      EXCEPT
      SELECT * FROM (${eventsWithJob()}) AS job WHERE EXISTS (SELECT FROM waiting)
      LIMIT ${maxFindings}
    )
    SELECT 'event-without-job' AS kind, r.received_at AS at, NULL AS "tenantId", r.event_id AS "eventId",
      NULL AS "deliveryId", NULL AS "endpointId", NULL::int AS series, NULL::int AS number, r.status AS detail
    FROM lost JOIN received_events r ON r.event_id = lost.event_id`
}

function findDeliveries({ sql }: Queryable, { from, to }: Range): Promise<Row[]> {
  return sql<Row>`
    SELECT kind, at, tenant_id AS "tenantId", event_id AS "eventId", delivery_id AS "deliveryId",
      endpoint_id AS "endpointId", series, number, detail
    FROM check_deliveries(${from}, ${to}, ${maxFindings})`
}

/** Everything before a time, day by day from the oldest received event; what was published earlier comes at once. */
export async function wholeRanges({ sql }: Queryable, before: Date): Promise<Range[]> {
  const [row] = await sql<{ oldest: Date | null }>`
    SELECT min(received_at) AS oldest FROM received_events`
  const latest = before.getTime() - wholeDays * dayMs
  const first = Math.min(row?.oldest?.getTime() ?? latest, latest)
  return [{ from: new Date(0), to: new Date(first) }, ...byDay(first, before.getTime())]
}

/** A time as ranges within a day each (UTC), so that each search is short. */
function byDay(start: number, end: number): Range[] {
  const ranges: Range[] = []
  for (let from = start; from < end; ) {
    const to = Math.min((Math.floor(from / dayMs) + 1) * dayMs, end)
    ranges.push({ from: new Date(from), to: new Date(to) })
    from = to
  }
  return ranges
}

/**
 * One scheduled run: checks what is new since the last one, what has reached the age of another look, and the
 * hours with findings; and stores the outcome. The first run checks everything.
 */
export async function runLedger(systemDb: SystemDatabase): Promise<LedgerCheck> {
  return runLedgerBefore(systemDb, await findSettled(systemDb))
}

/** `runLedger` for everything before a time; tests call it without waiting until that has settled. */
export async function runLedgerBefore(
  systemDb: SystemDatabase,
  before: Date,
): Promise<LedgerCheck> {
  const [last] = await systemDb.sql<{ open: Date[]; checkedTo: Date }>`
    SELECT open_hours AS open, checked_to AS "checkedTo" FROM ledger_checks ORDER BY id DESC LIMIT 1`
  const check = await checkLedger(
    systemDb,
    last === undefined ? await wholeRanges(systemDb, before) : dueRanges(last, before),
    before,
  )
  await storeCheck(systemDb, check, before)
  return check
}

/**
 * What has reached the age of a look since the last check, also after hours without a worker, and the
 * hours in which that check found something.
 */
function dueRanges({ open, checkedTo }: { open: Date[]; checkedTo: Date }, before: Date): Range[] {
  const looks = looksMs.flatMap((age) => byDay(checkedTo.getTime() - age, before.getTime() - age))
  return [...looks, ...open.flatMap((hour) => byDay(hour.getTime(), hour.getTime() + hourMs))]
}

async function storeCheck(
  systemDb: Queryable,
  { findings, partial }: LedgerCheck,
  checkedTo: Date,
): Promise<void> {
  const kinds = countBy(findings, ({ kind }) => kind)
  const tenants = countBy(findings, ({ tenantId }) => tenantId)
  const hours = findings.map(({ at }) => Math.floor(Date.parse(at) / hourMs) * hourMs)
  await systemDb.sql`
    WITH old AS (
      DELETE FROM ledger_checks WHERE checked_at < now() - make_interval(days => ${checksKeptDays})
    ), former AS (
      UPDATE ledger_checks SET tenants = NULL
      WHERE tenants <> '{}' AND checked_at >= now() - make_interval(days => ${checksKeptDays})
    )
    INSERT INTO ledger_checks (unaccounted, partial, kinds, tenants, open_hours, checked_to)
    VALUES (${findings.length}, ${partial || tenants.length > maxTenants},
      ${JSON.stringify(Object.fromEntries(kinds))},
      ${JSON.stringify(Object.fromEntries(tenants.slice(0, maxTenants)))},
      ${[...new Set(hours)].map((hour) => new Date(hour))}, ${checkedTo})`
}

/** The number of findings by a key, those with most of them first. */
function countBy(
  findings: readonly Finding[],
  of: (finding: Finding) => string | null,
): [key: string, count: number][] {
  return [...Map.groupBy(findings, of)]
    .flatMap(([key, some]): [string, number][] => (key === null ? [] : [[key, some.length]]))
    .toSorted(([, one], [, other]) => other - one)
}
