import { randomId, sha256 } from '#src/crypto/hash.ts'
import type { Queryable } from './system-database.ts'

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
  lastSeenAt: Date
}

const seenMs = 5_000
/** A process that was killed has not been seen for so long. */
const endedSeconds = 20
const keptDays = 90

/**
 * Eight hexadecimal digits that tell secrets apart. A cookie that a secret has signed reveals more.
 */
export function fingerprint(secret: string): string {
  return sha256(`gatehouse fingerprint ${secret}`).toString('hex').slice(0, 8)
}

/**
 * Tells the other processes which keys this one has, at once and then every few seconds, so that
 * `gatehouse keys status` can say how far a rotation is.
 * @param report `onStart`: called once with the keys of all processes, this one included
 */
export function startAnnouncing(
  db: Queryable,
  keys: ProcessKeys,
  { onStart, onError }: Report,
): Announcing {
  const id = randomId()
  let isFirst = true
  let latest = run()
  const timer = setInterval(() => {
    latest = latest.then(run)
  }, seenMs)
  timer.unref()

  return {
    async stop() {
      clearInterval(timer)
      await latest
      await end(db, id).catch(onError)
    },
  }

  async function run(): Promise<void> {
    try {
      await announce(db, id, keys)
      if (isFirst) onStart(await listSeenKeys(db))
      isFirst = false
    } catch (error) {
      onError(error)
    }
  }
}

type Report = {
  onStart(seen: readonly SeenKeys[]): void
  onError(error: unknown): void
}

export type Announcing = { stop(): Promise<void> }

async function announce(db: Queryable, id: string, keys: ProcessKeys): Promise<void> {
  await db.query({
    text: `
      WITH forgotten AS (
        DELETE FROM running_processes WHERE seen_at < now() - make_interval(days => $5)
      )
      INSERT INTO running_processes (id, role, encryption_keys, session_secrets)
      VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE SET seen_at = now()`,
    values: [id, keys.role, [...keys.encryptionKeys], [...keys.sessionSecrets], keptDays],
  })
}

async function end(db: Queryable, id: string): Promise<void> {
  await db.query({
    text: 'UPDATE running_processes SET ended_at = now() WHERE id = $1',
    values: [id],
  })
}

/** The keys of the processes that run, and of those that have ended. */
export async function listSeenKeys(db: Queryable): Promise<SeenKeys[]> {
  const { rows } = await db.query<SeenKeys>({
    text: `
      SELECT role, encryption_keys AS "encryptionKeys", session_secrets AS "sessionSecrets",
        count(*) FILTER (
          WHERE ended_at IS NULL AND seen_at > now() - make_interval(secs => $1))::int AS running,
        max(seen_at) AS "lastSeenAt"
      FROM running_processes GROUP BY 1, 2, 3 ORDER BY running DESC, "lastSeenAt" DESC`,
    values: [endedSeconds],
  })
  return rows
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

function count(seen: readonly SeenKeys[]): number {
  return seen.reduce((sum, { running }) => sum + running, 0)
}
