import type { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'

/** A statement that leaves in one packet with its entry, and whose rows are the result. */
export function rowsOf<Row extends object>(statement: Prisma.Sql) {
  return oneStatement(statement, (rows: Row[]) => rows)
}

/** The same with the facts of the entry. */
export function rowsAndFactsOf<Facts>(statement: Prisma.Sql) {
  return oneStatement(statement, (rows: object[], facts: Facts) => ({ rows, facts }))
}
