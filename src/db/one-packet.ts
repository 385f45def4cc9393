import type { Notification } from './connections/notifier.ts'
import type { Statement } from './connections/one-trip.ts'
import type { PacketPool, Place } from './connections/packet-pool.ts'
import type { Access } from './connections/transaction.ts'
import type { Entry } from './entry.ts'
import type { OneStatement } from './sql.ts'
import type { ShortWork } from './work.ts'

export type PacketOptions = {
  reads: PacketPool
  writes: PacketPool
  /** A statement as it is sent. */
  named(statement: Statement): Statement
  isCluster: boolean
  notify(notifications: readonly Notification[]): void
}

/** Reads share packets in the order in which they arrive. */
const anyPlace: Place = { tenant: '', row: '' }

/** Work that leaves in the packet of its entry: one round trip, and the commit is in it. */
export function createPackets({ reads, writes, named, isCluster, notify }: PacketOptions) {
  /** One packet: the entry, the statement and those after it. */
  async function sendOnce<Facts, T>(
    access: Access,
    entry: Entry<Facts>,
    { statement, place, further = [], read }: OneStatement<Facts, T>,
  ): Promise<T> {
    // On a cluster a write that shares a packet could wait long for a lock: the nodes do not get the short limit.
    const written = isCluster ? undefined : place
    const shared = access === 'read' ? anyPlace : written
    const [entered = [], rows = [], ...more] = await (access === 'read' ? reads : writes).sendOnce<
      object[]
    >(
      [entry.statement(access === 'write'), statement, ...further].map(named),
      entry.replacesScope ? shared : undefined,
    )
    return read(rows, entry.admit(entered), more)
  }

  /** The facts alone. */
  async function readFacts<Facts>(entry: Entry<Facts>): Promise<Facts> {
    const first = named(entry.statement(false))
    const shared = entry.replacesScope ? anyPlace : undefined
    const [rows] = await reads.sendOnce<[object]>([first], shared)
    return entry.admit(rows)
  }

  /** One packet on foreseen facts. Null if there are none or they have changed, or nothing was to change. */
  async function writeShort<Facts, T>(
    entry: Entry<Facts>,
    short: ShortWork<Facts, T>['short'],
  ): Promise<T | null> {
    // An Idempotency-Key is compared first, and a cluster needs several statements.
    if (entry.once !== undefined || isCluster) return null
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

  return { sendOnce, readFacts, writeShort }
}

/** A statement on foreseen facts always replaces the scope, so only the row decides whether a packet is shared. */
function placeOf({ holder }: Entry<unknown>, row?: string): Place | undefined {
  return row === undefined ? undefined : { tenant: holder?.() ?? '', row }
}
