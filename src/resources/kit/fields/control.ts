import Type, { type TSchema } from 'typebox'

/** How a form asks for a value. */
export type Control = {
  readonly as: 'line' | 'area' | 'choice'
  /** What the form sends. @param mayBeEmpty an empty text means none */
  schema(mayBeEmpty: boolean): TSchema
  /** What is accepted, in a sentence. */
  readonly rule?: string
  /** Attributes of the input. */
  readonly attributes?: Readonly<Record<string, string | number>>
  /** The words of a choice, by what the form sends. */
  readonly options?: Readonly<Record<string, string>>
  /** What a choice offers, if not words. */
  readonly offers?: 'folders' | 'rows' | 'members'
  /** The value of a text that is not empty, as the API takes it; undefined if it is refused. */
  read(text: string): unknown
  /** A value as the text of the input. */
  text(value: unknown): string
  /** The value of an empty text where the row needs one; without it an empty text is no value. */
  readonly empty?: unknown
}

/** The schema of a text, or of none. */
export function orEmpty(schema: TSchema, mayBeEmpty: boolean): TSchema {
  return mayBeEmpty ? Type.Union([Type.Literal(''), schema]) : schema
}

/**
 * How a page shows a value: a text of people, which may lead somewhere, words of the program, a number, a time or a
 * date.
 */
export type OnPage =
  | { readonly text: string; readonly href?: string }
  | { readonly words: string }
  | { readonly number: number }
  | { readonly at: string }
  | { readonly on: string }
