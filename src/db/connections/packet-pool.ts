import type pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { createGroupCommit } from './group-commit.ts'
import { RefusedStatement, type Statement, sendOnce as sendStatements } from './one-trip.ts'
import {
  isPooled,
  type Limits,
  poolOptions,
  rethrowSilence,
  survivesBrokenConnections,
} from './pool-options.ts'
import { beginRead } from './transaction.ts'
import { WatchedPool } from './watched-pool.ts'

type Row = Record<string, unknown>

/** Rows of each statement, in their order. */
export type PacketRows<Rows extends readonly object[]> = { [Index in keyof Rows]: Rows[Index][] }

export type PacketPool = {
  /**
   * Sends all statements in one packet and waits once. They run in one transaction, of a pool that reads
   * READ ONLY and on one snapshot, and nothing that they set for the transaction stays.
   * @param isShared of reads: the first statement always replaces the scope, so independent reads may
   * share the packet and its transaction
   * @throws what the first failing statement throws; then there are no rows at all
   */
  sendOnce<Rows extends readonly object[]>(
    statements: {
      readonly [Index in keyof Rows]: Statement
    },
    isShared?: boolean,
  ): Promise<PacketRows<Rows>>
  close(): Promise<void>
}

export type PacketPoolOptions = {
  access: 'read' | 'write'
  watch?: PoolWatch | undefined
  limits?: Partial<Limits>
  form?: ReadForm | undefined
}

/** How a database wants its reads, if not as they are. */
export type ReadForm = {
  /** Sends BEGIN and COMMIT with each read. */
  begins: boolean
  /** The statement to send instead. */
  adapt(statement: Statement): Statement
}

/** One read: its statements follow each other in a packet. */
type Read = readonly Statement[]

type Result = { rows: Row[][] } | { error: unknown }

/** Reads of one packet. The last read waits for all before it; so many take about a millisecond. */
const maxReads = 32
const readOnly =
  'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY'
const commit: Statement = { text: 'COMMIT' }

/**
 * Connections for transactions of one packet. Those of a pool that reads only read. Behind a pooler a
 * connection has no settings of its own, so there BEGIN and COMMIT are sent in the same packet.
 *
 * Under load a packet costs more than the statements in it: the program, the kernel and the server
 * handle each one separately. So reads that arrive in the same turn of the event loop, or while every
 * connection is in use, share one. A read that arrives alone does not wait for others.
 * @param size connections at most
 */
export function openPacketPool(
  url: string,
  size: number,
  { access, watch, limits, form }: PacketPoolOptions,
): PacketPool {
  const pooled = isPooled(url)
  const withBegin = new WeakSet<pg.ClientBase>()
  const begin: Statement = { text: access === 'read' ? beginRead : 'BEGIN' }
  const options = poolOptions(url, size, limits)
  const pool = survivesBrokenConnections(
    new WatchedPool(
      {
        ...options,
        // One packet at a time is on a connection, and the driver's pipeline takes no other queries.
        pipeline: false,
        onConnect: async (client) => {
          options.onConnect(client)
          if (pooled || form?.begins) withBegin.add(client)
          else if (access === 'read') await client.query(readOnly)
        },
      },
      watch,
    ),
  )
  const group = createGroupCommit<Read, Row[][]>({
    maxItems: maxReads,
    lanes: size,
    async commit(entries) {
      const results = await send(entries.map(({ item }) => item))
      for (const [index, entry] of entries.entries()) settle(results[index], entry)
    },
  })

  /** Never rejects. A refused read rolls back the others of its packet, which are sent again without it. */
  async function send(reads: readonly Read[]): Promise<Result[]> {
    if (reads.length === 0) return []
    try {
      return (await sendPacket(reads)).map((rows) => ({ rows }))
    } catch (error) {
      if (!(error instanceof RefusedStatement)) return reads.map(() => ({ error }))
      const refused = indexOfRead(reads, error.position)
      const results = await send(reads.toSpliced(refused, 1))
      return results.toSpliced(refused, 0, { error: error.cause })
    }
  }

  async function sendPacket(reads: readonly Read[]): Promise<Row[][][]> {
    const client = await pool.connect()
    const begins = withBegin.has(client)
    const statements = form === undefined ? reads.flat() : reads.flat().map(form.adapt)
    try {
      const rows = begins
        ? (await sendStatements(client, [begin, ...statements, commit])).slice(1, -1)
        : await sendStatements(client, statements)
      client.release()
      return divide(reads, rows)
    } catch (error) {
      await giveBack(client, error, begins)
      if (!(error instanceof RefusedStatement)) return rethrowSilence(error)
      throw begins ? new RefusedStatement(error.position - 1, error.cause) : error
    }
  }

  return {
    async sendOnce(statements, isShared = false) {
      if (isShared) return (await group.add(statements)) as never
      const [result] = await send([statements])
      return new Promise((resolve, reject) => settle(result, { resolve, reject }))
    },
    close: () => pool.end(),
  }
}

/** The rows of each read, from those of all statements. */
function divide(reads: readonly Read[], rows: readonly Row[][]): Row[][][] {
  const rest = rows.values()
  return reads.map((read) => [...rest.take(read.length)])
}

/** The read that the statement at this place in the packet belongs to. */
function indexOfRead(reads: readonly Read[], position: number): number {
  return reads.flatMap((read, index) => read.map(() => index))[position] ?? 0
}

function settle(
  result: Result | undefined,
  { resolve, reject }: { resolve(rows: never): void; reject(error: unknown): void },
): void {
  if (result !== undefined && 'rows' in result) resolve(result.rows as never)
  else reject(result?.error)
}

/** A connection that is ending or may be inside a transaction is not used again. */
async function giveBack(client: pg.PoolClient, error: unknown, begins: boolean): Promise<void> {
  if (!(error instanceof RefusedStatement)) return client.release(true)
  if (!begins) return client.release()
  await client.query('ROLLBACK').then(
    () => client.release(client.getTransactionStatus() !== 'I'),
    () => client.release(true),
  )
}
