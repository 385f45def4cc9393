import type pg from 'pg'
import { rethrowSilence } from './pool-options.ts'
import type { Queryable } from './system-database.ts'

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
