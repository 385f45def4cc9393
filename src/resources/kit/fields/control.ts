import type { TSchema } from 'typebox'

/** How a form asks for a value. */
export type Control = {
  readonly as: 'line' | 'area' | 'choice'
  /** What the form sends. @param mayBeEmpty an empty text means none */
  schema(mayBeEmpty: boolean): TSchema
  /** What is accepted, in a sentence. */
  readonly rule?: string
  /** Of the input. */
  readonly attributes?: Readonly<Record<string, string | number>>
  /** The words of a choice, by what the form sends. */
  readonly options?: Readonly<Record<string, string>>
  /** What a choice is of, if not of words. */
  readonly offers?: 'folders'
  /** The value of a text that is not empty, as the API takes it; undefined if it is refused. */
  read(text: string): unknown
  /** A value as the text of the input. */
  text(value: unknown): string
}

/** How a page shows a value: a text of people, words of the program, a number or a time. */
export type OnPage =
  | { readonly text: string }
  | { readonly words: string }
  | { readonly number: number }
  | { readonly at: string }
