import { PrismaPg } from '@prisma/adapter-pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { resultWithin } from '#src/runtime/timeout.ts'
import { createNotifier, type Notification, notificationsOf } from './after-commit.ts'
import type { Statement } from './connections/one-trip.ts'
import { openPacketPool, type ReadForm } from './connections/packet-pool.ts'
import { isPooled, poolOptions, survivesBrokenConnections } from './connections/pool-options.ts'
import { opening, ScopedPool } from './connections/scoped-pool.ts'
import type { Entry } from './entry.ts'
import { isRolledBackForAnother, tryTwice } from './errors.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import type { Queryable } from './system-database.ts'
import type { Tx } from './tx.ts'

export type { Tx } from './tx.ts'

export type Database = {
  /** Enters and decides, reads nothing else. One round trip. */
  enter<Facts>(entry: Entry<Facts>): Promise<Facts>
  /**
   * Enters, decides, and runs one hand-written statement in the same READ ONLY transaction; entry
   * and statement are one packet, so this is for what is read most: one row by its id. The
   * statement takes owner and tenant from the scope (src/access/scope.ts), since it leaves before
   * they are known here. When the decision is no, its rows are dropped.
   */
  readRows<Facts, Row extends object>(
    entry: Entry<Facts>,
    statement: Prisma.Sql,
  ): Promise<{ facts: Facts; rows: Row[] }>
  /**
   * The same as `readRows` for a statement that writes; it is committed when this resolves. The entry
   * must be one whose decision is that of the database, because its own would come after the commit.
   */
  writeRows<Facts, Row extends object>(
    entry: Entry<Facts> & { readonly decidesInDatabase: true },
    statement: Prisma.Sql,
  ): Promise<{ facts: Facts; rows: Row[] }>
  /**
   * Enters and decides, then runs `work` in the same READ ONLY transaction, on one snapshot.
   * Statements that do not wait for each other (`Promise.all`) leave in one packet.
   */
  read<Facts, T>(entry: Entry<Facts>, work: (tx: Tx, facts: Facts) => Promise<T>): Promise<T>
  /**
   * Enters with the rows that give the right locked and decides, then runs `work` in the same
   * transaction, which is committed when `work` resolves. A right that is revoked meanwhile is
   * revoked after this write. When PostgreSQL ends a deadlock by rolling this transaction back, it
   * begins once more, so `work` changes nothing but rows.
   */
  write<Facts, T>(entry: Entry<Facts>, work: (tx: Tx, facts: Facts) => Promise<T>): Promise<T>
  /** The same as `write` for hand-written statements. */
  transaction<Facts, T>(
    entry: Entry<Facts>,
    work: (connection: Queryable, facts: Facts) => Promise<T>,
  ): Promise<T>
  close(): Promise<void>
}

const maxWaitMs = 2_000
const maxTransactionMs = 10_000
const namedStatements = 200 // the code has fewer; a list of values makes one for each length

/**
 * The only way to owned and tenant rows: transactions that begin with an entry.
 * @param url connection of the application or worker role
 * @param size connections at most, for single reads and for longer transactions each
 * @param transactionMs how long `work` may take
 * @param form of the reads, if the database needs another one
 */
