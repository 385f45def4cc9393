import type pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import type { Statement } from './connections/one-trip.ts'
import {
  isPooled,
  poolOptions,
  rethrowSilence,
  survivesBrokenConnections,
} from './connections/pool-options.ts'
import { WatchedPool } from './connections/watched-pool.ts'
import { isReadOnlyServer } from './errors.ts'
import { type Sql, sqlOver } from './sql.ts'

/** Runs hand-written statements: the transaction of an entry, or the system database. */
export type Queryable = {
  readonly sql: Sql
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>
}

/**
 * Connections without a scope, for the functions of signing in, service tables and the queue: what
 * happens before a caller is known. Tables under row-level security show no rows.
 */
export type SystemDatabase = Queryable & {
  /** Runs `work` in one transaction on one connection; rolled back if it throws. */
  transaction<T>(
    limits: { statementTimeoutMs: number },
    work: (connection: Queryable) => Promise<T>,
  ): Promise<T>
  close(): Promise<void>
}

/** @param size maximum number of connections */
export function openSystemDatabase(url: string, size: number, watch?: PoolWatch): SystemDatabase {
  const pool = survivesBrokenConnections(new WatchedPool(poolOptions(url, size), watch))
  const isNamed = !isPooled(url)
  return {
    ...queryable((statement) => pool.query(bind(statement, isNamed)).catch(rethrowSilence)),
    transaction: (limits, work) =>
      runTransaction(pool, limits, ({ query }) =>
        work(queryable((statement) => query(bind(statement, isNamed)))),
      ),
    close: () => pool.end(),
  }
}

/** @param query sends one statement */
export function queryable(query: Queryable['query']): Queryable {
  return { query, sql: sqlOver(query) }
}

/**
 * For the driver. Behind a pooler the next statement may run on another connection, which has no prepared
 * statements.
 */
function bind({ name, text, values = [] }: Statement, isNamed: boolean) {
  return { text, values: [...values], ...(isNamed && name !== undefined && { name }) }
}

/** Without its name. */
export function withoutName({ text, values = [] }: Statement): Statement {
  return { text, values }
}

// How much later than its own limit a server may answer before the connection is closed.
const graceMs = 100

/**
 * Runs `work` in one transaction on one connection; rolled back if it throws. BEGIN and the limit are
 * sent without waiting for the answer.
 * @param limits `answerMs`: time limit of an answer, if it differs from that of the statement
 */
export async function runTransaction<T>(
  pool: pg.Pool,
  limits: { statementTimeoutMs: number; answerMs?: number },
  work: (connection: Queryable) => Promise<T>,
): Promise<T> {
  const { statementTimeoutMs, answerMs = statementTimeoutMs + graceMs } = limits
  const client = await pool.connect()
  let isReadOnly = false
  const query: Queryable['query'] = (statement) => {
    const bounded = { ...bind(statement, true), query_timeout: answerMs }
    return client.query(bounded).catch(rethrowSilence)
  }
  try {
    const opened = query({ text: `BEGIN; SET LOCAL statement_timeout = ${statementTimeoutMs}` })
    opened.catch(() => {})
    const result = await work(queryable(query))
    const end = await query({ text: 'COMMIT' })
    if (end.command !== 'COMMIT') throw new Error('The transaction was rolled back.')
    return result
  } catch (error) {
    isReadOnly = isReadOnlyServer(error)
    await query({ text: 'ROLLBACK' }).catch(() => {})
    throw error
  } finally {
    client.release(isReadOnly || client.getTransactionStatus() !== 'I')
  }
}
