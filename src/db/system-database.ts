import type pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { isPooled, poolOptions, rethrowSilence, survivesBrokenConnections } from './pool-options.ts'
import { WatchedPool } from './scoped-pool.ts'

type Statement = { name?: string; text: string; values?: unknown[] }

/** Runs a hand-written statement: a connection or a pool. */
export type Queryable = {
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>
}

/**
 * Access to the tables without row-level security (unscopedTables and serviceTables in
 * src/schema/tables.ts), in hand-written statements. Other tables show no rows unless `setTenant`
 * has set a tenant.
 */
export type SystemDatabase = Queryable & {
  /** Runs `work` in a transaction, which is rolled back if it throws. */
  transaction<T>(
    limits: { statementTimeoutMs: number },
    work: (connection: Queryable) => Promise<T>,
  ): Promise<T>
  close(): Promise<void>
}

/** Sets the tenant of the transaction for row-level security and the tenant views. */
export async function setTenant(connection: Queryable, tenantId: string): Promise<void> {
  await connection.query({
    text: `SELECT set_config('app.tenant_id', $1, true)`,
    values: [tenantId],
  })
}

/** @param size maximum number of connections */
export function openSystemDatabase(url: string, size: number, watch?: PoolWatch): SystemDatabase {
  const pool = survivesBrokenConnections(new WatchedPool(poolOptions(url, size), watch))
  const adapt: (statement: Statement) => Statement = isPooled(url) ? withoutName : unchanged
  return {
    query: (statement) => pool.query(adapt(statement)).catch(rethrowSilence),
    transaction: (limits, work) =>
      runTransaction(pool, limits, ({ query }) =>
        work({ query: (statement) => query(adapt(statement)) }),
      ),
    close: () => pool.end(),
  }
}

/** Named statements belong to a session, which changes behind a pooler. */
export function withoutName({ text, values = [] }: Statement): Statement {
  return { text, values }
}

function unchanged(statement: Statement): Statement {
  return statement
}

// Time for the server to report its own timeout before the client gives up.
const graceMs = 100

/**
 * Runs `work` in a transaction, which is rolled back if it throws. The first statement is sent
 * without waiting for the response to BEGIN.
 * @param limits `answerMs`: the client's timeout, by default slightly above the server's
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
