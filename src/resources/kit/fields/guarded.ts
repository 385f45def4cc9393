import type { Field } from './field.ts'

type Guarded = { readonly key: string; readonly permission: NonNullable<Field['permission']> }

const known = new WeakMap<object, readonly Guarded[]>()

/** The fields that need a permission, with it. Found once for each resource, since every row is asked for them. */
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
