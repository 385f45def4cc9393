import pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { type Statement, sendOnce } from './one-trip.ts'
import {
  isPooled,
  type Limits,
  poolOptions,
  rethrowSilence,
  survivesBrokenConnections,
} from './pool-options.ts'
import { beginRead, WatchedPool } from './scoped-pool.ts'

/** Rows of each statement, in their order. */
export type ReadRows<Rows extends readonly object[]> = { [Index in keyof Rows]: Rows[Index][] }

export type ReadPool = {
  /**
   * Sends all statements in one packet and waits once. They are one READ ONLY transaction: what the
   * first one sets for the transaction holds for the others, and nothing of it stays. They share one
   * snapshot.
   * @throws what the first failing statement throws; then there are no rows at all
   */
  readOnce<Rows extends readonly object[]>(
    statements: {
      readonly [Index in keyof Rows]: Statement
    },
  ): Promise<ReadRows<Rows>>
  close(): Promise<void>
}

const begin: Statement = { text: beginRead }
const readOnly =
  'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY'
const commit: Statement = { text: 'COMMIT' }

/**
 * Connections that only read. Behind a pooler a connection has no settings and keeps no names, so
 * there BEGIN and COMMIT ride in the same packet.
 * @param size connections at most
 */
export function openReadPool(
  url: string,
  size: number,
  watch?: PoolWatch,
  limits?: Partial<Limits>,
): ReadPool {
  const pooled = isPooled(url)
  const options = poolOptions(url, size, limits)
  const pool = survivesBrokenConnections(
    new WatchedPool(
      {
        ...options,
        // One packet at a time is on a connection, and the driver's pipeline takes no other queries.
        pipeline: false,
        onConnect: async (client) => {
          options.onConnect(client)
          if (!pooled) await client.query(readOnly)
        },
      },
      watch,
    ),
  )
  return {
    async readOnce(statements) {
      const client = await pool.connect()
      try {
        const rows = pooled
          ? (await sendOnce(client, [begin, ...statements.map(withoutName), commit])).slice(1, -1)
          : await sendOnce(client, statements)
        client.release()
        return rows as never
      } catch (error) {
        await giveBack(client, error, pooled)
        return rethrowSilence(error)
      }
    },
    close: () => pool.end(),
  }
}

/** A connection that is ending, waits for an answer or may be inside a transaction is not used again. */
async function giveBack(client: pg.PoolClient, error: unknown, pooled: boolean): Promise<void> {
  const isAnswered = error instanceof pg.DatabaseError && error.severity !== 'FATAL'
  if (!isAnswered) return client.release(true)
  if (!pooled) return client.release()
  await client.query('ROLLBACK').then(
    () => client.release(client.getTransactionStatus() !== 'I'),
    () => client.release(true),
  )
}

function withoutName({ text, values = [] }: Statement): Statement {
  return { text, values }
}
