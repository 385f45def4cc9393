import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'

/*
 * The ledger says what was there: for every five minutes and kind of work a number and the XOR of the
 * ids, in a chain of hashes. It is computed from the rows once they have settled, so recording an event
 * or a delivery costs nothing. The checks compare the rows with it and with the queue.
 */

export const findingKinds = [
  'event-not-recorded',
  'event-not-known',
  'event-without-job',
  'delivery-without-job',
  'event-without-delivery',
  'window-changed',
  'row-changed',
] as const

/** Something that is not accounted for. Ids are null where they do not apply. */
export type Finding = {
  kind: (typeof findingKinds)[number]
  /** The five minutes it belongs to, RFC 3339. */
  window: string
  tenantId: string | null
  eventId: string | null
  deliveryId: string | null
  endpointId: string | null
  /** Of the attempt that has no job. */
  series: number | null
  number: number | null
  detail: string | null
}

/** The outcome of a check. */
export type LedgerCheck = {
  findings: Finding[]
  /** There is more of a kind than the findings. */
  partial: boolean
  /** The hash of the newest row of the ledger, in hex. */
  head: string
  rows: number
}

type Row = Omit<Finding, 'window'> & { window: Date }
/** How a range is checked: its rows are counted again, or its sums are taken as they were sealed. */
type Range = { from: Date; to: Date; recount: boolean }

const windowMs = 300_000
/** Transactions are shorter than this, so a window that has ended as long ago does not change. */
const settleMs = 600_000
const hourMs = 3_600_000
const dayMs = 86_400_000
/** How far back checks go; events and deliveries are kept about as long. */
const wholeDays = 92
/**
 * When a window is looked at, by its age since it was sealed. Where something waited then, it must still
 * have a job after two hours, when the schedule of a delivery has ended, and until that of a billing
 * event has. Its rows are counted again after a day and every 28 days.
 */
export const looks = [
  { ageMs: 0, recount: false },
  { ageMs: 2 * hourMs, recount: false },
  { ageMs: dayMs, recount: true },
  { ageMs: 2 * dayMs, recount: false },
  { ageMs: 3 * dayMs, recount: false },
  { ageMs: 28 * dayMs, recount: true },
  { ageMs: 56 * dayMs, recount: true },
  { ageMs: 84 * dayMs, recount: true },
] as const
const windowsPerCommit = 24
const maxFindings = 1_000
const checksKeptDays = 31
/** Of the tenants with findings, those with most of them are stored by name; so a check stays small. */
const maxTenants = 1_000

const statementTimeoutMs = statementTimeoutsMs.ledger

/** The first time that is not settled yet, by the clock of the database. */
export async function findSettled(systemDb: Queryable): Promise<Date> {
  const [row] = await systemDb.sql<{ now: Date }>`SELECT now() AS now`
  const now = row?.now.getTime() ?? 0
  return new Date(Math.floor((now - settleMs) / windowMs) * windowMs)
}

/** Seals the windows that have ended before `before`, unless another process is sealing. */
export async function sealLedger(
  systemDb: Pick<SystemDatabase, 'transaction'>,
  before: Date,
): Promise<void> {
  for (;;) {
    const sealed = await systemDb.transaction(
      { statementTimeoutMs },
      ({ sql }) => sql`SELECT FROM seal_ledger(${before}, ${windowsPerCommit})`,
    )
    if (sealed.length !== windowsPerCommit) return
  }
}

/** Checks the ranges, and the chain of the whole ledger. Each range is one look at the database. */
export async function checkLedger(
  systemDb: Pick<SystemDatabase, 'transaction'>,
  ranges: readonly Range[],
): Promise<LedgerCheck> {
  const findings: Finding[] = []
  let partial = false
  const chain = await systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const broken = await connection.sql<{ id: string; window: Date }>`
      SELECT id, window_start AS "window" FROM broken_ledger_rows(${maxFindings})`
    const [row] = await connection.sql<{ head: string | null; rows: number }>`
      SELECT count(*)::int AS rows,
        (SELECT encode(hash, 'hex') FROM ledger ORDER BY id DESC LIMIT 1) AS head
      FROM ledger`
    return { broken, head: row?.head ?? '', rows: row?.rows ?? 0 }
  })
  if (chain.broken.length >= maxFindings) partial = true
  for (const { id, window } of chain.broken) {
    const detail = `row ${id} is not as it was written, or the one before it is missing`
    findings.push({ ...nothing, kind: 'row-changed', window: window.toISOString(), detail })
  }
  for (const { from, to, recount } of ranges) {
    const rows = await systemDb.transaction(
      { statementTimeoutMs },
      ({ sql }) => sql<Row>`
        SELECT kind, window_start AS "window", tenant_id AS "tenantId", event_id AS "eventId",
          delivery_id AS "deliveryId", endpoint_id AS "endpointId", series, number, detail
        FROM check_windows(${from}, ${to}, ${maxFindings}, ${recount})`,
    )
    const kinds = Object.values(Object.groupBy(rows, ({ kind }) => kind))
    if (kinds.some((some) => some.length >= maxFindings)) partial = true
    for (const row of rows) findings.push({ ...row, window: row.window.toISOString() })
  }
  return { findings, partial, head: chain.head, rows: chain.rows }
}

const nothing = {
  tenantId: null,
  eventId: null,
  deliveryId: null,
  endpointId: null,
  series: null,
  number: null,
}

