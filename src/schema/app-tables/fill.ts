import pg from 'pg'
import { Value } from 'typebox/value'
import type { Field } from '#src/resources/kit/fields/field.ts'

/**
 * SQL for the value that existing rows get.
 * @param text as the command line has it: a text as it is, anything else as JSON
 * @returns null if the field does not accept it
 */
export function fillOf({ column, written, shown }: Field, text: string): string | null {
  const value = isText.has(column) ? text : parsed(text)
  if (value === undefined || !Value.Check(written ?? shown, value)) return null
  return pg.escapeLiteral(text)
}

/** Columns whose values are strings in JSON. */
const isText: ReadonlySet<string> = new Set(['text', 'uuid', 'timestamptz', 'date', 'numeric'])

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
