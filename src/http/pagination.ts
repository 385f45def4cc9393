import { sha256 } from '#src/crypto/hash.ts'
import { Problem } from './problems.ts'

/** Where a page of a list begins: behind the row with this key, in the list's order. */
export type Position = readonly string[]

/** Which part of a list is asked for. */
export type Page = { readonly limit: number; readonly after: Position | null }

/** Form of a 64-bit id in a cursor: 2^53 − 1 has 16 digits. */
export const idForm = /^[1-9]\d{0,15}$/

const defaultLimit = 50
const checksumLength = 11 // 8 bytes of base64url

/**
 * Reads `?limit&cursor`, whose form the schema has checked.
 * @param list name of the list: a cursor of another list is not one of this
 * @param forms form of each part of the list's key
 * @throws Refusal `malformed` for a cursor that this program did not make
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
 * One page of the rows that a query for `limit + 1` found: one more than fits says that there is a
 * next page.
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

/** The rows of the page in a list by id, newest first (form of its cursor: `idForm`). */
export function olderThan({ after }: Page): { id?: { lt: bigint } } {
  const [last] = after ?? []
  return last === undefined ? {} : { id: { lt: BigInt(last) } }
}

/**
 * A page of a list that grows at its end: the cursor behind the last row, for now and for later;
 * null when there is nothing behind the cursor that was given, which stays good.
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
 * A cursor is opaque and no authority: whose rows are seen is the query's scope. The checksum makes
 * a changed or foreign one a 400 instead of a surprise.
 */
function write(position: Position, list: string): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url')
  return `${checksum(text, list)}${text}`
}

function read(cursor: string, list: string, forms: readonly RegExp[]): Position {
  const text = cursor.slice(checksumLength)
  const valid = /^[\w-]+$/.test(text) && cursor.slice(0, checksumLength) === checksum(text, list)
  const position = valid ? parse(text) : null
  const keepsForm =
    position?.length === forms.length &&
    forms.every((form, index) => form.test(position[index] ?? ''))
  if (position === null || !keepsForm) {
    throw new Problem('malformed', { detail: 'The cursor is not one of this list.' })
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
