import type pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { createNotifier, type Notification } from './connections/notifier.ts'
import type { Statement } from './connections/one-trip.ts'
import {
  defaultLimits,
  isPooled,
  type Limits,
  poolOptions,
  rethrowSilence,
  survivesBrokenConnections,
} from './connections/pool-options.ts'
import { beginWrite, settingsOfTransaction } from './connections/session-settings.ts'
import { limiting, type TransactionLimits } from './connections/transaction.ts'
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
  transaction<T>(limits: TransactionLimits, work: (connection: Queryable) => Promise<T>): Promise<T>
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
  const statementTimeoutMs = limits?.statementMs ?? defaultLimits.statementMs
  const pooled = isPooled(url)
  async function sendAlone(statement: Statement): Promise<object[]> {
    const { rows } = await pool.query(bind(statement, nameOf)).catch(rethrowSilence)
    return rows
  }
  return {
    sql: sqlOver(
      // Behind a pooler the settings have to be those of a transaction: a second round trip.
      pooled
        ? (statement) =>
            runTransaction(pool, { nameOf, pooled, statementTimeoutMs }, (sql) => sql(statement))
        : sendAlone,
    ),
    notify: (channel, payload) => notify([{ channel, payload }]),
    async transaction(limits, work) {
      const notifications: Notification[] = []
      const result = await runTransaction(pool, { nameOf, pooled, ...limits }, (sql) =>
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

type TransactionOptions = TransactionLimits & {
  nameOf: (text: string) => string
  pooled: boolean
  answerMs?: number
}

/**
 * Runs `work` in one transaction on one connection; rolled back if it throws. BEGIN and the limit are
 * sent without waiting for the answer.
 * @param options `nameOf`: the name under which a connection keeps the plan of a text; `answerMs`: time limit of an
 *   answer, if it differs from that of the statement
 */
export async function runTransaction<T>(
  pool: pg.Pool,
  options: TransactionOptions,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const { nameOf, pooled, statementTimeoutMs, answerMs = statementTimeoutMs + graceMs } = options
  const client = await pool.connect()
  let isReadOnly = false
  const send = (query: { name?: string; text: string; values?: unknown[] }) => {
    const bounded = { ...query, query_timeout: answerMs }
    return client.query(bounded).catch(rethrowSilence)
  }
  try {
    const settings = pooled ? `${settingsOfTransaction};` : ''
    const opened = send({ text: `${beginWrite}; ${settings} ${limiting(options).text}` })
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
