import Type, { type TNull, type TOptional, type TSchema, type TUnion } from 'typebox'
import { means, Nullable } from '#src/http/schemas.ts'
import type { Entitlements } from '../../plans.ts'
import type { ColumnTypes } from './columns.ts'
import type { Control, OnPage } from './control.ts'
import type { OnLeave } from './keys/member.ts'
import type { Reference } from './keys/reference.ts'

/** The facts about the caller that new rows and conditions depend on. A service has no user and no role. */
export type Asking = {
  readonly userId: number | null
  readonly tenantId: string | null
  readonly role: string | null
  readonly department: string | null
  readonly plan: string | null
  /** What the plan of a person gives. */
  readonly features?: Entitlements['features']
  readonly limits?: Entitlements['limits']
  /** The service token that asks instead of a person. */
  readonly serviceId: string | null
}

/**
 * One column: how it is stored, shown, written, asked for and exported. Everything that one kind of field does in
 * another way than the others stands in the file of the kind, beside this one.
 */
export type Field<
  Column extends keyof ColumnTypes = keyof ColumnTypes,
  IsNullable extends boolean = boolean,
  Shown extends TSchema = TSchema,
  Written extends TSchema | null = TSchema | null,
> = {
  readonly column: Column
  /** The type of the column with its limits, as PostgreSQL spells it, if the column alone does not say it. */
  readonly columnType?: string
  readonly isNullable: IsNullable
  /** What the app says that it means. Forms show it. */
  readonly description?: string
  /** In responses and events. */
  readonly shown: Shown
  /** In bodies; null if clients never write it. */
  readonly written: Written
  /** A value in the query of a list; null if it cannot be a filter. */
  readonly filter: TSchema | null
  /** The pattern of one of several values in the query of a list; without it a filter has one. */
  readonly oneOf?: string
  /** Lists can be sorted and filtered by a range. */
  readonly hasOrder?: true
  /** How a form asks for it; null if a form cannot. */
  readonly control: Control | null
  /** How a page shows a value; null if a page cannot. */
  readonly onPage: ((value: unknown) => OnPage) | null
  /** In a table it may take several lines. */
  readonly isLong?: true
  /** What replaces a value in the events of a row whose owner was erased. Without it the resource says so. */
  readonly neutral?: unknown
  /** Why no value is accepted, after the name of the field in a sentence. */
  readonly fault?: string
  /** The value in an example, if its schema does not say it. */
  readonly example?: (of: { readonly userId: number; readonly now: Date }) => unknown
  /** SQL of its value from the columns of other fields of the row: the database computes it, and no statement writes it. */
  readonly computes?: (columns: { readonly [field: string]: string }) => string
  /** The value of a new row if the body has none. */
  readonly initial?: (asking: Asking, now: Date) => unknown
  /** Every change sets it to the current time. */
  readonly isTouched?: true
  /** Responses leave it out while it is null. */
  readonly isOmitted?: true
  /** In no response and no event. */
  readonly isHidden?: true
  /** Who lacks it neither sees nor writes the field. */
  readonly permission?: `${string}:${string}`
  /** What the field was called before: its column is renamed instead of replaced. */
  readonly renamedFrom?: string
  /** A currency: a new row without one gets that of the setting CURRENCY. */
  readonly isCurrency?: true
  /** A person: rows of this person are part of their export, and pages show the name. */
  readonly isPerson?: true
  /** A member of the tenant, and what becomes of the field when they leave. */
  readonly onLeave?: OnLeave
  /** Rows of another resource. */
  readonly refersTo?: Reference
  /** The service token that wrote the row instead of a person. */
  readonly isService?: true
}

export type Fields = Readonly<Record<string, Field>>

type Facets = Partial<Omit<Field, 'column' | 'isNullable' | 'description' | 'shown' | 'written'>>

/**
 * A field of any kind. The functions of the files beside this one make the usual ones.
 * @param description what it means, for developers and in forms
 * @param usual what it is, for developers, if the app does not say what it means
 */
export function field<
  const Column extends keyof ColumnTypes,
  Shown extends TSchema,
  Written extends TSchema | null = null,
>(
  column: Column,
  shown: Shown,
  {
    written = null as Written,
    usual,
    description,
    ...facets
  }: Facets & {
    readonly written?: Written
    readonly usual?: string
    readonly description?: string | undefined
  } = {},
): Field<Column, false, Shown, Written> {
  const words = description ?? usual
  return {
    ...{ filter: null, control: null, onPage: asText, ...facets },
    ...{ column, isNullable: false, written },
    ...(description !== undefined && { description }),
    shown: words === undefined ? shown : means(shown, words),
  }
}

function asText(value: unknown): OnPage {
  return typeof value === 'number' ? { number: value } : { text: String(value) }
}

/**
 * The column can be null: a body may leave the field out, and a change may set it to null.
 * @param permission who lacks it neither sees nor writes the field, and no event has it
 */
export function optional<
  Column extends keyof ColumnTypes,
  Shown extends TSchema,
  Written extends TSchema | null,
>(
  one: Field<Column, false, Shown, Written>,
  guard: { readonly permission: `${string}:${string}` },
): Field<Column, true, TOptional<TUnion<[Shown, TNull]>>, Written>
export function optional<
  Column extends keyof ColumnTypes,
  Shown extends TSchema,
  Written extends TSchema | null,
>(one: Field<Column, false, Shown, Written>): Field<Column, true, TUnion<[Shown, TNull]>, Written>
export function optional(
  { shown, ...rest }: Field<keyof ColumnTypes, false>,
  { permission }: { readonly permission?: `${string}:${string}` } = {},
): Field {
  const nullable = Nullable(shown)
  if (permission === undefined) return { ...rest, shown: nullable, isNullable: true as const }
  const words = guardedWords(meaningOf(shown), permission)
  const seen = Type.Optional(means(nullable, words))
  return { ...rest, permission, shown: seen, isNullable: true as const }
}

function guardedWords(words: string | undefined, permission: string): string {
  const only = `only for those who have the permission ${permission}`
  return words === undefined ? `Null for none; ${only}` : `${words}; ${only}`
}

/** What a schema says that its value means, or its value that is not null. */
function meaningOf({ description, $comment, anyOf: [first] = [] }: Meant): string | undefined {
  return $comment ?? description ?? first?.$comment ?? first?.description
}

type Meant = TSchema & {
  readonly description?: string
  readonly $comment?: string
  readonly anyOf?: readonly Meant[]
}

/** What a field means in bodies and filters. */
export function wordsOf({ description, written, shown }: Field): string | undefined {
  return description ?? (written && meaningOf(written)) ?? meaningOf(shown)
}

/**
 * Says what a field means: in the API description, and below it in forms.
 * @param description a sentence for people, without a full stop
 */
export function described<One extends Field>(one: One, description: string): One {
  const { shown, permission } = one
  const words = permission === undefined ? description : guardedWords(description, permission)
  return { ...one, description, shown: means(shown, words) }
}

/** Sets the value of a new row whose body has none. */
export function initially<One extends Field>(
  one: One,
  initial: (asking: Asking, now: Date) => unknown,
) {
  return { ...one, initial }
}

/**
 * Says what the field was called before, so that `gatehouse migrate dev` renames its column.
 * @param from the name of the field, such as `dueDate`
 */
export function renamed<One extends Field>(one: One, from: string) {
  return { ...one, renamedFrom: from }
}

/** Leaves the field out of responses and events. */
export function hidden<One extends Field>(one: One) {
  return { ...one, isHidden: true as const }
}
