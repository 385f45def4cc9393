import type pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { createDeadlines } from '#src/runtime/deadlines.ts'
import { createGroupCommit, type Entry } from './group-commit.ts'
import {
  RefusedStatement,
  type Statement,
  sendOnce as sendStatements,
  UnreadableRow,
} from './one-trip.ts'
import {
  isPooled,
  type Limits,
  poolOptions,
  rethrowSilence,
  survivesBrokenConnections,
} from './pool-options.ts'
import { beginning } from './transaction.ts'
import { WatchedPool } from './watched-pool.ts'

type Row = Record<string, unknown>

/** Rows of each statement, in their order. */
export type PacketRows<Rows extends readonly object[]> = { [Index in keyof Rows]: Rows[Index][] }

export type PacketPool = {
  /**
   * Sends all statements in one packet and waits once. They run in one transaction, of a pool that reads
   * READ ONLY and on one snapshot, and nothing that they set for the transaction stays.
   * @param place if given, the first statement always replaces the scope, so independent requests may share
   * the packet and its transaction
   * @throws what the first failing statement throws; then there are no rows at all
   */
  sendOnce<Rows extends readonly object[]>(
    statements: {
      readonly [Index in keyof Rows]: Statement
    },
    place?: Place,
  ): Promise<PacketRows<Rows>>
  close(): Promise<void>
}

/** What a statement writes. Writes that share a packet follow each other in this order. */
export type Place = { readonly tenant: string; readonly row: string }

export type PacketPoolOptions = {
  access: 'read' | 'write'
  watch?: PoolWatch | undefined
  limits?: Partial<Limits>
  /** Sends BEGIN and COMMIT in each packet. */
  begins?: boolean
}

/** The statements of one request: they follow each other in a packet. */
type Member = readonly Statement[]

type Shared = { readonly member: Member; readonly place: Place }
type GroupEntry = Entry<Shared, Row[][]>
type Result = { rows: Row[][] } | { error: unknown }

/** Members of a packet. The last waits for all before it: 32 reads take about a millisecond. */
const maxMembers = 32
/**
 * Packets of writes at a time, so that under load more writes share one. The database needs up to three
 * times as long for a write as the program, so four packets keep the program busy. One that waits for a
 * lock is not counted.
 */
const writeLanes = 4
/** Parameters of a packet in bytes: a large body delays few others. */
const maxBytes = 262_144
/**
 * After a refused write the tenant's next writes are sent alone, as many as a packet holds, so its
 * failures never make others repeat more than it does.
 */
const writesApart = maxMembers
const maxApart = 1_000 // tenants
/**
 * How long a write that shares a packet waits for a lock, while the others wait with it and their locks are
 * held. Then each is sent alone and waits as long as any request.
 */
const sharedLockMs = 50
const shortWait = `SELECT set_config('lock_timeout', '${sharedLockMs}', true)`
const readOnly =
  'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY'
const commit: Statement = { text: 'COMMIT' }

/**
 * Connections for transactions of one packet. Those of a pool that reads only read. Behind a pooler a
 * connection has no settings of its own, so there BEGIN and COMMIT are sent in the same packet.
 *
 * Under load a packet costs more than the statements in it: the program, the kernel and the server
 * handle each one separately. So reads that arrive in the same turn of the event loop, or while every
 * connection is in use, share one. Writes that may share a commit do so in the same turn, or while
 * `writeLanes` packets of writes are on their way. What arrives alone does not wait for others. If one
 * member fails, the packet is taken back and the others are sent again: what one request does never
 * decides whether another succeeds.
 * @param size connections at most
 */
export function openPacketPool(url: string, size: number, options: PacketPoolOptions): PacketPool {
  const { sendPacket, close } = openConnections(url, size, options)
  const { access } = options
  const group = createGroupCommit<Shared, Row[][]>({
    maxItems: maxMembers,
    maxBytes,
    bytesOf: ({ member }) => bytesOf(member),
    ...(access === 'read'
      ? { lanes: size }
      : { lanes: Math.min(size, writeLanes), slow: { afterMs: sharedLockMs, most: size } }),
    commit: access === 'read' ? commitReads : commitWrites,
  })
  const apart = createApart()
  const waitShortly: Member = [{ name: isPooled(url) ? '' : 'wait-shortly', text: shortWait }]

  async function commitReads(entries: readonly GroupEntry[]): Promise<void> {
    const results = await send(entries.map(({ item }) => item.member))
    for (const [index, entry] of entries.entries()) settle(results[index], entry)
  }

  /** Never rejects. A refused member takes the others back, which are sent again without it. */
  async function send(members: readonly Member[]): Promise<Result[]> {
    if (members.length === 0) return []
    try {
      return (await sendPacket(members)).map((rows) => ({ rows }))
    } catch (error) {
      if (!(error instanceof RefusedStatement)) return members.map(() => ({ error }))
      const refused = indexOfMember(members, error.position)
      const results = await send(members.toSpliced(refused, 1))
      return results.toSpliced(refused, 0, { error: error.cause })
    }
  }

  /**
   * All or none are committed. If a statement was refused, each write is sent alone, also the refused one:
   * its reason may have been another write of the packet, or the short wait for a lock. All packets lock rows in
   * the order of their places, so that two do not wait for each other.
   */
  async function commitWrites(arrived: readonly GroupEntry[]): Promise<void> {
    if (arrived.length === 1) return commitReads(arrived)
    const entries = arrived.toSorted(byPlace)
    const members = [waitShortly, ...entries.map(({ item }) => item.member)]
    try {
      const [, ...rows] = await sendPacket(members)
      for (const [index, { resolve }] of entries.entries()) resolve(rows[index] ?? [])
    } catch (error) {
      const isTakenBack = error instanceof RefusedStatement && !(error instanceof UnreadableRow)
      if (!isTakenBack) {
        for (const { reject } of entries) reject(error)
        return
      }
      const refused = entries[indexOfMember(members, error.position) - 1]
      if (refused !== undefined) apart.add(refused.item.place.tenant)
      // Not awaited: those that wait for a lock do not hold up the next packet.
      for (const entry of entries) void commitReads([entry])
    }
  }

  return {
    async sendOnce(statements, place) {
      if (place !== undefined && !(access === 'write' && apart.counts(place.tenant)))
        return (await group.add({ member: statements, place })) as never
      const [result] = await send([statements])
      return new Promise((resolve, reject) => settle(result, { resolve, reject }))
    },
    close,
  }
}

