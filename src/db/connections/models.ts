import { AsyncLocalStorage } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import type {
  Transaction as AdapterTransaction,
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { type Prisma, PrismaClient } from '../generated/client.ts'
import type { Statement } from './one-trip.ts'

type Run = (statement: Statement) => Promise<pg.QueryResult>

/**
 * Prisma's models. Without `findUnique`: outside of its own transactions Prisma merges those of one
 * moment into one statement, which would mix the reads of different people.
 */
export type Models = {
  [Name in Exclude<keyof Prisma.TransactionClient, `$${string}` | symbol>]: Omit<
    Prisma.TransactionClient[Name],
    'findUnique' | 'findUniqueOrThrow'
  >
}

/** Carries the transaction of a call from the model through Prisma to the adapter. */
const current = new AsyncLocalStorage<Run>()

/**
 * One Prisma client for all transactions. It has no connection of its own, and is made when a transaction
 * first uses a model: it takes 5 MB.
 * @param nameOf the name under which a connection keeps the plan of a text
 */
export function openModels(nameOf: (statement: { sql: string }) => string) {
  let made: PrismaClient | null = null
  const prisma = () => {
    made ??= new PrismaClient({ adapter: adapterOf(nameOf), errorFormat: 'minimal' })
    return made
  }
  return {
    /** The models, and what else belongs to one transaction. Each call runs its statements with `run`. */
    of: <Own extends object>(run: Run, own: Own) => bindModels(prisma, run, own),
    close: async () => made?.$disconnect(),
  }
}

function bindModels<Own extends object>(
  prisma: () => PrismaClient,
  run: Run,
  own: Own,
): Models & Own {
  return new Proxy(own, {
    get(_, name) {
      if (name in own) return Reflect.get(own, name)
      // A promise asks for `then` when it is resolved with a transaction.
      if (typeof name !== 'string' || name === 'then') return undefined
      const model: unknown = Reflect.get(prisma(), name)
      if (!isModel(model)) return undefined
      return new Proxy(model, { get: (_, method) => bindMethod(model, method, run) })
    },
  }) as Models & Own
}

/** Prisma sends nothing before its result is awaited, so that also happens in the transaction. */
function bindMethod(model: object, name: string | symbol, run: Run): unknown {
  const method: unknown = Reflect.get(model, name)
  if (typeof method !== 'function') return method
  return (...args: unknown[]) => current.run(run, async () => await method.apply(model, args))
}

function isModel(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'findFirst' in value
}

function adapterOf(nameOf: (statement: { sql: string }) => string): SqlDriverAdapterFactory {
  const factory = new PrismaPg(new TransactionsPool(), { statementNameGenerator: nameOf })
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = await factory.connect()
      return Object.assign(adapter, { startTransaction: async () => joined(adapter) })
    },
  }
}

/** What Prisma would do in a transaction of its own, such as nested writes, joins that of its caller. */
function joined(adapter: SqlDriverAdapter): AdapterTransaction {
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    options: { usePhantomQuery: true },
    queryRaw: (query) => adapter.queryRaw(query),
    executeRaw: (query) => adapter.executeRaw(query),
    async commit() {},
    async rollback() {},
  }
}

/** A pool in form only, because Prisma's adapter takes no other: a query goes to its transaction. */
class TransactionsPool extends pg.Pool {
  override connect(): never {
    throw withoutEntry()
  }

  // The driver's pool has many forms of this; Prisma's adapter uses one.
  override query = ((statement: Statement) => {
    const run = current.getStore()
    if (run === undefined) throw withoutEntry()
    return run(statement)
  }) as pg.Pool['query']
}

function withoutEntry(): Error {
  return new Error('A query without an entry: use read() or write() of the database.')
}
