import { randomId, sha256 } from '#src/crypto/hash.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { type Repeated, repeat } from '#src/runtime/repeat.ts'
import { describeOffset, isWrong, measureClockOffset } from './clock-offset.ts'

/** The keys of one process, the first one first. No key or secret itself. */
export type ProcessKeys = {
  role: string
  /** Ids of ENCRYPTION_KEYS. */
  encryptionKeys: readonly string[]
  /** Fingerprints of SESSION_SECRETS; empty if the process signs no cookies. */
  sessionSecrets: readonly string[]
}

/** Keys that processes of the last 90 days had in this order. */
export type SeenKeys = ProcessKeys & {
  /** How many of them run now. */
  running: number
  /** When the newest of them started. */
  startedAt: Date
  lastSeenAt: Date
}

const seenMs = 10_000
/** A process that has not been seen for this time counts as killed. */
export const endedSeconds = 25
const keptDays = 90

/**
 * Eight hexadecimal digits that tell secrets apart. A cookie that a secret has signed reveals more.
 */
export function fingerprint(secret: string): string {
  return sha256(`gatehouse fingerprint ${secret}`).toString('hex').slice(0, 8)
}

/** What a process says of itself: its keys, its BASE_URL and its clock. */
export type ProcessFacts = ProcessKeys & { baseUrl: string; clock: Clock }

/**
 * Tells the others what this process says of itself, at once and then every few seconds, so that
 * `gatehouse keys status` can say how far a rotation is, and `doctor` what does not fit together.
 * @param report `onStart`: called once with the faults of all running processes, this one included
 */
export function startAnnouncing(
  db: Queryable,
  facts: ProcessFacts,
  { onStart, onError }: Report,
): Repeated {
  const id = randomId()
  let offsetMs: number | null = null
  const announcing = repeat(run, { everyMs: seenMs, atOnce: true, onError })
  return {
    async stop() {
      await announcing.stop()
      await end(db, id).catch(onError)
    },
  }

  async function run(): Promise<void> {
    const isFirst = offsetMs === null
    offsetMs = await announce(
      db,
      id,
      facts,
      offsetMs ?? (await measureClockOffset(db, facts.clock)),
    )
    if (isFirst) onStart(await findProcessFaults(db))
  }
}

type Report = {
  onStart(faults: readonly string[]): void
  onError(error: unknown): void
}

/**
 * @param offsetMs the offset of the clock, as it was measured last
 * @returns the offset as this statement measures it
 */
async function announce(
  db: Queryable,
  id: string,
  facts: ProcessFacts,
  offsetMs: number,
): Promise<number> {
  const { role, encryptionKeys, sessionSecrets, baseUrl, clock } = facts
  const statement = Prisma.sql`
    WITH forgotten AS (
      DELETE FROM running_processes WHERE seen_at < now() - make_interval(days => ${keptDays})
    )
    INSERT INTO running_processes
      (id, role, encryption_keys, session_secrets, base_url, clock_offset_ms)
    VALUES (${id}, ${role}, ${[...encryptionKeys]}, ${[...sessionSecrets]}, ${baseUrl}, ${offsetMs})
    ON CONFLICT (id) DO UPDATE SET seen_at = now(), clock_offset_ms = ${offsetMs}
    RETURNING clock_timestamp() AS now`
  return measureClockOffset(db, clock, statement)
}

async function end(db: Queryable, id: string): Promise<void> {
  await db.sql`UPDATE running_processes SET ended_at = now() WHERE id = ${id}`
}

/** The keys of the processes that run, and of those that have ended. */
export async function listSeenKeys(db: Queryable): Promise<SeenKeys[]> {
  return db.sql<SeenKeys>`
    SELECT role, encryption_keys AS "encryptionKeys", session_secrets AS "sessionSecrets",
      count(*) FILTER (
        WHERE ended_at IS NULL AND seen_at > now() - make_interval(secs => ${endedSeconds})
      )::int AS running,
      max(started_at) AS "startedAt", max(seen_at) AS "lastSeenAt"
    FROM running_processes GROUP BY 1, 2, 3 ORDER BY running DESC, "lastSeenAt" DESC`
}

