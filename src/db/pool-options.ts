import type pg from 'pg'
import { statementTimeoutsMs } from './timeouts.ts'

/** What a connection may wait for, in milliseconds. */
export type Limits = {
  acquireMs: number
  statementMs: number
  /** For a server that has stopped answering and so cannot keep its limits by itself. */
  silenceMs: number
  lockMs: number
  idleInTransactionMs: number
}

export const defaultLimits: Limits = {
  acquireMs: 800,
  statementMs: statementTimeoutsMs.connection,
  silenceMs: 6_000,
  lockMs: 2_000,
  idleInTransactionMs: 10_000,
}

/**
 * What every pool of the program has in common: nothing waits without a limit, so an exhausted or
 * slow database becomes a bounded 503 and never a hang. Behind a pooler a connection cannot name
 * limits of its own; there those of the role hold (src/schema/roles.ts), and the boot proof wants them.
 */
export function poolOptions(connectionString: string, max: number, changes: Partial<Limits> = {}) {
  const limits = { ...defaultLimits, ...changes }
  return {
    connectionString,
    max,
    pipeline: true,
    application_name: 'gatehouse',
    connectionTimeoutMillis: limits.acquireMs,
    query_timeout: limits.silenceMs,
    keepAlive: true,
    // While it is checked out nobody else listens, and an error unheard would end the process.
    onConnect: (client) => void client.on('error', ignore),
    ...(!isPooled(connectionString) && {
      statement_timeout: limits.statementMs,
      lock_timeout: limits.lockMs,
      idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    }),
  } satisfies pg.PoolConfig
}

/**
 * Whether a pooler in transaction mode, such as PgBouncer, stands between: the URL says so with
 * `pgbouncer=true`. Each transaction may then be on another connection, so nothing that belongs to
 * a session is used: no startup parameters, no named statements.
 */
export function isPooled(url: string): boolean {
  return URL.parse(url)?.searchParams.get('pgbouncer') === 'true'
}

/** The driver's error for a server that has stopped answering has no code; this gives it one. */
export function rethrowSilence(error: unknown): never {
  if (error instanceof Error && error.message === 'Query read timeout') {
    Object.assign(error, { code: 'ETIMEDOUT' })
  }
  throw error
}

/** An idle connection that breaks is replaced by its pool; the event itself says no more. */
export function survivesBrokenConnections<Pool extends pg.Pool>(pool: Pool): Pool {
  return pool.on('error', ignore)
}

function ignore(): void {}
