import type { Prisma } from './generated/client.ts'

/**
 * A transaction that a credential has opened; domain functions take one and nothing else does.
 * Without `findUnique`: outside of its own transactions Prisma merges those of one moment into one
 * statement, which would mix the reads of different people.
 */
export type Tx = {
  [Member in keyof Prisma.TransactionClient]: Member extends `$${string}`
    ? Prisma.TransactionClient[Member]
    : Omit<Prisma.TransactionClient[Member], 'findUnique' | 'findUniqueOrThrow'>
}
