import type { Field } from './field.ts'

type Guarded = { readonly key: string; readonly permission: NonNullable<Field['permission']> }

const known = new WeakMap<object, readonly Guarded[]>()

/**
 * The fields that need a permission, each with its permission. Found once for each resource, since
 * every row needs them.
 */
export function guardedOf(fields: Readonly<Record<string, Field>>): readonly Guarded[] {
  const found = known.get(fields) ?? findGuarded(fields)
  known.set(fields, found)
  return found
}

function findGuarded(fields: Readonly<Record<string, Field>>): Guarded[] {
  return Object.entries(fields).flatMap(([key, { permission }]) =>
    permission === undefined ? [] : [{ key, permission }],
  )
}
