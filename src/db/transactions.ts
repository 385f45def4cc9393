import { resultWithin } from '#src/runtime/timeout.ts'
import type { openModels } from './connections/models.ts'
import type { Notification } from './connections/notifier.ts'
import type { Statement } from './connections/one-trip.ts'
import type { PacketPool } from './connections/packet-pool.ts'
import { defaultLimits, isPooled, type Limits } from './connections/pool-options.ts'
import { type Access, beginTransaction, type Transaction } from './connections/transaction.ts'
import type { WatchedPool } from './connections/watched-pool.ts'
import type { DeleteCredentials, Entry, Tx } from './entry.ts'
import { isLockTimeout } from './errors.ts'
import { Prisma } from './generated/client.ts'
import { sqlOver } from './sql.ts'
import { endingLimits } from './timeouts.ts'
import type { WholeWork } from './work.ts'

export type TransactionOptions = {
  url: string
  pool: WatchedPool
  models: ReturnType<typeof openModels>
  /** Sends what a deletion of credentials does outside of its transaction. */
  writes: PacketPool
  limits: Partial<Limits>
  /** How long the work of one may take. */
  transactionMs: number
  /** A statement as it is sent. */
  named(statement: Statement): Statement
  isCluster: boolean
  notify(notifications: readonly Notification[]): void
}

/** Enters, runs the work and commits. */
export async function runTransaction<Facts, T>(
  options: TransactionOptions,
  access: Access,
  entry: Entry<Facts>,
  work: WholeWork<Facts, T>,
): Promise<T> {
  const { pool, url, named, transactionMs, notify } = options
  const { once, lockFirst } = access === 'write' ? entry : {}
  const first = named(entry.statement(access === 'write' && lockFirst === undefined))
  const ending = access === 'write' && entry.endsRight ? endingLimits : undefined
  const transaction = await beginTransaction(pool, access, first, {
    pooled: isPooled(url),
    limits: ending,
  })
  const deleteCredentials = deletesOf(options, entry, transaction)
  const { tx, last, notifications } = openTx(options, transaction, access, deleteCredentials)
  try {
    let rows = await transaction.entered
    const limitMs = transactionMs + (ending?.lockTimeoutMs ?? 0)
    if (lockFirst !== undefined) {
      const entered = lockFirst(tx, rows).then(() => tx.sql<object>(entry.statement(true)))
      rows = await endWithin(limitMs, entered)
    }
    const facts = entry.admit(rows)
    const working = once === undefined ? work(tx, facts) : once(tx, () => work(tx, facts))
    const result = await endWithin(limitMs, working)
    const results = await transaction.commit(last.map(({ statement }) => statement))
    for (const [n, { committed }] of last.entries()) committed(results[n] ?? [])
    notify(notifications)
    return result
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}

/** The first try costs no round trip more than a DELETE. */
function deletesOf(
  { named, writes, limits, isCluster }: TransactionOptions,
  entry: Entry<unknown>,
  transaction: Transaction,
): DeleteCredentials {
  return async <Row extends object>(
    table: Prisma.Sql,
    where: Prisma.Sql,
    returning: Prisma.Sql,
  ) => {
    const rows = Prisma.sql`FROM ${table} WHERE ${where}`
    const remove = named(Prisma.sql`DELETE ${rows} RETURNING ${returning}`)
    const run = async (statement: Statement): Promise<object[]> =>
      (await transaction.query(statement)).rows
    // On a cluster the nodes do not get the short limit.
    if (!entry.endsRight || isCluster) return (await run(remove)) as Row[]
    const first = await transaction.attempt(remove, limits.lockMs ?? defaultLimits.lockMs)
    if (first !== null) return first.rows
    const ids = (await run(named(Prisma.sql`SELECT id ${rows}`))).map(
      (row) => 'id' in row && row.id,
    )
    const expire = named(Prisma.sql`SELECT expire_credentials(${ids}::uuid[])`)
    await writes.sendOnce([named(entry.statement(true)), expire]).catch((error) => {
      // Another transaction is ending them.
      if (!isLockTimeout(error)) throw error
    })
    return (await run(remove)) as Row[]
  }
}

function openTx(
  { models, named }: TransactionOptions,
  transaction: Transaction,
  access: Access,
  deleteCredentials: DeleteCredentials,
) {
  const last: LastStatement[] = []
  const notifications: Notification[] = []
  const tx: Tx = models.of(transaction.query, {
    sql: sqlOver(async (statement) => {
      const { rows } = await transaction.query(named(statement))
      return rows
    }),
    runWithCommit(statement: Statement, committed: LastStatement['committed']) {
      if (access === 'read') throw new Error('A read has nothing to commit.')
      if (transaction.hasEnded) throw new Error('The transaction has ended.')
      last.push({ statement: named(statement), committed })
    },
    notify(channel: string, payload: string) {
      notifications.push({ channel, payload })
    },
    deleteCredentials,
  })
  return { tx, last, notifications }
}

/** A statement that leaves with COMMIT, and what gets its rows once they are committed. */
type LastStatement = {
  readonly statement: Statement
  readonly committed: (rows: readonly object[]) => void
}

/** Gives up `work`: its transaction ends and refuses further statements. @throws code ETIMEDOUT */
async function endWithin<T>(ms: number, work: Promise<T>): Promise<T> {
  const ended = await resultWithin(
    ms,
    work.then((result) => ({ result })),
  )
  if (ended !== null) return ended.result
  throw Object.assign(new Error('the transaction took too long'), { code: 'ETIMEDOUT' })
}