/** Connections that send one packet at a time. */
function openConnections(
  url: string,
  size: number,
  { access, watch, limits, begins: alwaysBegins = false }: PacketPoolOptions,
) {
  const pooled = isPooled(url)
  const withBegin = new WeakSet<pg.ClientBase>()
  const begin = beginning(access, pooled)
  const options = poolOptions(url, size, limits)
  const { query_timeout: silenceMs } = options
  const silence = createDeadlines(silenceMs)
  const pool = survivesBrokenConnections(
    new WatchedPool(
      {
        ...options,
        // One packet at a time is on a connection, and the driver's pipeline takes no other queries.
        pipeline: false,
        query_timeout: 0,
        onConnect: async (client) => {
          options.onConnect(client)
          if (pooled || alwaysBegins) withBegin.add(client)
          else if (access === 'read') await client.query(within(silenceMs, readOnly))
        },
      },
      watch,
    ),
  )

  async function sendPacket(members: readonly Member[]): Promise<Row[][][]> {
    const client = await pool.connect()
    const begins = withBegin.has(client)
    const statements = members.flat()
    try {
      const rows = begins
        ? (await sendStatements(client, [...begin, ...statements, commit], silence)).slice(
            begin.length,
            -1,
          )
        : await sendStatements(client, statements, silence)
      client.release()
      return divide(members, rows)
    } catch (error) {
      const isShared = access === 'write' && members.length > 1
      const lost = await giveBack(client, error, { begins, confirms: isShared, silenceMs })
      if (!(error instanceof RefusedStatement)) return rethrowSilence(error)
      if (isShared && lost !== null) throw lost
      return rethrowAt(error, begins ? error.position - begin.length : error.position)
    }
  }

  return { sendPacket, close: () => pool.end() }
}

/** The rows of each member, from those of all statements. */
function divide(members: readonly Member[], rows: readonly Row[][]): Row[][][] {
  let end = 0
  return members.map(({ length }) => {
    end += length
    return rows.slice(end - length, end)
  })
}

/** The member that the statement at this place in the packet belongs to. */
function indexOfMember(members: readonly Member[], position: number): number {
  return members.flatMap((member, index) => member.map(() => index))[position] ?? 0
}

/** The tenants whose next writes are sent alone. */
function createApart() {
  const left = new Map<string, number>()
  return {
    add(tenant: string): void {
      left.delete(tenant)
      left.set(tenant, writesApart)
      const [oldest] = left.keys()
      if (left.size > maxApart && oldest !== undefined) left.delete(oldest)
    },
    /** Counts a write of the tenant; says whether it is sent alone. */
    counts(tenant: string): boolean {
      const rest = left.get(tenant)
      if (rest === undefined) return false
      if (rest === 1) left.delete(tenant)
      else left.set(tenant, rest - 1)
      return true
    },
  }
}

function byPlace({ item: { place: a } }: GroupEntry, { item: { place: b } }: GroupEntry): number {
  return compare(a.tenant, b.tenant) || compare(a.row, b.row)
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function bytesOf(member: Member): number {
  let sum = 0
  for (const { values = [] } of member) for (const value of values) sum += sizeOf(value)
  return sum
}

/** Only texts and bytes can be large. */
function sizeOf(value: unknown): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0
}

function settle(
  result: Result | undefined,
  { resolve, reject }: { resolve(rows: never): void; reject(error: unknown): void },
): void {
  if (result !== undefined && 'rows' in result) resolve(result.rows as never)
  else reject(result?.error)
}

/** The same error, of the statement at another place. */
function rethrowAt(error: RefusedStatement, position: number): never {
  throw error instanceof UnreadableRow
    ? new UnreadableRow(position, error.cause)
    : new RefusedStatement(position, error.cause)
}

/** Does nothing; an answer means that the transaction before it is over. */
const isOver = '-- is the transaction over?'

type Returned = {
  begins: boolean
  /**
   * Ask whether the transaction was taken back. A server that shuts down after a commit also answers with an error, and
   * then no more.
   */
  confirms: boolean
  silenceMs: number
}

/**
 * A connection that is ending or may be inside a transaction is not used again.
 * @returns what has ended the connection after the refusal
 */
async function giveBack(
  client: pg.PoolClient,
  error: unknown,
  { begins, confirms, silenceMs }: Returned,
): Promise<unknown> {
  if (!(error instanceof RefusedStatement)) client.release(true)
  else if (!begins && !confirms) client.release()
  else {
    try {
      await client.query(within(silenceMs, begins ? 'ROLLBACK' : isOver))
      client.release(client.getTransactionStatus() !== 'I')
    } catch (lost) {
      client.release(true)
      return lost
    }
  }
  return null
}

/** A query whose answer may take so long. */
function within(ms: number, text: string): { text: string } {
  return Object.assign({ text }, { query_timeout: ms })
}
