import { Problem } from './problems.ts'

/** Converts a path id that passed its schema. An id out of range is a 404 without a query. */
export function readId(text: string): number {
  const id = Number(text)
  if (!Number.isSafeInteger(id)) throw new Problem('not-found')
  return id
}

/** Returns the row, or throws the 404 that is the same for missing and foreign rows. */
export function found<Row>(row: Row | null): Row {
  if (row === null) throw new Problem('not-found')
  return row
}
