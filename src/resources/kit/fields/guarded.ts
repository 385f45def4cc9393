import type { Field } from './field.ts'

/** The fields that need a permission, with it. */
export function guardedOf(fields: Readonly<Record<string, Field>>) {
  return Object.entries(fields).flatMap(([key, { permission }]) =>
    permission === undefined ? [] : [{ key, permission }],
  )
}
