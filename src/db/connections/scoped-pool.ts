import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { isAfterFailure, isReadOnlyServer } from '../errors.ts'
import type { Statement } from './one-trip.ts'
import { isPooled, openingMs, type poolOptions, rethrowSilence } from './pool-options.ts'

/** A transaction about to begin: what opens it, and what its opening returned. */
type Opening = {
  readonly access: 'read' | 'write'
  readonly statement: Statement
  /** Set once BEGIN has been asked for. */
  entered?: Promise<pg.QueryResult>
  /** Runs a statement in the transaction; set for reads once they have a connection. */
  query?: (statement: Statement) => Promise<pg.QueryResult>
  readonly last: LastStatement[]
  /** The error of one of them. */
  lastError?: unknown
  /** COMMIT or ROLLBACK was asked for. */
  hasEnded?: boolean
}

/** A statement that leaves with COMMIT, and what gets its rows once they are committed. */
type LastStatement = { statement: Statement; committed: (rows: readonly object[]) => void }

const current = new AsyncLocalStorage<Opening>()

/** Reads of several statements see one state of the database. */
export const beginRead = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/**
 * Runs `work` with `statement` as the first statement of the transaction that it begins on a
 * connection of a ScopedPool.
 * @param work gets a function that resolves to the rows of `statement`, once BEGIN was asked for
 */
export async function opening<T>(
  access: Opening['access'],
  statement: Statement,
  work: (entered: () => Promise<object[]>) => Promise<T>,
): Promise<T> {
  const active: Opening = { access, statement, last: [] }
  const entered = async () => {
    if (active.entered === undefined) throw new Error('The transaction has not begun.')
    return (await active.entered).rows
  }
  try {
    return await current.run(active, () => work(entered))
  } catch (error) {
    // Prisma says only that the transaction could not be committed.
    throw active.lastError ?? error
  }
}

/**
 * Runs `statement` at the end of the write that this is called in, in one packet with COMMIT: that is one
 * round trip less, during which the transaction would hold its locks. If it fails, the transaction is
 * rolled back and fails with its error.
 * @param committed gets its rows after the commit
 */
export function runWithCommit(
  statement: Statement,
  committed: (rows: readonly object[]) => void,
): void {
  const active = current.getStore()
  if (active?.access !== 'write') throw withoutEntry()
  if (active.hasEnded) throw new Error('The transaction has ended.')
  active.last.push({ statement, committed })
}

/**
 * A pool that reports how long callers wait for a connection. One that opens too late for its caller is
 * kept for the next: if each were closed after `connectionTimeoutMillis`, as the driver's pool does, a
 * server slow enough once would be asked for connections for ever and serve nobody.
 */
export class WatchedPool extends pg.Pool {
  readonly #watch: PoolWatch | undefined
  readonly #acquireMs: number
  #callers = 0

  /** @param options `connectionTimeoutMillis`: how long a caller waits */
  constructor(options: pg.PoolConfig & { connectionTimeoutMillis: number }, watch?: PoolWatch) {
    const { connectionTimeoutMillis: acquireMs } = options
    super({ ...options, connectionTimeoutMillis: Math.max(acquireMs, openingMs) })
    this.#acquireMs = acquireMs
    this.#watch = watch
    watch?.opened(this)
  }

  /** How many wait for a connection; `waitingCount` also has those that have given up. */
  get callers(): number {
    return this.#callers
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (callback !== undefined) return void this.#acquire(callback)
    return new Promise((resolve, reject) => {
      this.#acquire((error, client) => (client === undefined ? reject(error) : resolve(client)))
    })
  }

  #acquire(callback: Connected): void {
    const begun = performance.now()
    let isLate = false
    this.#callers += 1
    const tell = (failed: boolean) => {
      this.#callers -= 1
      this.#watch?.acquired((performance.now() - begun) / 1_000, failed)
    }
    const timer = setTimeout(() => {
      isLate = true
      tell(true)
      callback(new Error('timeout exceeded when trying to connect'), undefined, () => {})
    }, this.#acquireMs).unref()
    super.connect((error, client, done) => {
      clearTimeout(timer)
      if (isLate) return client?.release()
      tell(client === undefined)
      callback(error, client, done)
    })
  }
}

type Connected = Parameters<pg.Pool['connect']>[0]

/**
 * The pool below Prisma. It hands out a connection only to a transaction that has an opening: BEGIN
 * and the statement that presents the credential are written without waiting. Reads run READ ONLY on
 * one snapshot and do not wait for their end. A query of the pool itself belongs to the read it is
 * called in, so that several of them leave in one packet; outside of a read it is refused.
 */
export class ScopedPool extends WatchedPool {
  readonly #named: boolean

