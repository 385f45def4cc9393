import { PrismaPg } from '@prisma/adapter-pg'
import { type Prisma, PrismaClient } from './generated/client.ts'
import { poolOptions, survivesBrokenConnections } from './pool-options.ts'
import { type ContextMode, inScope, type Scope, ScopedPool } from './scoped-pool.ts'

export type { Scope } from './scoped-pool.ts'

/** A transaction that carries its scope; every domain function takes one and nothing else does. */
export type Tx = Prisma.TransactionClient

export type Database = {
  /** Runs `work` in a READ ONLY transaction under `scope`. */
  read<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>
  /** Runs `work` in a transaction under `scope`; it is committed when `work` resolves. */
  write<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const transactionLimits = { maxWait: 2_000, timeout: 10_000 }

/**
 * The only way to owned and tenant rows: Prisma over the scoped pool, always inside a transaction
 * with a scope. There is no unscoped variant.
 * @param url connection of the application or worker role
 * @param size connections at most
 */
export function openDatabase(url: string, size: number, mode?: ContextMode): Database {
  const pool = survivesBrokenConnections(new ScopedPool(poolOptions(url, size), mode))
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' })
  return {
    read: (scope, work) =>
      inScope(scope, 'read', () => prisma.$transaction(work, transactionLimits)),
    write: (scope, work) =>
      inScope(scope, 'write', () => prisma.$transaction(work, transactionLimits)),
    async close() {
      await prisma.$disconnect()
      await pool.end()
    },
  }
}
