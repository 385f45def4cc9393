import type pg from 'pg'
import { statementTimeoutsMs } from './timeouts.ts'

/** Timeouts of a connection in milliseconds. */
export type Limits = {
  acquireMs: number
  statementMs: number
  /** For a server that no longer responds and so cannot enforce its own timeouts. */
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
 * The common options of every pool. Every wait has a timeout, so that an exhausted or slow database
 * causes a bounded 503 and never a hang. Connections through a pooler cannot set timeouts; there the
 * role's apply (src/schema/roles.ts), which the verification at start requires.
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
    // The pool does not listen while a client is checked out, and an unhandled error ends the process.
    onConnect: (client) => void client.on('error', ignore),
    ...(!isPooled(connectionString) && {
      statement_timeout: limits.statementMs,
      lock_timeout: limits.lockMs,
      idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    }),
  } satisfies pg.PoolConfig
}

/**
 * Whether the connection goes through a pooler in transaction mode such as PgBouncer, marked by
 * `pgbouncer=true` in the URL. Each transaction may then use another connection, so no session state
 * is used: no startup parameters, no named statements.
 */
export function isPooled(url: string): boolean {
  return URL.parse(url)?.searchParams.get('pgbouncer') === 'true'
}

/** Adds the missing error code to the driver's read timeout. */
export function rethrowSilence(error: unknown): never {
  if (error instanceof Error && error.message === 'Query read timeout') {
    Object.assign(error, { code: 'ETIMEDOUT' })
  }
  throw error
}

/** The pool replaces a broken idle connection; its error event needs no handling. */
export function survivesBrokenConnections<Pool extends pg.Pool>(pool: Pool): Pool {
  return pool.on('error', ignore)
}

function ignore(): void {}
