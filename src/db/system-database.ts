import type pg from 'pg'
import type { PoolWatch } from './metrics.ts'
import { isPooled, poolOptions, rethrowSilence, survivesBrokenConnections } from './pool-options.ts'
import { runTransaction } from './transaction.ts'
import { WatchedPool } from './watched-pool.ts'

type Statement = { name?: string; text: string; values?: unknown[] }

/** What a query of the identity plane and of the service tables runs on. */
export type Queryable = {
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>
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

/** @param size connections at most */
export function openIdentityPlane(url: string, size: number, watch?: PoolWatch): IdentityPlane {
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
