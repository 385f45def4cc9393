import { AsyncLocalStorage } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import type {
  Transaction as AdapterTransaction,
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
} from '@prisma/driver-adapter-utils'
import pg from 'pg'
import type { ModelsOf, UsePrisma } from '#src/resources/typed-client.ts'
import { PrismaClient } from '../generated/client.ts'
import type { Statement } from './one-trip.ts'

type Run = (statement: Statement) => Promise<pg.QueryResult>

/** The models of the program. */
export type Models = ModelsOf<PrismaClient>

/** Carries the transaction of a call from the model through Prisma to the adapter. */
const current = new AsyncLocalStorage<Run>()

/** The class of a client. What it returns has the models of its schema. */
type GeneratedClient = new (options: {
  adapter: SqlDriverAdapterFactory
  errorFormat: 'minimal'
}) => object

/**
 * One Prisma client for all transactions, and one for each that an app has generated. They have no connection of their
 * own, and are made when a transaction first uses one of their models: the one of the program takes 5 MB.
 * @param nameOf the name under which a connection keeps the plan of a text
 */
export function openModels(nameOf: (statement: { sql: string }) => string) {
  const clients = new Map<GeneratedClient, object>()
  const clientOf = (Generated: GeneratedClient) => {
    const made =
      clients.get(Generated) ??
      new Generated({ adapter: adapterOf(nameOf), errorFormat: 'minimal' })
    clients.set(Generated, made)
    return made
  }
  return {
    /** The models, and what else belongs to one transaction. Each call runs its statements with `run`. */
    of: <Own extends object>(run: Run, own: Own) => {
      const prisma = ((generated: GeneratedClient) =>
        bindModels(() => clientOf(generated), run, {})) as UsePrisma
      return bindModels(() => clientOf(PrismaClient), run, { ...own, prisma }) as Models &
        Own & { prisma: UsePrisma }
    },
    async close() {
      for (const client of clients.values()) {
        if ('$disconnect' in client && typeof client.$disconnect === 'function')
          await client.$disconnect()
      }
    },
  }
}

function bindModels(client: () => object, run: Run, own: object): object {
  return new Proxy(own, {
    get(_, name) {
      if (name in own) return Reflect.get(own, name)
      // A promise asks for `then` when it is resolved with a transaction.
      if (typeof name !== 'string' || name === 'then') return undefined
      refuse(name)
      const model: unknown = Reflect.get(client(), name)
      if (!isModel(model)) return undefined
      return new Proxy(model, { get: (_, method) => bindMethod(model, method, run) })
    },
  })
}

/** @throws Error for what would leave the transaction, or mix those of different people */
function refuse(name: string): void {
  if (/^\$[a-z]/.test(name)) {
    throw new Error(
      `Prisma's ${name} is not available: the client works in the transaction that it was made for. Use tx.sql for SQL.`,
    )
  }
  if (name.startsWith('findUnique')) {
    throw new Error(
      `Prisma's ${name} is not available, since it merges the reads of several transactions: use ${name.replace('Unique', 'First')}.`,
    )
  }
}

/** Prisma sends nothing before its result is awaited, so that also happens in the transaction. */
function bindMethod(model: object, name: string | symbol, run: Run): unknown {
  if (typeof name === 'string') refuse(name)
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

const failing = `DO $$ BEGIN RAISE EXCEPTION 'A write of Prisma failed, so its transaction is rolled back.'; END $$`

/** What Prisma would do in a transaction of its own, such as nested writes, joins that of its caller. */
function joined(adapter: SqlDriverAdapter): AdapterTransaction {
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    options: { usePhantomQuery: true },
    queryRaw: (query) => adapter.queryRaw(query),
    executeRaw: (query) => adapter.executeRaw(query),
    async commit() {},
    // A part of the transaction cannot be undone alone, so nothing of it is committed, as after an error of PostgreSQL.
    async rollback() {
      await adapter.executeRaw({ sql: failing, args: [], argTypes: [] }).catch(() => {})
    },
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
