import type { PoolWatch } from '#src/observability/metrics.ts'
import { visiblePolicy } from '#src/resources/kit/visible.ts'
import { openModels } from './connections/models.ts'
import { createNotifier } from './connections/notifier.ts'
import type { Statement } from './connections/one-trip.ts'
import { openPacketPool } from './connections/packet-pool.ts'
import { type Limits, poolOptions, survivesBrokenConnections } from './connections/pool-options.ts'
import { createTenantShares, endingSharesOf, shareOf } from './connections/tenant-share.ts'
import { WatchedPool } from './connections/watched-pool.ts'
import type { Entry } from './entry.ts'
import {
  exceededQuota,
  haveFactsChanged,
  isRefusedByPolicy,
  isRolledBackForAnother,
  tryAgain,
  violatedConstraint,
} from './errors.ts'
import { createPackets } from './one-packet.ts'
import { nameStatements } from './sql.ts'
import { endingLimits, transactionMs as maxTransactionMs } from './timeouts.ts'
import { runTransaction } from './transactions.ts'
import { type ShortWork, type WholeWork, type Work, wholeOf } from './work.ts'

export type { Tx } from './entry.ts'
export type { ShortStatement, ShortWork, Work } from './work.ts'

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
   * If the process remembers the caller's facts from the credential's latest transaction, short work is
   * decided on them and sent in one packet. The entry locks and compares the facts; if they differ,
   * nothing is written, and the whole work is done as above.
   */
  write<Facts, T>(entry: Entry<Facts>, work: Work<Facts, T> | ShortWork<Facts, T>): Promise<T>
  close(): Promise<void>
}

const notifyGapMs = 10 // deliveries wait for it
/** What a database needs other than one PostgreSQL: other statements, and BEGIN and COMMIT in the packet of a read. */
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
  const { transact, sendWrite, end } = openShares(size)
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
  const parts = { writes, named, isCluster: form !== undefined, notify }
  const { sendOnce, readFacts, writeShort } = createPackets({ ...parts, reads })
  const options = { ...parts, url, pool, models, limits, transactionMs }
  const run = <Facts, T>(entry: Entry<Facts>, work: WholeWork<Facts, T>) =>
    runTransaction(options, 'write', entry, work)

  return {
    read<Facts, T = Facts>(entry: Entry<Facts>, work?: Work<Facts, T>): Promise<T> {
      if (typeof work === 'function') {
        return transact(entry.holder?.(), () => runTransaction(options, 'read', entry, work))
      }
      if (work !== undefined) return sendOnce('read', entry, work)
      // Without work T is Facts.
      return readFacts(entry) as Promise<unknown> as Promise<T>
    },
    write: (entry, work) =>
      tryAgain(async () => {
        const holder = entry.holder?.()
        if (entry.endsRight) return end(holder, () => run(entry, wholeOf(work)))
        if (typeof work === 'function') return transact(holder, () => run(entry, work))
        if ('whole' in work) {
          const result = await sendWrite(holder, () => writeShort(entry, work.short)).catch(
            (error) => {
              if (isLeftToWhole(error)) return null
              throw error
            },
          )
          return result ?? transact(entry.holder?.(), () => run(entry, work.whole))
        }
        if (isDecidedInDatabase(entry)) {
          return sendWrite(holder, () => sendOnce('write', entry, work))
        }
        return transact(holder, () => run(entry, wholeOf(work)))
      }, isRolledBackForAnother),
    async close() {
      await Promise.all([models.close(), settled()])
      await Promise.all([pool.end(), reads.close(), writes.close()])
    },
  }
}

/** The shares of the tenants in the connections; a read of one packet waits for no lock of a tenant, so it has none. */
function openShares(size: number) {
  const share = shareOf(size)
  // Beside the share of the tenant, whose writes can have all of it while they hold the right.
  const endings = endingSharesOf(size, endingLimits.lockTimeoutMs)
  const inTenant = createTenantShares(endings.tenant)
  const amongAll = createTenantShares(endings.all)
  return {
    transact: createTenantShares(share),
    sendWrite: createTenantShares(share),
    end: <T>(holder: string | undefined, work: () => Promise<T>) =>
      inTenant(holder, () => amongAll('all tenants', work)),
  }
}

/**
 * Errors of short work after which the whole work decides. The event of a deletion may exceed the
 * budget (add_usage) if the deletion is a statement of its own; an event of the app may be known
 * already; a broken key is named by the whole work.
 */
function isLeftToWhole(error: unknown): boolean {
  return (
    haveFactsChanged(error) ||
    exceededQuota(error) !== null ||
    violatedConstraint(error) !== null ||
    isRefusedByPolicy(error, visiblePolicy)
  )
}

/** For any other entry the program decides, which would be after the commit of a single packet. */
function isDecidedInDatabase({ decidesInDatabase, once }: Entry<unknown>): boolean {
  return decidesInDatabase === true && once === undefined
}
