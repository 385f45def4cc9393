import type pg from 'pg'
import { isAfterFailure, isCancelled, isReadOnlyServer } from '../errors.ts'
import type { Statement } from './one-trip.ts'
import { rethrowSilence } from './pool-options.ts'
import { beginWrite, settingsOfTransaction } from './session-settings.ts'

export type Access = 'read' | 'write'

/** `lockTimeoutMs`: how long a statement waits for a lock; by default as long as the connection does. */
export type TransactionLimits = {
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs?: number
}

/** How much later than its own limit a server may answer before the connection is closed. */
const graceMs = 1_000

/** Reads of several statements see one state of the database. */
const beginRead = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** What begins a transaction. Behind a pooler it also sets what a connection of its own would have. */
export function beginning(access: Access, pooled: boolean): Statement[] {
  const begin = { text: access === 'read' ? beginRead : beginWrite }
  return pooled ? [begin, { text: settingsOfTransaction }] : [begin]
}

/** One transaction on one connection, from BEGIN to its end; then it refuses every statement. */
export type Transaction = {
  /** The rows of the statement that presented the credential. */
  readonly entered: Promise<object[]>
  readonly hasEnded: boolean
  /** Runs a statement; those that do not wait for each other leave in one packet. */
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>
  /**
   * In a transaction with limits: runs a statement that takes no longer than this. `lock_timeout` would not do: it limits
   * the wait for each holder of a row, and further ones may come.
   * @returns null if it was cancelled: it has changed nothing, and the transaction continues
   */
  attempt(statement: Statement, timeoutMs: number): Promise<pg.QueryResult | null>
  /**
   * Ends it. The COMMIT of a read changes nothing, so it is not waited for.
   * @param last sent in one packet with COMMIT: that is one round trip less, during which a write would
   *   hold its locks
   * @returns the rows of `last`
   * @throws the error of one of them, after which everything is rolled back
   */
  commit(last: readonly Statement[]): Promise<object[][]>
  /** Does nothing after `commit`. Never rejects. */
  rollback(): Promise<void>
}

/**
 * Begins a transaction on a connection of the pool: BEGIN and the statement that presents the credential
 * leave in one packet. Once it has ended, the connection goes back to the pool; if that is uncertain, or
 * the server became read-only, it is destroyed, because the next one may lead to the new primary.
 * @param limits of this transaction, if they are not those of the connection
 */
export async function beginTransaction(
  pool: pg.Pool,
  access: Access,
  entry: Statement,
  { pooled = false, limits }: { pooled?: boolean; limits?: TransactionLimits | undefined } = {},
): Promise<Transaction> {
  const client = await pool.connect()
  const { stream } = client.connection
  let ended: Promise<pg.QueryResult> | undefined
  let isReadOnly = false
  let failure: unknown

  const send = (statement: Statement): Promise<pg.QueryResult> => {
    // Prisma's adapter adds settings of the driver.
    const { text, values = [], ...settings } = statement
    const answer = limits && { query_timeout: limits.statementTimeoutMs + graceMs }
    return client.query({ ...settings, ...answer, text, values: [...values] }).catch((error) => {
      isReadOnly ||= isReadOnlyServer(error)
      failure ??= error
      // Statements are pipelined: a follow-up error may arrive first, so report the original one.
      return rethrowSilence(isAfterFailure(error) ? failure : error)
    })
  }

  /** What is sent from now on without waiting leaves in one packet. */
  function beginPacket(): void {
    stream.cork()
    process.nextTick(() => stream.uncork())
  }

  function end(text: 'COMMIT' | 'ROLLBACK'): Promise<pg.QueryResult> {
    ended = send({ text })
    ended.then(
      () => client.release(isReadOnly || client.getTransactionStatus() !== 'I'),
      () => client.release(true),
    )
    return ended
  }

  async function commitWith(last: readonly Statement[]): Promise<object[][]> {
    beginPacket()
    const sent = Promise.all(last.map(send))
    const [results, { command }] = await Promise.all([sent, end('COMMIT')])
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back.')
    return results.map(({ rows }) => rows)
  }

  beginPacket()
  const begun = [...beginning(access, pooled), ...(limits ? [limiting(limits)] : [])].map(send)
  const opened = Promise.all([send(entry), ...begun])
  opened.catch(ignore)

  return {
    entered: opened.then(([{ rows }]) => rows),
    get hasEnded() {
      return ended !== undefined
    },
    async query(statement) {
      if (ended !== undefined) throw new Error('The transaction has ended.')
      // If the entry failed, the rows of the statements behind it are not returned.
      const [, result] = await Promise.all([opened, send(statement)])
      return result
    },
    async attempt(statement, timeoutMs) {
      await opened
      beginPacket()
      const sent = [
        send({ text: `SAVEPOINT attempt; SET LOCAL statement_timeout = ${timeoutMs}` }),
        send(statement),
        ...(limits ? [send(limiting(limits))] : []),
      ]
      const [, result] = await Promise.allSettled(sent)
      if (result?.status === 'fulfilled') return result.value
      if (!isCancelled(result?.reason)) throw result?.reason
      failure = undefined
      await send({ text: 'ROLLBACK TO SAVEPOINT attempt' })
      return null
    },
    async commit(last) {
      await opened
      if (access === 'write') return commitWith(last)
      end('COMMIT').catch(ignore)
      return []
    },
    async rollback() {
      if (ended !== undefined) return
      const ending = end('ROLLBACK').catch(ignore)
      if (access === 'write') await ending
    },
  }
}

/** The statement that gives a transaction other limits than its connection has. */
export function limiting({ statementTimeoutMs, lockTimeoutMs }: TransactionLimits): Statement {
  const lock = lockTimeoutMs === undefined ? '' : `; SET LOCAL lock_timeout = ${lockTimeoutMs}`
  return { text: `SET LOCAL statement_timeout = ${statementTimeoutMs}${lock}` }
}

function ignore(): void {}
