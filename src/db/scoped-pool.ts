import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import type { ContextMode } from '#src/config/config.ts'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { rethrowSilence } from './pool-options.ts'

/** On whose behalf a transaction runs; row-level security sees exactly this and nothing else. */
export type Scope = { readonly userId?: number; readonly tenantId?: string }
type Context = {
  readonly user: string
  readonly tenant: string
  readonly access: 'read' | 'write'
}
type Statement = { readonly name?: string; readonly text: string; readonly values?: unknown[] }

const context = new AsyncLocalStorage<Context>()
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Runs `work` with `scope` as the context of every connection it takes from a ScopedPool. A scope
 * that names no id is refused here, before a connection is taken.
 */
export async function inScope<T>(
  scope: Scope,
  access: Context['access'],
  work: () => Promise<T>,
): Promise<T> {
  return context.run(contextOf(scope, access), work)
}

function contextOf({ userId, tenantId }: Scope, access: Context['access']): Context {
  return { user: userSetting(userId), tenant: tenantSetting(tenantId), access }
}

/** A pool that tells how long its connections were waited for. */
export class WatchedPool extends pg.Pool {
  readonly #watch: PoolWatch | undefined

  constructor(options: pg.PoolConfig, watch?: PoolWatch) {
    super(options)
    this.#watch = watch
    watch?.opened(this)
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const watch = this.#watch
    if (watch === undefined) return callback ? void super.connect(callback) : super.connect()
    const begun = performance.now()
    const tell = (failed: boolean) => watch.acquired((performance.now() - begun) / 1_000, failed)
    if (callback === undefined) {
      const client = super.connect()
      client.then(
        () => tell(false),
        () => tell(true),
      )
      return client
    }
    super.connect((error, client, done) => {
      tell(error !== undefined && error !== null)
      callback(error, client, done)
    })
    return undefined
  }
}

type Connected = Parameters<pg.Pool['connect']>[0]

/**
 * The second lock, below Prisma. A connection is only handed out to a transaction with a context:
 * BEGIN and the context are written without waiting, so the first query rides behind them and the
 * lock costs no round trip of its own. Reads run READ ONLY and do not wait for their COMMIT.
 */
export class ScopedPool extends WatchedPool {
  readonly #mode: ContextMode

  constructor(options: pg.PoolConfig, mode: ContextMode = 'set-local', watch?: PoolWatch) {
    super(options, watch)
    this.#mode = mode
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void
  override connect(...callback: unknown[]): Promise<pg.PoolClient> | undefined {
    const active = context.getStore()
    if (active === undefined || callback.length > 0) {
      throw new Error('A query without a scope: use read() or write() of the database.')
    }
    return super.connect().then((client) => scopedClient(client, active, this.#mode))
  }

  /**
   * One statement in a READ ONLY transaction of its own: its opening, the statement and the COMMIT
   * leave in one packet, and only the COMMIT's answer is not waited for.
   */
  async readRows<Row extends pg.QueryResultRow>(
    scope: Scope,
    statement: Statement,
  ): Promise<Row[]> {
    const opening = openings[this.#mode](contextOf(scope, 'read'))
    const client = await super.connect()
    const send = (one: Statement) => client.query<Row>(one).catch(rethrowSilence)
    const { stream } = client.connection
    stream.cork()
    const opened = Promise.all(opening.map(send))
    const answer = send(statement)
    const ended = send({ text: 'COMMIT' })
    stream.uncork()
    ended.then(
      () => client.release(client.getTransactionStatus() !== 'I'),
      () => client.release(true),
    )
    // What was read without the context having been set is no answer.
    const [, { rows }] = await Promise.all([opened, answer])
    return rows
  }
}

/**
 * One checked-out connection: understands the words of Prisma's transaction protocol. It carries
 * one transaction; once that has ended, a statement that comes late is refused, because by then
 * the connection may be in somebody else's.
 */
function scopedClient(client: pg.PoolClient, active: Context, mode: ContextMode): pg.PoolClient {
  let opened: Promise<unknown> | undefined
  let ended: Promise<pg.QueryResult> | undefined
  const { stream } = client.connection

  const send = (statement: Statement) => client.query(statement).catch(rethrowSilence)

  async function query(statement: Statement): Promise<pg.QueryResult> {
    if (ended !== undefined) throw new Error('The transaction of this connection has ended.')
    switch (statement.text) {
      case 'BEGIN':
        // What follows without waiting for anything leaves in the same packet.
        stream.cork()
        process.nextTick(() => stream.uncork())
        opened = Promise.all(openings[mode](active).map(send))
        opened.catch(ignore)
        return emptyResult('BEGIN')
      case 'COMMIT':
        return commit(statement)
      case 'ROLLBACK':
        return end(statement)
      default: {
        if (opened === undefined) throw new Error('A statement outside a transaction.')
        // What was read without the context having been set is no answer.
        const [, result] = await Promise.all([opened, send(statement)])
        return result
      }
    }
  }

  async function commit(statement: Statement): Promise<pg.QueryResult> {
    if (active.access === 'read') {
      end(statement).catch(ignore)
      return emptyResult('COMMIT')
    }
    await opened
    const result = await end(statement)
    if (result.command !== 'COMMIT') throw new Error('The transaction was rolled back.')
    return result
  }

  function end(statement: Statement): Promise<pg.QueryResult> {
    ended = send(statement)
    return ended
  }

  /** Only a connection whose transaction has ended goes back to the pool, any other is destroyed. */
  function release(error?: Error | boolean): void {
    if (ended === undefined) client.release(error ?? true)
    else {
      ended.then(
        () => client.release(error ?? client.getTransactionStatus() !== 'I'),
        () => client.release(true),
      )
    }
  }

  return new Proxy(client, {
    get(target, property) {
      if (property === 'query') return query
      if (property === 'release') return release
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** BEGIN and the context, local to the transaction. What stands in it was checked by `inScope`. */
const openings: Readonly<Record<ContextMode, (context: Context) => Statement[]>> = {
  'set-local': ({ user, tenant, access }) => [
    {
      text: `${begin[access]}; SET LOCAL app.user_id = '${user}'; SET LOCAL app.tenant_id = '${tenant}'`,
    },
  ],
  'set-config': ({ user, tenant, access }) => [
    { text: begin[access] },
    {
      text: `SELECT set_config('app.user_id', $1, true), set_config('app.tenant_id', $2, true)`,
      values: [user, tenant],
    },
  ],
}

const begin = { read: 'BEGIN READ ONLY', write: 'BEGIN' } as const

function userSetting(userId: number | undefined): string {
  if (userId === undefined) return ''
  if (!Number.isSafeInteger(userId) || userId < 1) throw new Error('The scope names no user id.')
  return String(userId)
}

function tenantSetting(tenantId: string | undefined): string {
  if (tenantId === undefined) return ''
  if (!uuid.test(tenantId)) throw new Error('The scope names no tenant id.')
  return tenantId
}

function emptyResult(command: string): pg.QueryResult {
  return { command, rowCount: 0, oid: 0, fields: [], rows: [] }
}

function ignore(): void {}
