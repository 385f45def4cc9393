import Type, { type TSchema } from 'typebox'

/** The schema of a route's headers with one more, which may be left out. */
export function withHeader(headers: unknown, name: string, schema: TSchema): TSchema {
  const known = isObject(headers) && isObject(headers.properties) ? headers.properties : {}
  return Type.Object({ ...known, [name]: Type.Optional(schema) } as Record<string, TSchema>)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