/** Everything before a time, day by day, from the oldest event. */
export async function wholeRanges(systemDb: Queryable, before: Date): Promise<Range[]> {
  const [row] = await systemDb.sql<{ oldest: Date | null }>`
    SELECT least((SELECT min(received_at) FROM received_events),
                 (SELECT min(window_start) FROM ledger)) AS oldest`
  const latest = before.getTime() - wholeDays * dayMs
  const first = Math.min(row?.oldest?.getTime() ?? latest, latest)
  return byDay(Math.floor(first / dayMs) * dayMs, before.getTime(), true)
}

/** A time as ranges within a day each (UTC), so that each look is short. */
function byDay(start: number, end: number, recount: boolean): Range[] {
  const ranges: Range[] = []
  for (let from = start; from < end; ) {
    const to = Math.min((Math.floor(from / dayMs) + 1) * dayMs, end)
    ranges.push({ from: new Date(from), to: new Date(to), recount })
    from = to
  }
  return ranges
}

/**
 * One scheduled run: seals what has settled; checks the new windows, those whose next look is due and
 * those with findings; and stores the outcome. The first run checks all of the last three months.
 */
export async function runLedger(systemDb: SystemDatabase): Promise<LedgerCheck> {
  return runLedgerBefore(systemDb, await findSettled(systemDb))
}

/** The same for everything before a time; tests call it without waiting until that has settled. */
export async function runLedgerBefore(
  systemDb: SystemDatabase,
  before: Date,
): Promise<LedgerCheck> {
  await sealLedger(systemDb, before)
  const { open, checkedTo, sealedTo } = await findProgress(systemDb, before)
  const ranges =
    checkedTo === null
      ? byDay(sealedTo.getTime() - wholeDays * dayMs, sealedTo.getTime(), true)
      : [...dueRanges(checkedTo, sealedTo), ...open.map(rangeOf)]
  const check = await checkLedger(systemDb, ranges)
  await storeCheck(systemDb, check, { whole: checkedTo === null, sealedTo })
  return check
}

/** What has reached the age of a look since `checkedTo`, also after hours without a worker. */
function dueRanges(checkedTo: Date, sealedTo: Date): Range[] {
  return looks.flatMap(({ ageMs, recount }) =>
    byDay(checkedTo.getTime() - ageMs, sealedTo.getTime() - ageMs, recount),
  )
}

function rangeOf(window: Date): Range {
  return { from: window, to: new Date(window.getTime() + windowMs), recount: true }
}

type Progress = {
  /** Where the findings of the last check were. */
  open: Date[]
  /** The first look at each window before this time is done; null if there was no check yet. */
  checkedTo: Date | null
  /** The end of the newest window of the ledger. */
  sealedTo: Date
}

async function findProgress(systemDb: Queryable, before: Date): Promise<Progress> {
  const [row] = await systemDb.sql<Progress>`
    SELECT
      coalesce((SELECT open_windows FROM ledger_checks ORDER BY id DESC LIMIT 1), '{}') AS open,
      (SELECT checked_to FROM ledger_checks WHERE checked_to IS NOT NULL
       ORDER BY id DESC LIMIT 1) AS "checkedTo",
      coalesce((SELECT max(window_start) + interval '5 minutes' FROM ledger
                WHERE kind = 'received'), ${before}) AS "sealedTo"`
  return row ?? { open: [], checkedTo: null, sealedTo: before }
}

/** Findings that two ranges have in common count once. */
async function storeCheck(
  systemDb: Queryable,
  { findings, partial, head }: LedgerCheck,
  { whole, sealedTo }: { whole: boolean; sealedTo: Date },
): Promise<void> {
  const distinct = [...new Map(findings.map((one) => [JSON.stringify(one), one])).values()]
  // The chain is checked as a whole each time.
  const open = distinct.filter(({ kind }) => kind !== 'row-changed').map(({ window }) => window)
  const tenants = byTenant(distinct)
  await systemDb.sql`
    WITH old AS (
      DELETE FROM ledger_checks WHERE checked_at < now() - make_interval(days => ${checksKeptDays})
    ), former AS (
      UPDATE ledger_checks SET tenants = NULL
      WHERE tenants <> '{}' AND checked_at >= now() - make_interval(days => ${checksKeptDays})
    )
    INSERT INTO ledger_checks
      (whole, unaccounted, partial, kinds, days, tenants, open_windows, head, checked_to)
    VALUES (${whole}, ${distinct.length}, ${partial || tenants.length > maxTenants},
      ${JSON.stringify(countBy(distinct, ({ kind }) => kind))},
      ${JSON.stringify(countBy(distinct, dayOf))},
      ${JSON.stringify(Object.fromEntries(tenants.slice(0, maxTenants)))}, ${[...new Set(open)]},
      ${head}, ${sealedTo})`
}

/** The tenants with findings and their number by day, those with most of them first. */
function byTenant(findings: readonly Finding[]): [tenantId: string, days: object][] {
  const tenants = Map.groupBy(findings, ({ tenantId }) => tenantId)
  return [...tenants]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .flatMap(([id, some]) => (id === null ? [] : [[id, countBy(some, dayOf)]]))
}

function dayOf({ window }: Finding): string {
  return window.slice(0, 10)
}

function countBy(
  findings: readonly Finding[],
  of: (finding: Finding) => string,
): Record<string, number> {
  const groups = Map.groupBy(findings, of)
  return Object.fromEntries([...groups].map(([key, some]) => [key, some.length]))
}