export function openDatabase(
  url: string,
  size: number,
  watch: { reads?: PoolWatch; writes?: PoolWatch; transactions?: PoolWatch } = {},
  transactionMs = maxTransactionMs,
  form?: ReadForm,
): Database {
  const pool = survivesBrokenConnections(new ScopedPool(poolOptions(url, size), watch.transactions))
  const reads = openPacketPool(url, size, { access: 'read', watch: watch.reads, form })
  const writes = openPacketPool(url, size, { access: 'write', watch: watch.writes })
  const notify = createNotifier((notifications) => reads.sendOnce([notification(notifications)]))
  // Behind a pooler the next transaction may run on another connection, which has no prepared statements.
  const nameOf = isPooled(url) ? () => '' : nameStatements()
  const adapter = new PrismaPg(pool, { statementNameGenerator: nameOf })
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' })
  const limits = { maxWait: maxWaitMs, timeout: transactionMs }

  async function runPrisma<Facts, T>(
    entry: Entry<Facts>,
    work: (tx: Tx, facts: Facts) => Promise<T>,
  ): Promise<T> {
    const { result, tx } = await opening('write', entry.statement(true), (entered) =>
      prisma.$transaction(async (tx) => {
        const facts = entry.admit(await entered())
        return { result: await atMostOnce(entry, tx, () => work(tx, facts)), tx }
      }, limits),
    )
    notify(notificationsOf(tx))
    return result
  }

  async function runStatements<Facts, T>(
    access: 'read' | 'write',
    entry: Entry<Facts>,
    work: (connection: Queryable, facts: Facts) => Promise<T>,
  ): Promise<T> {
    return opening(access, entry.statement(access === 'write'), async (entered) => {
      const client = await pool.connect()
      try {
        await client.query({ text: 'BEGIN' })
        const facts = entry.admit(await entered())
        const connection: Queryable = { query: (statement) => client.query(statement) }
        const run = () => work(connection, facts)
        const working = access === 'write' ? atMostOnce(entry, connection, run) : run()
        const result = await endWithin(transactionMs, working)
        await client.query({ text: 'COMMIT' })
        return result
      } catch (error) {
        await client.query({ text: 'ROLLBACK' }).catch(() => {})
        throw error
      } finally {
        client.release()
      }
    })
  }

  return {
    async enter(entry) {
      const [rows] = await reads.sendOnce<[object]>([entry.statement(false)], entry.replacesScope)
      return entry.admit(rows)
    },
    async readRows<Facts, Row extends object>(entry: Entry<Facts>, { text, values }: Prisma.Sql) {
      const statement = { name: nameOf({ sql: text }), text, values }
      const statements = [entry.statement(false), statement] as const
      const [entered, rows] = await reads.sendOnce<[object, Row]>(statements, entry.replacesScope)
      return { facts: entry.admit(entered), rows }
    },
    async writeRows<Facts, Row extends object>(entry: Entry<Facts>, { text, values }: Prisma.Sql) {
      const statement = { name: nameOf({ sql: text }), text, values }
      const [entered, rows] = await writes.sendOnce<[object, Row]>([
        entry.statement(true),
        statement,
      ])
      return { facts: entry.admit(entered), rows }
    },
    // Prisma's own transactions run their statements one after another, so it gets none here: its
    // queries reach the transaction through the pool.
    read: (entry, work) => runStatements('read', entry, (_, facts) => work(prisma, facts)),
    write: (entry, work) => tryTwice(() => runPrisma(entry, work), isRolledBackForAnother),
    transaction: (entry, work) =>
      tryTwice(() => runStatements('write', entry, work), isRolledBackForAnother),
    async close() {
      await prisma.$disconnect()
      await Promise.all([pool.end(), reads.close(), writes.close()])
    },
  }
}

/** Asynchronous, because a lost notification is made up for by polling. */
function notification(notifications: readonly Notification[]): Statement {
  return {
    name: 'notify',
    text: `SELECT set_config('synchronous_commit', 'off', true), (
             SELECT count(pg_notify(channel, payload))
             FROM json_to_recordset($1::text::json) AS one (channel text, payload text))`,
    values: [JSON.stringify(notifications)],
  }
}

/** Runs `work`, or returns the result of the same request when it was sent before. */
function atMostOnce<T>(
  { once }: Entry<unknown>,
  connection: Tx | Queryable,
  work: () => Promise<T>,
): Promise<T> {
  return once === undefined ? work() : once(connection, work)
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

/**
 * A name for each text, so that a connection plans it once: under row-level security planning costs
 * more than running it. Texts past the limit have the empty name, which keeps no plan.
 */
function nameStatements(): (statement: { sql: string }) => string {
  const names = new Map<string, string>()
  return ({ sql }) => {
    if (!names.has(sql) && names.size < namedStatements) names.set(sql, `prisma-${names.size}`)
    return names.get(sql) ?? ''
  }
}
