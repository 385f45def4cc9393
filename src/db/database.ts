import type { PoolWatch } from '#src/observability/metrics.ts'
import { resultWithin } from '#src/runtime/timeout.ts'
import { openModels } from './connections/models.ts'
import { createNotifier, type Notification } from './connections/notifier.ts'
import type { Statement } from './connections/one-trip.ts'
import { openPacketPool, type PacketPool, type Place } from './connections/packet-pool.ts'
import {
  defaultLimits,
  isPooled,
  type Limits,
  poolOptions,
  survivesBrokenConnections,
} from './connections/pool-options.ts'
import { createTenantShares, endingSharesOf, shareOf } from './connections/tenant-share.ts'
import { type Access, beginTransaction, type Transaction } from './connections/transaction.ts'
import { WatchedPool } from './connections/watched-pool.ts'
import type { DeleteCredentials, Entry, Tx } from './entry.ts'
import {
  exceededQuota,
  haveFactsChanged,
  isLockTimeout,
  isRolledBackForAnother,
  isUniqueViolation,
  tryAgain,
} from './errors.ts'
import { Prisma } from './generated/client.ts'
import { nameStatements, type OneStatement, sqlOver } from './sql.ts'
import { endingLimits, transactionMs as maxTransactionMs } from './timeouts.ts'

export type { Tx } from './entry.ts'

/** What a transaction does after its entry: a function of it, or one statement. */
export type Work<Facts, T> = WholeWork<Facts, T> | OneStatement<Facts, T>
type WholeWork<Facts, T> = (tx: Tx, facts: Facts) => Promise<T>

/** A write that is one statement once it is known who asks. */
export type ShortWork<Facts, T> = {
  /** The statement for these facts; null if this write needs several. */
  short(facts: Facts): Promise<ShortStatement<T> | null>
  /** The same in a transaction, on facts that it returns. */
  whole: WholeWork<Facts, T>
}

export type ShortStatement<T> = {
  readonly statement: Prisma.Sql
  /**
   * If given, it may share packet and commit with statements of other requests. It inserts, or changes the
   * row that this names: two packets lock the rows of a tenant in the order of these names.
   */
  readonly sharedAs?: string
  /**
   * Makes the result from the rows, once they are committed.
   * @returns null if the statement has changed nothing: the whole work follows
   */
  read(rows: object[], tx: Pick<Tx, 'notify'>): T | null
}

export type Database = {
  /**
   * Enters and decides, then runs `work` in the same READ ONLY transaction, on one snapshot.
   * Statements that do not wait for each other (`Promise.all`) leave in one packet. If `work` is one
   * statement, it leaves in the packet of the entry: a read by id is one round trip. If the decision
   * is no, its rows are dropped. Without work the result is the facts.
   */
  read<Facts, T = Facts>(entry: Entry<Facts>, work?: Work<Facts, T>): Promise<T>
  /**
   * Enters with the rows that give the right locked and decides, then runs `work` in the same
   * transaction, which is committed when this resolves. A right that is revoked meanwhile is
   * revoked after this write. If `work` is one statement, it leaves in the packet of COMMIT, and if
   * the database alone decides, entry, statement and COMMIT are one packet.
   *
   * When PostgreSQL ends a deadlock by rolling this transaction back, it begins again, so `work`
   * changes nothing but rows. That happens in workers and to requests that end a right: any other request
   * stops waiting for a lock before PostgreSQL looks for deadlocks, and is answered with 503.
   *
   * Short work is one packet if the facts are foreseen: the decision is made on what the credential's
   * latest transaction returned, and the entry compares it under the locks. If anything has changed,
   * nothing is written, and the whole work is done as above.
   */
  write<Facts, T>(entry: Entry<Facts>, work: Work<Facts, T> | ShortWork<Facts, T>): Promise<T>
  close(): Promise<void>
}

const notifyGapMs = 10 // deliveries wait for it
/** Reads share packets in the order in which they arrive. */
const anyPlace: Place = { tenant: '', row: '' }

