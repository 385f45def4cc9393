import { Prisma } from '#src/db/generated/client.ts'
import { isReadInReverse, type Page, type Position } from '#src/http/lists/pagination.ts'
import { uuidForm } from '#src/http/schemas.ts'
import { storableTimes } from '#src/http/times.ts'

/** Forms of a cursor by creation time: milliseconds since 1970, and the id. */
export const creationForms = [/^\d{1,13}$/, uuidForm]

/**
 * The arguments of `findMany` for a page of a list, newest first, with one row more than fits on
 * the page. Only for tables whose `created_at` holds whole milliseconds, as a JavaScript date does.
 */
export function byCreation(page: Page) {
  const [millis, id] = page.after ?? []
  const inReverse = isReadInReverse(page)
  const direction = inReverse ? ('asc' as const) : ('desc' as const)
  return {
    where:
      millis === undefined || id === undefined
        ? {}
        : beyond(new Date(Number(millis)), id, inReverse),
    orderBy: [{ createdAt: direction }, { id: direction }],
    take: page.limit + 1,
  }
}

/** The rows after the cursor. `lte` alone is a range of the index, which an OR would not be. */
function beyond(createdAt: Date, id: string, inReverse: boolean) {
  return inReverse
    ? { AND: [{ createdAt: { gte: createdAt } }], NOT: { createdAt, id: { lte: id } } }
    : { AND: [{ createdAt: { lte: createdAt } }], NOT: { createdAt, id: { gte: id } } }
}

export function creationPosition({ createdAt, id }: { createdAt: Date; id: string }): Position {
  return [String(createdAt.getTime()), id]
}

/** A filter by time: at or after `from`, before `to` (RFC 3339). */
export type TimeRange = { readonly from?: string | undefined; readonly to?: string | undefined }

/**
 * A Prisma filter on a time; undefined for the whole range. A missing bound becomes the earliest or
 * latest storable time, so that there are two texts of the statement to prepare and not four.
 */
export function within({ from, to }: TimeRange): { gte: Date; lt: Date } | undefined {
  if (from === undefined && to === undefined) return undefined
  const [first, last] = storableTimes()
  return {
    gte: from === undefined ? first : new Date(from),
    lt: to === undefined ? last : new Date(to),
  }
}

/** A time range as conditions of a hand-written statement. */
export function timeConditions(column: Prisma.Sql, { from, to }: TimeRange): Prisma.Sql[] {
  if (from === undefined && to === undefined) return []
  const [begin, end] = [from ?? '-infinity', to ?? 'infinity']
  return [
    Prisma.sql`${column} >= ${begin}::timestamptz`,
    Prisma.sql`${column} < ${end}::timestamptz`,
  ]
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
export function newestFirst(page: Page): Prisma.Sql {
  const [micros, id] = page.after ?? []
  const last =
    micros === undefined || id === undefined
      ? null
      : [timeOfMicroseconds(micros), Prisma.sql`${id}::uuid`]
  return keyset([Prisma.sql`created_at`, Prisma.sql`id`], last, page)
}

export function timeOfMicroseconds(micros: string): Prisma.Sql {
  return Prisma.sql`'epoch'::timestamptz + ${micros}::bigint * interval '1 microsecond'`
}

/**
 * The end of a hand-written statement for a page of a list: the rows after the cursor, in order, one
 * more than fits on the page.
 * @param keys sort key of the list, whose own order is descending
 * @param last values of the cursor's row; null for the first page
 */
export function keyset(
  keys: readonly Prisma.Sql[],
  last: readonly Prisma.Sql[] | null,
  page: Page,
): Prisma.Sql {
  const inReverse = isReadInReverse(page)
  const direction = inReverse ? Prisma.sql`ASC` : Prisma.sql`DESC`
  const order = Prisma.join(keys.map((key) => Prisma.sql`${key} ${direction}`))
  const row = Prisma.join([...keys])
  const rest =
    last === null
      ? Prisma.sql`true`
      : Prisma.sql`(${row}) ${inReverse ? Prisma.sql`>` : Prisma.sql`<`} (${Prisma.join([...last])})`
  return Prisma.sql`${rest} ORDER BY ${order} LIMIT ${page.limit + 1}`
}

/** A page ends once its rows have so many bytes, so that an answer is bounded whatever people write. */
export const maxPageBytes = 1_048_576

/**
 * A statement for a page of a list whose rows can be large: the first of its rows, up to the one that
 * reaches `maxPageBytes`. `pageOf` reads from `rows_found` that there are more. No field of a resource has such a name.
 * @param rows a statement with an order and a limit
 * @param bytes of a row, by the names of its columns
 */
export function withinBytes(rows: Prisma.Sql, bytes: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT * FROM (
      SELECT listed.*, (count(*) OVER ())::int AS rows_found,
        sum(${bytes}) OVER (ROWS UNBOUNDED PRECEDING) - (${bytes}) AS bytes_before
      FROM (${rows}) AS listed
    ) AS measured WHERE bytes_before < ${maxPageBytes}`
}
