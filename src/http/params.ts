import { Problem } from './problems.ts'

/** A path id that passed its schema, as a number. Out of range is not found, before any query. */
export function readId(text: string): number {
  const id = Number(text)
  if (!Number.isSafeInteger(id)) throw new Problem('not-found')
  return id
}

/** The row, or the one 404 that says neither "missing" nor "not yours". */
export function found<Row>(row: Row | null): Row {
  if (row === null) throw new Problem('not-found')
  return row
}

/** Whether a body of this content type is a browser's form, which wants a page to go to next. */
export function isForm(contentType: string | undefined): boolean {
  return contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
}