  constructor(options: ReturnType<typeof poolOptions>, watch?: PoolWatch) {
    super(options, watch)
    this.#named = !isPooled(options.connectionString)
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void
  override connect(...callback: unknown[]): Promise<pg.PoolClient> | undefined {
    const active = current.getStore()
    if (active === undefined || callback.length > 0) {
      throw withoutEntry()
    }
    return super.connect().then((client) => scopedClient(client, active, this.#named))
  }

  // The driver's pool has many forms of this; Prisma's adapter uses one.
  override query = ((statement: Statement) => {
    const active = current.getStore()
    if (active?.query === undefined) throw withoutEntry()
    return active.query(statement)
  }) as pg.Pool['query']
}

function withoutEntry(): Error {
  return new Error('A query without an entry: use read() or write() of the database.')
}

/**
 * One checked-out connection. It understands Prisma's transaction statements (BEGIN, COMMIT,
 * ROLLBACK) and carries one transaction: a statement that arrives after its end is refused, because
 * the connection may already belong to another transaction.
 */
function scopedClient(client: pg.PoolClient, active: Opening, named: boolean): pg.PoolClient {
  let opened: Promise<unknown> | undefined
  let ended: Promise<pg.QueryResult> | undefined
  let isReadOnly = false
  let failure: unknown
  const { stream } = client.connection

  const send = (statement: Statement): Promise<pg.QueryResult> => {
    // The rest is how Prisma wants its rows: as arrays, with parsers of its own.
    const { name, values, ...rest } = statement
    const bound = { ...rest, ...(values && { values: [...values] }) }
    return client.query({ ...bound, ...(named && name && { name }) }).catch((error) => {
      isReadOnly ||= isReadOnlyServer(error)
      failure ??= error
      // Of statements that do not wait for each other, any may be the first whose error is seen.
      return rethrowSilence(isAfterFailure(error) ? failure : error)
    })
  }

  async function query(statement: Statement): Promise<pg.QueryResult> {
    if (ended !== undefined) throw new Error('The transaction of this connection has ended.')
    switch (statement.text) {
      case 'BEGIN':
        begin()
        return emptyResult('BEGIN')
      case 'COMMIT':
        return active.access === 'read' ? endUnheard(statement) : commit(statement)
      case 'ROLLBACK':
        return active.access === 'read' ? endUnheard(statement) : end(statement)
      default: {
        if (opened === undefined) throw new Error('A statement outside a transaction.')
        // Rows that were read although the opening failed are no answer.
        const [, result] = await Promise.all([opened, send(statement)])
        return result
      }
    }
  }

  /** What is sent from now on without waiting leaves in one packet. */
  function beginPacket(): void {
    stream.cork()
    process.nextTick(() => stream.uncork())
  }

  function begin(): void {
    beginPacket()
    const begun = send({ text: active.access === 'read' ? beginRead : 'BEGIN' })
    active.entered = send(active.statement)
    opened = Promise.all([begun, active.entered])
    opened.catch(ignore)
    active.entered.catch(ignore)
  }

  /** Nothing depends on how a read ends; the connection waits for it before its next use. */
  function endUnheard(statement: Statement): pg.QueryResult {
    end(statement).catch(ignore)
    return emptyResult(statement.text)
  }

  async function commit(statement: Statement): Promise<pg.QueryResult> {
    await opened
    beginPacket()
    const last = Promise.all(active.last.map((one) => send(one.statement)))
    const [results, result] = await Promise.all([last.catch(keepError), end(statement)])
    if (result.command !== 'COMMIT') throw new Error('The transaction was rolled back.')
    for (const [n, { committed }] of active.last.entries()) committed(results[n]?.rows ?? [])
    return result
  }

  function keepError(error: unknown): never {
    active.lastError = error
    throw error
  }

  function end(statement: Statement): Promise<pg.QueryResult> {
    active.hasEnded = true
    ended = send(statement)
    return ended
  }

  /**
   * Only a connection whose transaction has ended goes back to the pool, any other is destroyed; also
   * one whose server became read-only, because the next connection may lead to the new primary.
   */
  function release(error?: Error | boolean): void {
    if (ended === undefined) client.release(error ?? true)
    else {
      ended.then(
        () => client.release(error ?? (isReadOnly || client.getTransactionStatus() !== 'I')),
        () => client.release(true),
      )
    }
  }

  if (active.access === 'read') active.query = query
  return new Proxy(client, {
    get(target, property) {
      if (property === 'query') return query
      if (property === 'release') return release
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function emptyResult(command: string): pg.QueryResult {
  return { command, rowCount: 0, oid: 0, fields: [], rows: [] }
}

function ignore(): void {}
