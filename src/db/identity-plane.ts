import pg from 'pg'
import { poolOptions, rethrowSilence, survivesBrokenConnections } from './pool-options.ts'

/** What a query of the identity plane and of the service tables runs on. */
export type Queryable = {
  query<Row extends pg.QueryResultRow>(statement: {
    name?: string
    text: string
    values?: unknown[]
  }): Promise<pg.QueryResult<Row>>
}

/**
 * The connection to tables that are read before any tenant is known (src/db/planes.ts): by key,
 * one row at a time, in hand-written statements. No context is set but by `setTenant`, so tables
 * under row-level security show no rows.
 */
export type IdentityPlane = Queryable & {
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

// A server that keeps its own limit answers within this; one that does not is given up.
const graceMs = 100

/** @param size connections at most */
export function openIdentityPlane(url: string, size: number): IdentityPlane {
  const pool = survivesBrokenConnections(new pg.Pool(poolOptions(url, size)))
  return {
    query: (statement) => pool.query(statement).catch(rethrowSilence),
    transaction: (limits, work) => runTransaction(pool, limits.statementTimeoutMs, work),
    close: () => pool.end(),
  }
}

async function runTransaction<T>(
  pool: pg.Pool,
  statementTimeoutMs: number,
  work: (connection: Queryable) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  // A connection that dies while checked out rejects the query under way; the event itself says no more.
  const onError = () => {}
  client.on('error', onError)
  const query: Queryable['query'] = (statement) => {
    const bounded = { ...statement, query_timeout: statementTimeoutMs + graceMs }
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
    client.off('error', onError)
  }
}
