import type pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { isPooled, poolOptions, rethrowSilence, survivesBrokenConnections } from './pool-options.ts'
import { WatchedPool } from './scoped-pool.ts'

type Statement = { name?: string; text: string; values?: unknown[] }

/** What a query of the identity plane and of the service tables runs on. */
export type Queryable = {
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>
}

/**
 * The connection to tables that are read before any tenant is known (src/schema/tables.ts): by key,
 * one row at a time, in hand-written statements. No context is set but by `setTenant`, so tables
 * under row-level security show no rows.
 */
export type SystemDatabase = Queryable & {
  /** Runs `work` in one transaction on one connection; rolled back when it throws. */
  transaction<T>(
    limits: { statementTimeoutMs: number },
    work: (connection: Queryable) => Promise<T>,
  ): Promise<T>
  close(): Promise<void>
}

/** Sets the tenant of the transaction: what row-level security and the tenant's views let through. */
export async function setTenant(connection: Queryable, tenantId: string): Promise<void> {
  await connection.query({
    text: `SELECT set_config('app.tenant_id', $1, true)`,
    values: [tenantId],
  })
}

/** @param size connections at most */
export function openSystemDatabase(url: string, size: number, watch?: PoolWatch): SystemDatabase {
  const pool = survivesBrokenConnections(new WatchedPool(poolOptions(url, size), watch))
  const adapt: (statement: Statement) => Statement = isPooled(url) ? withoutName : asItIs
  return {
    query: (statement) => pool.query(adapt(statement)).catch(rethrowSilence),
    transaction: (limits, work) =>
      runTransaction(pool, limits, ({ query }) =>
        work({ query: (statement) => query(adapt(statement)) }),
      ),
    close: () => pool.end(),
  }
}

/** A name is known to one session of the server, and behind a pooler the next one may be another. */
export function withoutName({ text, values = [] }: Statement): Statement {
  return { text, values }
}

function asItIs(statement: Statement): Statement {
  return statement
}

// A server that keeps its own limit answers within this; one that does not is given up.
const graceMs = 100

/**
 * Runs `work` in one transaction on one connection; rolled back when it throws. Nothing waits for
 * the answer to BEGIN, which carries the limit.
 * @param limits `answerMs`: how long an answer is waited for, where that is not the statement's own
 */
export async function runTransaction<T>(
  pool: pg.Pool,
  limits: { statementTimeoutMs: number; answerMs?: number },
  work: (connection: Queryable) => Promise<T>,
): Promise<T> {
  const { statementTimeoutMs, answerMs = statementTimeoutMs + graceMs } = limits
  const client = await pool.connect()
  const query: Queryable['query'] = (statement) => {
    const bounded = { ...statement, query_timeout: answerMs }
    return client.query(bounded).catch(rethrowSilence)
  }
  try {
    const opened = query({ text: `BEGIN; SET LOCAL statement_timeout = ${statementTimeoutMs}` })
    opened.catch(() => {})
    const result = await work({ query })
    const end = await query({ text: 'COMMIT' })
    if (end.command !== 'COMMIT') throw new Error('The transaction was rolled back.')
    return result
  } catch (error) {
    await query({ text: 'ROLLBACK' }).catch(() => {})
    throw error
  } finally {
    client.release(client.getTransactionStatus() !== 'I')
  }
}
