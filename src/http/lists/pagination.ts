import { sha256 } from '#src/crypto/hash.ts'
import { Problem } from '#src/http/problems.ts'

/** The sort key of the last row of a page; the next page begins after it. */
export type Position = readonly string[]

/** The requested page of a list. */
export type Page = {
  readonly limit: number
  /** The page begins after this row; null for the first page. */
  readonly after: Position | null
  /** The page ends before `after` instead: a previous page. */
  readonly isBackward?: boolean
  /** The reverse of the list's own order. */
  readonly isReversed?: boolean
  /** Filters and order that the cursors of the page belong to; empty for none. */
  readonly binding?: string
}

/** One page of a list. Routes send the cursor of the previous page in the `Link` header only. */
export type PageResult<Item> = {
  data: Item[]
  nextCursor: string | null
  previousCursor: string | null
  /** If it was asked for. */
  count?: Count
}

/** How many rows a list has, up to `maxCounted`. */
export type Count = {
  rows: number
  /** Whether there may be more. */
  more: boolean
}

/** A count looks at one row more than this, so its cost does not grow with the list. */
export const maxCounted = 1_000

/** Pattern of a 64-bit id in a cursor: 2^53 − 1 has 16 digits. */
export const idForm = /^[1-9]\d{0,15}$/

const defaultLimit = 50
const checksumLength = 11 // 8 bytes of base64url

type PageQuery = { limit?: string; cursor?: string; sort?: string }

/**
 * Reads `?limit&cursor&sort`, which the schema has already validated.
 * @param list name of the list; the cursor of another list is rejected
 * @param forms pattern of each part of the list's sort key
 * @param filter what the list is filtered by; the cursor of another filter is rejected
 * @throws Problem `malformed` for a cursor that this program did not create
 */
export function readPage(
  { limit, cursor, sort }: PageQuery,
  list: string,
  forms: readonly RegExp[],
  filter: object = {},
): Page {
  // A list is newest first: `-createdAt`. `createdAt` is the reverse.
  const isReversed = sort !== undefined && !sort.startsWith('-')
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  const bound = [...given.sort(), ...(isReversed ? [['sort', sort]] : [])]
  const binding = bound.length === 0 ? '' : JSON.stringify(bound)
  const from =
    cursor === undefined
      ? { after: null, isBackward: false }
      : read(cursor, `${list}${binding}`, forms)
  return {
    limit: limit === undefined ? defaultLimit : Number(limit),
    ...from,
    isReversed,
    binding,
  }
}

/** Reads the query of a list: its page, and every other parameter as its filter. */
export function readList<Query extends PageQuery>(
  query: Query,
  { name, forms }: { name: string; forms: readonly RegExp[] },
): { page: Page; filter: Omit<Query, 'limit' | 'cursor' | 'sort'> } {
  const { limit, cursor, sort, ...filter } = query
  const asked = {
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...(sort !== undefined && { sort }),
  }
  return { page: readPage(asked, name, forms, filter), filter }
}

/**
 * Whether the rows of a page are read in the reverse of the list's own order: a list in reverse, or a
 * previous page.
 */
export function isReadInReverse({ isBackward = false, isReversed = false }: Page): boolean {
  return isBackward !== isReversed
}

/** What a statement says about a row beside its values. No field of a resource has such a name. */
type ReadRow = {
  /** How many rows the statement found, if the page ends at a number of bytes (`withinBytes`). */
  readonly rows_found?: number
  /** The last row that a search looked at; `is_match` says whether it found it. */
  readonly is_end?: boolean
  readonly is_match?: boolean
}

/**
 * Builds one page from a query for `limit + 1` rows; the additional row shows that there is a further
 * page, or `rows_found`, or the end of a search. The rows of a previous page are read backwards from its end.
 */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  { limit, after, isBackward = false, binding = '' }: Page,
  list: string,
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): PageResult<Item> {
  const read = rows.slice(0, limit)
  const shown = isBackward ? read.toReversed() : read
  const facts = (row: Row | undefined): ReadRow => row ?? {}
  const isFurther = rows.length > limit || (facts(rows[0]).rows_found ?? 0) > rows.length
  const isMore = isFurther || facts(read.at(-1)).is_end === true
  const [top, last] = [shown.at(0), shown.at(-1)]
  const hasNext = isBackward || isMore
  const hasPrevious = isBackward ? isMore : after !== null
  const key = `${list}${binding}`
  return {
    data: shown.filter((row) => facts(row).is_match !== false).map(toItem),
    nextCursor: hasNext && last !== undefined ? write(positionOf(last), key) : null,
    previousCursor: hasPrevious && top !== undefined ? write(positionOf(top), backward(key)) : null,
  }
}

/** Prisma arguments for a page of a list by id, newest first (cursor pattern: `idForm`). */
export function byId(page: Page): {
  where: { id?: { lt?: bigint; gt?: bigint } }
  orderBy: { id: 'asc' | 'desc' }
  take: number
} {
  const [last] = page.after ?? []
  const inReverse = isReadInReverse(page)
  const id = last === undefined ? undefined : BigInt(last)
  return {
    where: id === undefined ? {} : { id: inReverse ? { gt: id } : { lt: id } },
    orderBy: { id: inReverse ? 'asc' : 'desc' },
    take: page.limit + 1,
  }
}

/**
 * Builds a page of a feed, a list that grows at its end. The cursor is always that of the last row,
 * to continue from later; it is null for an empty page, where the given cursor stays valid.
 */
export function feedOf<Row, Item>(
  rows: readonly Row[],
  { binding = '' }: Page,
  list: string,
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): { data: Item[]; nextCursor: string | null } {
  const last = rows.at(-1)
  return {
    data: rows.map(toItem),
    nextCursor: last ? write(positionOf(last), `${list}${binding}`) : null,
  }
}

/** The key of the cursors that lead to a previous page. */
function backward(key: string): string {
  return `${key}<`
}

/**
 * A cursor is opaque and grants nothing: the scope of the query decides which rows are visible. The
 * checksum makes a modified cursor, or one of another list, filter or order, a 400.
 * @param key list, filters, order and direction of the cursor
 */
function write(position: Position, key: string): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url')
  return `${checksum(text, key)}${text}`
}

function read(
  cursor: string,
  key: string,
  forms: readonly RegExp[],
): { after: Position; isBackward: boolean } {
  const text = cursor.slice(checksumLength)
  const sum = cursor.slice(0, checksumLength)
  const isBackward = sum === checksum(text, backward(key))
  const valid = /^[\w-]+$/.test(text) && (isBackward || sum === checksum(text, key))
  const position = valid ? parse(text) : null
  const hasForm =
    position?.length === forms.length &&
    forms.every((form, index) => form.test(position[index] ?? ''))
  if (position === null || !hasForm) {
    throw new Problem('malformed', {
      detail: 'The cursor does not belong to this list with these filters and this order.',
    })
  }
  return { after: position, isBackward }
}

function parse(text: string): Position | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(value) && value.every((part) => typeof part === 'string') ? value : null
  } catch {
    return null
  }
}

function checksum(text: string, key: string): string {
  return sha256(`${key}:${text}`).subarray(0, 8).toString('base64url')
}