/** A process that runs now. */
export type RunningProcess = {
  role: string
  baseUrl: string | null
  /** How far its clock is ahead of the database's. */
  clockOffsetMs: number | null
  /** RFC 3339 in UTC. */
  startedAt: string
}

/** The processes that run now, the oldest first. */
export async function listRunningProcesses(db: Queryable): Promise<RunningProcess[]> {
  const rows = await db.sql<Omit<RunningProcess, 'startedAt'> & { startedAt: Date }>`
    SELECT role, base_url AS "baseUrl", clock_offset_ms::float8 AS "clockOffsetMs",
      started_at AS "startedAt"
    FROM running_processes
    WHERE ended_at IS NULL AND seen_at > now() - make_interval(secs => ${endedSeconds})
    ORDER BY started_at, id`
  return rows.map((row) => ({ ...row, startedAt: row.startedAt.toISOString() }))
}

/** The settings whose first value is used for new data and whose every value can be read. */
const rotated = [
  {
    name: 'ENCRYPTION_KEYS',
    of: (keys: ProcessKeys) => keys.encryptionKeys,
    lacks: (key: string) => `the key ${key}, with which others encrypt`,
  },
  {
    name: 'SESSION_SECRETS',
    of: (keys: ProcessKeys) => keys.sessionSecrets,
    lacks: (secret: string) => `the secret with fingerprint ${secret}, with which others sign`,
  },
] as const

/**
 * What processes cannot read of each other: a rotation in the wrong order, or different settings.
 * One line for each key, with the remedy.
 */
export function findKeyFaults(seen: readonly SeenKeys[]): string[] {
  return rotated.flatMap(({ name, of, lacks }) => {
    const running = seen.filter((keys) => keys.running > 0 && of(keys).length > 0)
    const total = count(running)
    return [...new Set(running.flatMap((keys) => of(keys).slice(0, 1)))].flatMap((first) => {
      const lacking = count(running.filter((keys) => !of(keys).includes(first)))
      if (lacking === 0) return []
      return `${lacking} of ${total} running processes lack ${lacks(first)}: add it to their ${name}, after the first.`
    })
  })
}

/**
 * Everything that does not fit together among the processes that run on this database: keys, clocks,
 * and addresses, which tell that two installations share it. One line each, with the remedy.
 * @param own of a process that does not run yet
 */
export async function findProcessFaults(
  db: Queryable,
  own?: Pick<RunningProcess, 'baseUrl' | 'role'>,
): Promise<string[]> {
  const running = await listRunningProcesses(db)
  const named = own === undefined ? running : [...running, own]
  return [...findKeyFaults(await listSeenKeys(db)), ...urlFaults(named), ...clockFaults(running)]
}

function urlFaults(running: readonly Pick<RunningProcess, 'baseUrl'>[]): string[] {
  const counts = new Map<string, number>()
  for (const { baseUrl } of running) {
    if (baseUrl !== null) counts.set(baseUrl, (counts.get(baseUrl) ?? 0) + 1)
  }
  if (counts.size < 2) return []
  const list = [...counts].map(([url, processes]) => `${url} (${processes})`).join(', ')
  return [
    `Processes with different BASE_URLs run on this database: ${list}. If these are two installations, give each a database of its own: each would do the other's jobs. If they are one, set the same BASE_URL everywhere.`,
  ]
}

function clockFaults(running: readonly RunningProcess[]): string[] {
  return running.flatMap(({ role, clockOffsetMs }) =>
    clockOffsetMs !== null && isWrong(clockOffsetMs)
      ? [clockFault(`a process with ROLE=${role}`, clockOffsetMs)]
      : [],
  )
}

/** @param owner whose clock it is */
export function clockFault(owner: string, offsetMs: number): string {
  return `The clock of ${owner} is ${describeOffset(offsetMs)} the database's: sign-ins and webhook signatures are refused. Synchronise both machines with NTP.`
}

function count(seen: readonly SeenKeys[]): number {
  return seen.reduce((sum, { running }) => sum + running, 0)
}
