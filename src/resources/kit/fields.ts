import Type, { type TSchema } from 'typebox'
import { IdFilter } from '#src/http/lists/query.ts'
import { Id, Line, Nullable, Text, Time, Uuid } from '#src/http/schemas.ts'
import { currencyPattern } from '#src/runtime/currencies.ts'

/** The facts about the caller that new rows and conditions depend on. A service has no user and no role. */
export type Asking = {
  readonly userId: number | null
  readonly tenantId: string | null
  readonly role: string | null
  readonly department: string | null
}

/** The types of columns, and what Prisma has for each. */
export type ColumnTypes = {
  text: string
  bigint: bigint
  integer: number
  boolean: boolean
  uuid: string
  timestamptz: Date
  jsonb: unknown
}

/** How a form asks for a field; null if a form cannot. */
export type Input =
  | { readonly as: 'line' | 'text'; readonly maxLength: number }
  | { readonly as: 'choice'; readonly values: readonly string[] }
  | { readonly as: 'number'; readonly minimum: number; readonly maximum: number }
  | { readonly as: 'yes-no' }
  | { readonly as: 'folder' }

/** One column: how it is stored, shown and written. */
export type Field<
  Column extends keyof ColumnTypes = keyof ColumnTypes,
  IsNullable extends boolean = boolean,
  Shown extends TSchema = TSchema,
  Written extends TSchema | null = TSchema | null,
> = {
  readonly column: Column
  readonly isNullable: IsNullable
  /** In responses and events. */
  readonly shown: Shown
  /** In bodies; null if clients never write it. */
  readonly written: Written
  /** In the query of a list; null if it cannot be a filter. */
  readonly filter: TSchema | null
  readonly input: Input | null
  /** The value of a new row if the body has none. */
  readonly initial?: (asking: Asking, now: Date) => unknown
  /** Every change sets it to the current time. */
  readonly isTouched?: true
  /** Responses leave it out while it is null. */
  readonly isOmitted?: true
  /** In no response and no event. */
  readonly isHidden?: true
  /** A currency: a new row without one gets that of the setting CURRENCY. */
  readonly isCurrency?: true
  /** A person: rows of this person are part of their export, and pages show the name. */
  readonly isPerson?: true
  /** The service token that wrote the row instead of a person. */
  readonly isService?: true
}

export type Fields = Readonly<Record<string, Field>>

type Facets = Partial<Omit<Field, 'column' | 'isNullable' | 'shown' | 'written'>>

/** A field of any kind. The functions below make the usual ones. */
export function field<
  const Column extends keyof ColumnTypes,
  Shown extends TSchema,
  Written extends TSchema | null = null,
>(
  column: Column,
  shown: Shown,
  { written = null as Written, ...facets }: Facets & { readonly written?: Written } = {},
): Field<Column, false, Shown, Written> {
  return { filter: null, input: null, ...facets, column, isNullable: false, shown, written }
}

/** The column can be null: a body may leave the field out, and a change may set it to null. */
export function optional<
  Column extends keyof ColumnTypes,
  Shown extends TSchema,
  Written extends TSchema | null,
>({ shown, ...rest }: Field<Column, false, Shown, Written>) {
  return { ...rest, shown: Nullable(shown), isNullable: true as const }
}

/** Sets the value of a new row whose body has none. */
export function initially<One extends Field>(
  one: One,
  initial: (asking: Asking, now: Date) => unknown,
) {
  return { ...one, initial }
}

/** Leaves the field out of responses and events. */
export function hidden<One extends Field>(one: One) {
  return { ...one, isHidden: true as const }
}

/** One line of text. */
export const line = (maxLength: number, description?: string) =>
  field('text', Type.String(described(description)), {
    written: Line(maxLength),
    filter: Type.Optional(Line(maxLength)),
    input: { as: 'line', maxLength },
  })

/** Text of any number of lines. */
export const text = (maxLength: number, description?: string) =>
  field('text', Type.String(described(description)), {
    written: Text(maxLength),
    input: { as: 'text', maxLength },
  })

/** One of several words. */
export const choice = <const Word extends string>(...values: readonly Word[]) =>
  field('text', Type.Enum([...values]), {
    written: Type.Enum([...values]),
    filter: Type.Optional(Type.Enum([...values])),
    input: { as: 'choice', values },
  })

/** A whole number that JSON keeps exactly. */
export const integer = (
  description?: string,
  { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = {},
) =>
  field('bigint', Type.Integer(described(description)), {
    written: Type.Integer({ minimum, maximum }),
    input: { as: 'number', minimum, maximum },
  })

/** True or false. */
export const flag = (description?: string) =>
  field('boolean', Type.Boolean(described(description)), {
    written: Type.Boolean(),
    input: { as: 'yes-no' },
  })

/**
 * A currency by its code of ISO 4217.
 * @param initial of a new row, if neither its body nor the setting CURRENCY names one
 */
export const currency = (initial: string) =>
  field('text', Type.String({ description: 'ISO 4217, such as `EUR`' }), {
    written: Type.String({
      pattern: currencyPattern,
      examples: ['EUR'],
      description: 'ISO 4217, such as `EUR`; that of the setting `CURRENCY` by default',
    }),
    initial: () => initial,
    isCurrency: true,
  })

/** A value with a schema of its own. Pages show and write no JSON. */
export const json = <Shown extends TSchema, Written extends TSchema>(
  shown: Shown,
  written: Written,
) => field('jsonb', shown, { written })

export const id = () => field('bigint', Id)

export const tenant = (description?: string) =>
  field('uuid', Uuid, {
    filter: Type.Optional(Type.String({ ...Uuid, ...described(description) })),
  })

export const created = () => field('timestamptz', Time, { initial: (_, now) => now })

export const updated = () =>
  field('timestamptz', Time, { initial: (_, now) => now, isTouched: true })

/** The folder of a row with the scope `chain`: its team reaches the row. */
export const folder = () =>
  field('bigint', Id, {
    written: Id,
    filter: IdFilter('In this folder, not in the folders within it'),
    input: { as: 'folder' },
  })

/** The owner of a row with the scope `owner`. */
export const owner = () => field('bigint', Id, { isPerson: true })

/** The member who created the row. */
export const author = (description = 'null after the author has left') =>
  optional(
    field('bigint', Type.Integer({ ...Id, description }), {
      filter: IdFilter('Written by this user'),
      initial: ({ userId }) => userId,
      isPerson: true,
    }),
  )

/** The service token that created the row. The database fills it in. */
export const authorService = () => ({
  ...field(
    'uuid',
    Type.Optional(
      Type.String({
        ...Uuid,
        description: 'The service token that created it; missing if it was a person',
      }),
    ),
    { isOmitted: true, isService: true },
  ),
  isNullable: true as const,
})

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description }
}
