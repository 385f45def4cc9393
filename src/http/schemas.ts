import Type, { type TSchema } from 'typebox'
import { lineCharacter, seenCharacter } from '#src/runtime/text.ts'
import { type ErrorCode, errorCodes, errorTable, problemType } from './problems.ts'

/**
 * A schema with what its value means, for the API description: the unit, when it is null, the standard.
 * It stays optional if it was. A schema with a title keeps its description, which is of all its uses:
 * src/http/openapi/components.ts puts what it means here beside the reference to it.
 */
export function means<T extends TSchema>(schema: T, words: string): T {
  const meaning = 'title' in schema ? { $comment: words } : { description: words }
  const { description: _, $comment: __, ...marks } = Object.getOwnPropertyDescriptors(schema)
  const { description } = schema as { description?: string }
  return Object.defineProperties(
    { ...schema, ...(description !== undefined && { description }), ...meaning },
    marks,
  )
}

/** 64-bit ids are JSON integers up to 2^53 − 1 (contract 3). */
export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** Pattern of a UUID as PostgreSQL writes it: lower case, no URN form, no braces. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Only the canonical form: an id has one text, in paths, bodies, forms and cursors. */
export const Uuid = Type.String({ format: 'uuid', pattern: uuidForm.source })

/** RFC 3339 in UTC. */
export const Time = Type.String({ format: 'date-time' })

/** A date of the calendar (RFC 3339, full-date). */
export const CalendarDate = Type.String({ format: 'date', examples: ['2026-01-31'] })

const explanations = new Map<string, string>()

/** Sets what a problem says about a text that does not match a pattern. @returns the pattern */
export function explained(pattern: string, words: string): string {
  explanations.set(pattern, words)
  return pattern
}

/** The words that `explained` has set for a pattern. */
export function explanationOf(pattern: string): string | undefined {
  return explanations.get(pattern)
}

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** One line that is not blank, without control and hidden characters. */
export const Line = (maxLength: number, description?: string) =>
  Type.String({
    ...{ minLength: 1, maxLength, pattern: `^(?=.*${seenCharacter})${lineCharacter}+$` },
    ...(description !== undefined && { description }),
  })

export const TenantName = Type.Object(
  { name: Line(200, 'For people; several tenants may have the same') },
  { title: 'TenantName', additionalProperties: false },
)

/** A `Line` in a form, where an empty field means none. */
export const OptionalLine = (maxLength: number) =>
  Type.String({ maxLength, pattern: `^${lineCharacter}*$` })

/** Text that is not blank, of any number of lines, without NUL and lone surrogates. */
export const Text = (maxLength: number, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: `^(?=[\\s\\S]*${seenCharacter})[^\\u0000\\p{Cs}]+$`,
    ...(description !== undefined && { description }),
  })

/** A `Text` in a form, where an empty field means none. */
export const OptionalText = (maxLength: number) =>
  Type.String({ maxLength, pattern: '^[^\\u0000\\p{Cs}]*$' })

/** ASCII without spaces and control characters, as in the value of a header. */
export const VisibleAscii = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[!-~]+$' })

/** The value of `If-Match` (RFC 9110, section 13.1.1). */
export const EntityTags = Type.String({
  maxLength: 1_000,
  pattern: '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$',
})

/**
 * A problem (RFC 9457). `type` is the path of a page about it; `instance` is the request id; only
 * malformed requests and values that exist already have `errors`.
 */
export const ProblemBody = Type.Object(
  {
    type: Type.String({
      description: 'Identifies the problem: the path of its page, such as `/docs/errors/not-found`',
    }),
    title: Type.String({
      description: 'The problem in a few words, the same for each of its type',
    }),
    status: Type.Integer({ description: 'The status code of the response' }),
    detail: Type.Optional(
      Type.String({
        description: 'What is wrong with this request, for people; programs read `type`',
      }),
    ),
    instance: Type.String({
      description: 'The request ID, which the log of the server has too; for questions about it',
    }),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            in: Type.Enum(['path', 'query', 'body', 'header'], {
              description: 'The part of the request that has the value',
            }),
            pointer: Type.String({
              description: 'JSON Pointer (RFC 6901) to the value; empty for all of that part',
            }),
            detail: Type.String({ description: 'What the value must be, for people' }),
          },
          { title: 'FieldError' },
        ),
        {
          description: 'Every refused value of a malformed request, at most 20, or 100 of a batch',
        },
      ),
    ),
  },
  { title: 'Problem' },
)

