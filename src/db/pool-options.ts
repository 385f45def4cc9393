import type pg from 'pg'

const acquireTimeoutMs = 800
const statementTimeoutMs = 5_000
// For a server that has stopped answering and so cannot keep the limit above by itself.
const silenceTimeoutMs = 6_000
const lockTimeoutMs = 2_000
const idleInTransactionTimeoutMs = 10_000

/**
 * What every pool of the program has in common: nothing waits without a limit, so an exhausted or
 * slow database becomes a bounded 503 and never a hang.
 */
export function poolOptions(connectionString: string, max: number): pg.PoolConfig {
  return {
    connectionString,
    max,
    pipeline: true,
    application_name: 'gatehouse',
    connectionTimeoutMillis: acquireTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: silenceTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    keepAlive: true,
  }
}

/** The driver's error for a server that has stopped answering has no code; this gives it one. */
export function rethrowSilence(error: unknown): never {
  if (error instanceof Error && error.message === 'Query read timeout') {
    Object.assign(error, { code: 'ETIMEDOUT' })
  }
  throw error
}

/**
 * A connection that breaks is replaced by its pool, and what was under way on it is rejected. The
 * event itself says no more, but unheard, at whatever moment, it would end the process.
 */
export function survivesBrokenConnections<Pool extends pg.Pool>(pool: Pool): Pool {
  pool.on('error', ignore)
  pool.on('connect', (client) => void client.on('error', ignore))
  return pool
}

function ignore(): void {}
