import type { IdentityPlane } from '#src/db/system-database.ts'
import type { IdentityKey } from './sealed-tokens.ts'

// Metadata, then the token endpoint with two secrets, 5 s each: as long as a refresh may take.
const waitMs = 16_000
const idleMs = 20_000
const unavailableCodes = ['55P03', '57014', '53300']

/**
 * Runs `work` while nobody else in any process refreshes this grant. The lock belongs to a
 * transaction, so it goes with its process, its backend or its connection, and PgBouncer keeps it.
 * It is no lock on the row: that can be read, replaced and removed meanwhile, so a sign-in or a
 * sign-out never waits for a provider.
 * @returns `busy` when the lock could not be had in time; then `work` has not run
 */
export async function withGrantLock<T>(
  locks: IdentityPlane,
  { provider, subject }: IdentityKey,
  work: () => Promise<T>,
): Promise<T | 'busy'> {
  let done: { result: T } | null = null
  try {
    return await locks.transaction({ statementTimeoutMs: waitMs }, async (connection) => {
      await connection.query({
        text: `SET LOCAL lock_timeout = ${waitMs};
               SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
      })
      await connection.query({
        text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
        values: [JSON.stringify(['provider-grant', provider, subject])],
      })
      done = { result: await work() }
      return done.result
    })
  } catch (error) {
    return concluded<T>(done, error)
  }
}

/** A connection that broke after the work takes nothing of it away: nothing was written on it. */
function concluded<T>(done: { result: T } | null, error: unknown): T | 'busy' {
  if (done !== null) return done.result
  if (isBusy(error)) return 'busy'
  throw error
}

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error) return unavailableCodes.some((code) => code === error.code)
  return error.message === 'timeout exceeded when trying to connect'
}
