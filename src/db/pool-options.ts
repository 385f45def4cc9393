import type pg from 'pg'

const acquireTimeoutMs = 800
const statementTimeoutMs = 5_000
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
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    keepAlive: true,
  }
}