/** What a database wants otherwise; reads have BEGIN and COMMIT in their packet there. */
export type DatabaseForm = {
  /** The statement to send instead. */
  adapt(statement: Statement): Statement
}

type DatabaseOptions = {
  watch?: { reads?: PoolWatch; writes?: PoolWatch; transactions?: PoolWatch }
  /** How long `work` may take. */
  transactionMs?: number
  form?: DatabaseForm | undefined
  limits?: Partial<Limits>
}

/**
 * The only way to owned and tenant rows: transactions that begin with an entry.
 * @param url connection of the application or worker role
 * @param size connections at most, for packets that read, packets that write and longer transactions each
 */
export function openDatabase(
  url: string,
  size: number,
  { watch = {}, transactionMs = maxTransactionMs, form, limits = {} }: DatabaseOptions = {},
): Database {
  const pool = survivesBrokenConnections(
    new WatchedPool(poolOptions(url, size, limits), watch.transactions),
  )
  const reads = openPacketPool(url, size, {
    access: 'read',
    watch: watch.reads,
    limits,
    begins: form !== undefined,
  })
  const writes = openPacketPool(url, size, { access: 'write', watch: watch.writes, limits })
  // A read of one packet waits for no lock of a tenant, so it has no share.
  const share = shareOf(size)
  const [transact, sendWrite] = [createTenantShares(share), createTenantShares(share)]
  // Beside the share of the tenant, whose writes can have all of it while they hold the right.
  const endings = endingSharesOf(size, endingLimits.lockTimeoutMs)
  const [endInTenant, endAmongAll] = [
    createTenantShares(endings.tenant),
    createTenantShares(endings.all),
  ]
  const { notify, settled } = createNotifier(
    (statement) => reads.sendOnce([named(statement)]),
    notifyGapMs,
  )
  const nameOf = nameStatements(url)
  const named = (given: Statement): Statement => {
    const { text, values = [] } = form?.adapt(given) ?? given
    return { name: nameOf(text), text, values }
  }
  const models = openModels(({ sql }) => nameOf(sql))

  /** One packet: the entry and the statement. */
  async function sendOnce<Facts, T>(
    packets: PacketPool,
    entry: Entry<Facts>,
    access: Access,
    { statement, place, read }: OneStatement<Facts, T>,
  ): Promise<T> {
    // On a cluster a write that shares a packet could wait long for a lock: the nodes do not get the short limit.
    const written = form === undefined ? place : undefined
    const shared = access === 'read' ? anyPlace : written
    const [entered, rows] = await packets.sendOnce<[object, object]>(
      [named(entry.statement(access === 'write')), named(statement)],
      entry.replacesScope ? shared : undefined,
    )
    return read(rows, entry.admit(entered))
  }

  async function run<Facts, T>(
    access: Access,
    entry: Entry<Facts>,
    work: (tx: Tx, facts: Facts) => Promise<T>,
  ): Promise<T> {
    const first = named(entry.statement(access === 'write'))
    const limits = access === 'write' && entry.endsRight ? endingLimits : undefined
    const transaction = await beginTransaction(pool, access, first, {
      pooled: isPooled(url),
      limits,
    })
    const deleteCredentials = deletesOf(entry, transaction)
    const { tx, last, notifications } = openTx(transaction, access, deleteCredentials)
    try {
      const facts = entry.admit(await transaction.entered)
      const { once } = access === 'write' ? entry : {}
      const working = once === undefined ? work(tx, facts) : once(tx, () => work(tx, facts))
      const result = await endWithin(transactionMs + (limits?.lockTimeoutMs ?? 0), working)
      const rows = await transaction.commit(last.map(({ statement }) => statement))
      for (const [n, { committed }] of last.entries()) committed(rows[n] ?? [])
      notify(notifications)
      return result
    } catch (error) {
      await transaction.rollback()
      throw error
    }
  }

  /** The first try costs no round trip more than a DELETE. */
  function deletesOf(entry: Entry<unknown>, transaction: Transaction): DeleteCredentials {
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
      if (!entry.endsRight || form !== undefined) return (await run(remove)) as Row[]
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

  function openTx(transaction: Transaction, access: Access, deleteCredentials: DeleteCredentials) {
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

  /** One packet on foreseen facts. Null if there are none or they have changed, or nothing was to change. */
  async function writeShort<Facts, T>(
    entry: Entry<Facts>,
    short: ShortWork<Facts, T>['short'],
  ): Promise<T | null> {
    // An Idempotency-Key is compared first, and a cluster needs several statements.
    if (entry.once !== undefined || form !== undefined) return null
    const foreseen = entry.foreseen?.() ?? null
    const one = foreseen && (await short(foreseen.facts))
    if (foreseen === null || one === null) return null
    const [entered, rows] = await writes.sendOnce<[object, object]>(
      [named(foreseen.statement), named(one.statement)],
      placeOf(entry, one.sharedAs),
    )
    foreseen.entered(entered)
    const notifications: Notification[] = []
    const result = one.read(rows, {
      notify: (channel, payload) => void notifications.push({ channel, payload }),
    })
    notify(notifications)
    return result
  }

  return {
    async read<Facts, T = Facts>(entry: Entry<Facts>, work?: Work<Facts, T>): Promise<T> {
      if (typeof work === 'function') {
        return transact(entry.holder?.(), () => run('read', entry, work))
      }
      if (work !== undefined) return sendOnce(reads, entry, 'read', work)
      const first = named(entry.statement(false))
      const shared = entry.replacesScope ? anyPlace : undefined
      const [rows] = await reads.sendOnce<[object]>([first], shared)
      return entry.admit(rows) as unknown as T
    },
    write: (entry, work) =>
      tryAgain(async () => {
        const holder = entry.holder?.()
        if (entry.endsRight) {
          const end = () => run('write', entry, wholeOf(work))
          return endInTenant(holder, () => endAmongAll('all tenants', end))
        }
        if (typeof work === 'function') return transact(holder, () => run('write', entry, work))
        if ('whole' in work) {
          const result = await sendWrite(holder, () => writeShort(entry, work.short)).catch(
            (error) => {
              if (isLeftToWhole(error)) return null
              throw error
            },
          )
          return result ?? transact(entry.holder?.(), () => run('write', entry, work.whole))
        }
        if (isDecidedInDatabase(entry)) {
          return sendWrite(holder, () => sendOnce(writes, entry, 'write', work))
        }
        return transact(holder, () => run('write', entry, wholeOf(work)))
      }, isRolledBackForAnother),
    async close() {
      await Promise.all([models.close(), settled()])
      await Promise.all([pool.end(), reads.close(), writes.close()])
    },
  }
}

/** The work as a function of the transaction. */
function wholeOf<Facts, T>(work: Work<Facts, T> | ShortWork<Facts, T>): WholeWork<Facts, T> {
  if (typeof work === 'function') return work
  if ('whole' in work) return work.whole
  const { statement, read } = work
  return async (tx, facts) => read(await tx.sql(statement), facts)
}

/** A statement that leaves with COMMIT, and what gets its rows once they are committed. */
type LastStatement = {
  readonly statement: Statement
  readonly committed: (rows: readonly object[]) => void
}

/**
 * Errors of short work after which the whole work decides. The event of a deletion has a reserve (add_usage) if
 * the deletion is a statement of its own; an event of the app may be known already.
 */
function isLeftToWhole(error: unknown): boolean {
  return haveFactsChanged(error) || exceededQuota(error) !== null || isUniqueViolation(error)
}

/** A statement on foreseen facts always replaces the scope, so only the row decides whether a packet is shared. */
function placeOf({ holder }: Entry<unknown>, row?: string): Place | undefined {
  return row === undefined ? undefined : { tenant: holder?.() ?? '', row }
}

/** For any other entry the program decides, which would be after the commit of a single packet. */
function isDecidedInDatabase({ decidesInDatabase, once }: Entry<unknown>): boolean {
  return decidesInDatabase === true && once === undefined
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
