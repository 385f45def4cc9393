import type pg from 'pg'
import { statementTimeoutsMs } from '../timeouts.ts'
import { withSettings } from './session-settings.ts'

/** Time limits of a connection in milliseconds. */
export type Limits = {
  /** How long a caller waits for a connection. */
  acquireMs: number
  statementMs: number
  /** For a server that has stopped answering, so its own limits do not apply. */
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
 * How long a request waits for a lock. Others hold one for some milliseconds; who holds it longer must
 * not make requests hold connections.
 */
export const requestLockMs = 300

/** For commands, and what a process looks up when it starts: a slow connection is no failure to them. */
export const unhurried = { acquireMs: 5_000 } satisfies Partial<Limits>

/**
 * How long a connection may take to open. Longer than until TCP sends a lost first packet again (1 s).
 */
export const openingMs = 2_000

/**
 * Options of every pool: nothing waits without a limit, so an exhausted or slow database is a 503
 * after a bounded time. Behind a pooler a connection cannot set limits of its own; there the limits of
 * the role apply (src/schema/roles.ts), and `serve` checks them at start. The other settings are those of
 * each transaction there (session-settings.ts).
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
    // The pool does not listen while it is checked out, and an unhandled error event ends the process.
    onConnect: (client) => void client.on('error', ignore),
    ...(!isPooled(connectionString) && {
      ...withSettings(connectionString),
      statement_timeout: limits.statementMs,
      lock_timeout: limits.lockMs,
      idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    }),
  } satisfies pg.PoolConfig
}

/**
 * Whether the URL leads to a pooler in transaction mode, such as PgBouncer: `pgbouncer=true`. Each
 * transaction may then be on another connection, so nothing that belongs to a session is used: no
 * startup parameters, no named statements.
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

/** Ignores errors of idle connections: the pool replaces them. */
export function survivesBrokenConnections<Pool extends pg.Pool>(pool: Pool): Pool {
  return pool.on('error', ignore)
}

function ignore(): void {}
