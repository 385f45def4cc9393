import type { Tx } from './database.ts'
import type { Prisma } from './generated/client.ts'
import type { Queryable } from './system-database.ts'

/** The rows of a statement, in a transaction of Prisma or on a connection. */
export async function selectRows<Selected extends object>(
  connection: Tx | Queryable,
  statement: Prisma.Sql,
): Promise<Selected[]> {
  if (!('query' in connection)) return connection.$queryRaw<Selected[]>(statement)
  const { text, values } = statement
  return (await connection.query<Selected>({ text, values })).rows
}
