import { sha256 } from '#src/crypto/hash.ts'
import { Problem } from './problems.ts'

/** The sort key of the last row of a page; the next page begins after it. */
export type Position = readonly string[]

/** The requested page of a list. */
export type Page = { readonly limit: number; readonly after: Position | null }

/** Pattern of a 64-bit id in a cursor: 2^53 − 1 has 16 digits. */
export const idForm = /^[1-9]\d{0,15}$/

/** Pattern of a UUID as PostgreSQL writes it: lower case, no URN form, no braces. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const defaultLimit = 50
const checksumLength = 11 // 8 bytes of base64url

/**
 * Reads `?limit&cursor`, which the schema has already validated.
 * @param list name of the list; the cursor of another list is rejected
 * @param forms pattern of each part of the list's sort key
 * @throws Problem `malformed` for a cursor that this program did not create
 */
export function readPage(
  query: { limit?: string; cursor?: string },
  list: string,
  forms: readonly RegExp[],
): Page {
  const limit = query.limit === undefined ? defaultLimit : Number(query.limit)
  return { limit, after: query.cursor === undefined ? null : read(query.cursor, list, forms) }
}

/**
 * Builds one page from a query for `limit + 1` rows; the additional row shows that there is a next
 * page.
 */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  { limit }: Page,
  list: string,
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): { data: Item[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const more = rows.length > limit && last !== undefined
  return { data: shown.map(toItem), nextCursor: more ? write(positionOf(last), list) : null }
}

/** Prisma `where` for a page of a list by id, newest first (cursor pattern: `idForm`). */
export function olderThan({ after }: Page): { id?: { lt: bigint } } {
  const [last] = after ?? []
  return last === undefined ? {} : { id: { lt: BigInt(last) } }
}

/**
 * Builds a page of a feed, a list that grows at its end. The cursor is always that of the last row,
 * to continue from later; it is null for an empty page, where the given cursor stays valid.
 */
export function feedOf<Row, Item>(
  rows: readonly Row[],
  list: string,
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): { data: Item[]; nextCursor: string | null } {
  const last = rows.at(-1)
  return { data: rows.map(toItem), nextCursor: last ? write(positionOf(last), list) : null }
}

/**
 * A cursor is opaque and grants nothing: the scope of the query decides which rows are visible. The
 * checksum makes a modified cursor, or one of another list, a 400.
 */
function write(position: Position, list: string): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url')
  return `${checksum(text, list)}${text}`
}

function read(cursor: string, list: string, forms: readonly RegExp[]): Position {
  const text = cursor.slice(checksumLength)
  const valid = /^[\w-]+$/.test(text) && cursor.slice(0, checksumLength) === checksum(text, list)
  const position = valid ? parse(text) : null
  const hasForm =
    position?.length === forms.length &&
    forms.every((form, index) => form.test(position[index] ?? ''))
  if (position === null || !hasForm) {
    throw new Problem('malformed', { detail: 'The cursor does not belong to this list.' })
  }
  return position
}

function parse(text: string): Position | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(value) && value.every((part) => typeof part === 'string') ? value : null
  } catch {
    return null
  }
}

function checksum(text: string, list: string): string {
  return sha256(`${list}:${text}`).subarray(0, 8).toString('base64url')
}
