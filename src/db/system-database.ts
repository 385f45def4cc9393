import type pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { createNotifier, type Notification } from './connections/notifier.ts'
import type { Statement } from './connections/one-trip.ts'
import {
  type Limits,
  poolOptions,
  rethrowSilence,
  survivesBrokenConnections,
} from './connections/pool-options.ts'
import { WatchedPool } from './connections/watched-pool.ts'
import { isReadOnlyServer } from './errors.ts'
import { nameStatements, type Sql, sqlOver } from './sql.ts'

/** Runs hand-written statements: the transaction of an entry, or the system database. */
export type Queryable = {
  readonly sql: Sql
  /**
   * Notifies once the transaction is committed; at once outside of one. NOTIFY inside of it would take a
   * lock that all commits with notifications in all databases of the server wait for.
   */
  notify(channel: string, payload: string): void
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
export function openSystemDatabase(
  url: string,
  size: number,
  { watch, limits }: { watch?: PoolWatch; limits?: Partial<Limits> } = {},
): SystemDatabase {
  const options = poolOptions(url, size, limits)
  const pool = survivesBrokenConnections(new WatchedPool(options, watch))
  const nameOf = nameStatements(url)
  const { notify, settled } = createNotifier(
    (statement) => pool.query(bind(statement, nameOf)),
    notifyGapMs,
  )
  return {
    sql: sqlOver(async (statement) => {
      const { rows } = await pool.query(bind(statement, nameOf)).catch(rethrowSilence)
      return rows
    }),
    notify: (channel, payload) => notify([{ channel, payload }]),
    async transaction(limits, work) {
      const notifications: Notification[] = []
      const result = await runTransaction(pool, nameOf, limits, (sql) =>
        work({ sql, notify: (channel, payload) => void notifications.push({ channel, payload }) }),
      )
      notify(notifications)
      return result
    },
    async close() {
      await settled()
      await pool.end()
    },
  }
}

const notifyGapMs = 100 // of jobs that nobody waits for

/** As the driver takes it. */
export function bind({ text, values = [] }: Statement, nameOf: (text: string) => string) {
  return { name: nameOf(text), text, values: [...values] }
}

// How much later than its own limit a server may answer before the connection is closed.
const graceMs = 100

/**
 * Runs `work` in one transaction on one connection; rolled back if it throws. BEGIN and the limit are
 * sent without waiting for the answer.
 * @param nameOf the name under which a connection keeps the plan of a text
 * @param limits `answerMs`: time limit of an answer, if it differs from that of the statement
 */
export async function runTransaction<T>(
  pool: pg.Pool,
  nameOf: (text: string) => string,
  limits: { statementTimeoutMs: number; answerMs?: number },
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const { statementTimeoutMs, answerMs = statementTimeoutMs + graceMs } = limits
  const client = await pool.connect()
  let isReadOnly = false
  const send = (query: { name?: string; text: string; values?: unknown[] }) => {
    const bounded = { ...query, query_timeout: answerMs }
    return client.query(bounded).catch(rethrowSilence)
  }
  try {
    const opened = send({ text: `BEGIN; SET LOCAL statement_timeout = ${statementTimeoutMs}` })
    opened.catch(() => {})
    const sql = sqlOver(async (statement) => (await send(bind(statement, nameOf))).rows)
    const result = await work(sql)
    const end = await send({ text: 'COMMIT' })
    if (end.command !== 'COMMIT') throw new Error('The transaction was rolled back.')
    return result
  } catch (error) {
    isReadOnly = isReadOnlyServer(error)
    await send({ text: 'ROLLBACK' }).catch(() => {})
    throw error
  } finally {
    client.release(isReadOnly || client.getTransactionStatus() !== 'I')
  }
}
