import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { rethrowSilence } from './pool-options.ts'

/** On whose behalf a transaction runs; row-level security sees exactly this and nothing else. */
export type Scope = { readonly userId?: number; readonly tenantId?: string }

type Context = { readonly opening: string; readonly access: 'read' | 'write' }
type Statement = { readonly text: string }

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
  return context.run({ opening: openingOf(scope, access), access }, work)
}

/**
 * The second lock, below Prisma. A connection is only handed out to a transaction with a context:
 * BEGIN and the context are written without waiting, so the first query rides behind them and the
 * lock costs no round trip of its own. Reads run READ ONLY and do not wait for their COMMIT.
 */
export class ScopedPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void
  override connect(...callback: unknown[]): Promise<pg.PoolClient> | undefined {
    const active = context.getStore()
    if (active === undefined || callback.length > 0) {
      throw new Error('A query without a scope: use read() or write() of the database.')
    }
    return super.connect().then((client) => scopedClient(client, active))
  }
}

/**
 * One checked-out connection: understands the words of Prisma's transaction protocol. It carries
 * one transaction; once that has ended, a statement that comes late is refused, because by then
 * the connection may be in somebody else's.
 */
function scopedClient(client: pg.PoolClient, active: Context): pg.PoolClient {
  let opened: Promise<unknown> | undefined
  let ended: Promise<pg.QueryResult> | undefined
  const { stream } = client.connection

  // A broken connection rejects what is under way; unheard, the event itself would end the process.
  client.on('error', ignore)

  const send = (statement: Statement) => client.query(statement).catch(rethrowSilence)

  async function query(statement: Statement): Promise<pg.QueryResult> {
    if (ended !== undefined) throw new Error('The transaction of this connection has ended.')
    switch (statement.text) {
      case 'BEGIN':
        // What follows without waiting for anything leaves in the same packet.
        stream.cork()
        process.nextTick(() => stream.uncork())
        opened = send({ text: active.opening })
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
    const handBack = (destroy: Error | boolean) => {
      client.release(destroy)
      client.off('error', ignore)
    }
    if (ended === undefined) handBack(error ?? true)
    else {
      ended.then(
        () => handBack(error ?? client.getTransactionStatus() !== 'I'),
        () => handBack(true),
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

/** One message: BEGIN and the context, local to the transaction. */
function openingOf(scope: Scope, access: Context['access']): string {
  return [
    access === 'read' ? 'BEGIN READ ONLY' : 'BEGIN',
    `SET LOCAL app.user_id = '${userSetting(scope.userId)}'`,
    `SET LOCAL app.tenant_id = '${tenantSetting(scope.tenantId)}'`,
  ].join('; ')
}

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