type Status<One extends number | ErrorCode> = One extends ErrorCode
  ? (typeof errorTable)[One]['status']
  : One

/**
 * Response schemas of the problems that a route can answer with, by status or by code. A status stands
 * for the codes that every route with such access has (plugins/api/openapi.ts); a 409 needs its codes.
 */
export function problems<const Expected extends readonly (number | ErrorCode)[]>(
  ...expected: Expected
) {
  return withProblems({}, ...expected) as Record<Status<Expected[number]>, typeof ProblemBody>
}

/** The response schemas of a route with further problems. */
export function withProblems(
  response: object,
  ...further: readonly (number | ErrorCode)[]
): Record<string, unknown> {
  const all = new Map<string, unknown>(Object.entries(response))
  for (const one of further) {
    const status = String(typeof one === 'number' ? one : errorTable[one].status)
    const codes = [...codesOf(all.get(status)), ...(typeof one === 'number' ? [] : [one])]
    all.set(status, codes.length === 0 ? ProblemBody : problemOf([...new Set(codes)]))
  }
  return Object.fromEntries(all)
}

/** The schema of a problem with one of these codes. */
export function problemOf(codes: readonly ErrorCode[]): typeof ProblemBody {
  const type = Type.String({ enum: codes.map(problemType) })
  return Type.Object({ ...ProblemBody.properties, type }, { title: 'Problem' })
}

/** The codes that a response schema of a problem names; none if it only has a status. */
export function codesOf(schema: unknown): ErrorCode[] {
  const type = Object(Object(Object(schema).properties).type)
  const types: readonly unknown[] = Array.isArray(type.enum) ? type.enum : []
  return errorCodes.filter((code) => types.includes(problemType(code)))
}

/** The response of an operation without content. @param description what has happened */
export const NoContent = (description: string) => Type.Null({ description })

/** A numeric path id: decimal digits without sign or leading zero; anything else is a 400. */
export const IdParams = Type.Object(
  { id: Type.String({ pattern: '^(0|[1-9][0-9]*)$' }) },
  { additionalProperties: false },
)

/** A path id that is a UUID in its canonical form; anything else is a 400. */
export const UuidParams = Type.Object({ id: Uuid }, { additionalProperties: false })

/** An optional body without fields. */
export const NoBody = Nullable(Type.Object({}, { title: 'Empty', additionalProperties: false }))

/** The query of an operation without parameters. */
export const NoQuery = Type.Object({}, { additionalProperties: false })

/**
 * Page of a list (contract 3). `limit` is a string, like every query parameter; the API description
 * shows the integer (src/http/openapi/description.ts).
 */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        description: 'Items of a page at most; it ends earlier once it has 1 MiB',
      }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 2_000, description: '`nextCursor` of the previous page' }),
    ),
  },
  { additionalProperties: false },
)

/** The query of a list on a page in a browser, which decides how many rows it shows. */
export const CursorQuery = Type.Object(
  { cursor: PageQuery.properties.cursor },
  { additionalProperties: false },
)

const forNext = 'Give it as `cursor` to read the next page; null on the last page'

/**
 * One page of a list; `nextCursor` is null on the last page.
 * @param next what `nextCursor` is for, where it is another thing
 */
export const PageOf = <T extends TSchema & { title?: string }>(item: T, next = forNext) =>
  Type.Object(
    {
      data: Type.Array(item, { description: 'What this page has, in the order of the list' }),
      nextCursor: Nullable(Type.String({ description: next })),
    },
    { title: `${item.title}Page` },
  )

/** The schema of a route's headers with one more, which may be left out. */
export function withHeader(headers: unknown, name: string, schema: TSchema): TSchema {
  const { properties = {} } = Object(headers)
  return Type.Object({ ...properties, [name]: Type.Optional(schema) })
}
