import { Prisma } from '#src/db/generated/client.ts'
import { type Page, type Position, uuidForm } from '#src/http/pagination.ts'

/** Forms of a cursor by creation time: milliseconds since 1970, and the id. */
export const creationForms = [/^\d{1,13}$/, uuidForm]

/**
 * The arguments of `findMany` for a page of a list, newest first, with one row more than fits on
 * the page. Only for tables whose `created_at` holds whole milliseconds, as a JavaScript date does.
 */
export function byCreation({ limit, after }: Page) {
  const [millis, id] = after ?? []
  return {
    where: millis === undefined || id === undefined ? {} : behind(new Date(Number(millis)), id),
    orderBy: [{ createdAt: 'desc' as const }, { id: 'desc' as const }],
    take: limit + 1,
  }
}

/** The rows after the cursor. `lte` alone is a range of the index, which an OR would not be. */
function behind(createdAt: Date, id: string) {
  return { createdAt: { lte: createdAt }, NOT: { createdAt, id: { gte: id } } }
}

export function creationPosition({ createdAt, id }: { createdAt: Date; id: string }): Position {
  return [String(createdAt.getTime()), id]
}

/** Forms of a cursor of a `newestFirst` list: microseconds since 1970, and the id. */
export const newestFirstForms = [/^\d{1,16}$/, uuidForm]

/** The column of a `newestFirst` list that its cursor begins with. */
export const createdPosition = Prisma.sql`
  (extract(epoch FROM created_at) * 1000000)::bigint::text AS position`

/**
 * The end of a hand-written statement for a page of a list, newest first, with one row more than fits
 * on the page. For tables whose `created_at` is set by the database: it has microseconds, which a
 * JavaScript date would cut off.
 */
export function newestFirst({ limit, after }: Page): Prisma.Sql {
  const [micros, id] = after ?? []
  const rest =
    micros === undefined || id === undefined
      ? Prisma.sql`true`
      : Prisma.sql`(created_at, id) <
          ('epoch'::timestamptz + ${micros}::bigint * interval '1 microsecond', ${id}::uuid)`
  return Prisma.sql`${rest} ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`
}
