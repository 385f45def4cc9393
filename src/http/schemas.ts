import Type, { type TSchema } from 'typebox'

/** 64-bit ids are JSON integers up to 2^53 − 1 (contract 3). */
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const Uuid = Type.String({ format: 'uuid' })

/** RFC 3339 in UTC. */
export const Time = Type.String({ format: 'date-time' })

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** One line that says something; no control characters (PostgreSQL refuses NUL), no half ones. */
export const Line = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]+$' })

/** Lines of text that say something; no NUL, no half characters. */
export const Text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^(?=[\\s\\S]*\\S)[^\\u0000\\p{Cs}]+$' })

/** RFC 9457. `instance` is the request id; `errors` is there for malformed requests only. */
export const ProblemBody = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.Optional(Type.String()),
    instance: Type.String(),
    errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  },
  { $id: 'Problem', title: 'Problem' },
)

/** Response schemas of the refusals a route may give. */
export function problems<const Status extends number>(...statuses: readonly Status[]) {
  const entries = statuses.map((status) => [status, ProblemBody] as const)
  return Object.fromEntries(entries) as Record<Status, typeof ProblemBody>
}

/** A path id: canonical decimal, no sign, no leading zero; anything else is malformed (400). */
export const IdParams = Type.Object(
  { id: Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'An integer' }) },
  { additionalProperties: false },
)

/** A path id that is a uuid; anything else is malformed (400). */
export const UuidParams = Type.Object({ id: Uuid }, { additionalProperties: false })

/** A body that may be left out, as there is nothing to say in it. */
export const NoBody = Nullable(Type.Object({}, { additionalProperties: false }))

/** Which part of a list (contract 3). `limit` is text here: a query has nothing else. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 50 by default' }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 2_000, description: '`nextCursor` of the page before' }),
    ),
  },
  { additionalProperties: false },
)

/** One page of a list; `nextCursor` is null on the last one. */
export const PageOf = <T extends TSchema>(item: T) =>
  Type.Object({ data: Type.Array(item), nextCursor: Nullable(Type.String()) })
