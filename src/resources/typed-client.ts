/**
 * The models of a Prisma client that the app has generated. Without what begins with `$`, since a client has no
 * connection and no transaction of its own: `tx.sql` runs SQL. Without `findUnique`: outside of its own transactions
 * Prisma merges those of one moment into one statement, which would mix the reads of different people.
 */
export type ModelsOf<Client> = {
  readonly [Name in Exclude<keyof Client, `$${string}` | symbol>]: Omit<
    Client[Name],
    'findUnique' | 'findUniqueOrThrow' | symbol
  >
}

/**
 * The models of a Prisma client, whose statements run in this transaction, under row-level security.
 * @param PrismaClient the class that `prisma generate` has written for generated/schema.prisma
 */
export type UsePrisma = <Client extends object>(
  PrismaClient: new (options: never) => Client,
) => ModelsOf<Client>
