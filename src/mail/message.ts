import type { Language } from './language.ts'

/** Words of people, such as names. */
export type Name = { readonly of: string }

/** A sentence: our own words, and those of people. */
export type Words = readonly (string | Name)[]

/** Whom a mail is for. */
export type Reader = {
  address: string
  /** The language that they read, BCP 47; null if it is not known. */
  locale: string | null
}

/** What a mail says, whichever way it is shown. */
export type Message = {
  language: Language
  heading: Words
  paragraphs: readonly Words[]
  action: { readonly label: string; readonly url: string }
  facts: readonly (readonly [label: string, value: Words])[]
  /** Why the person receives it, and what happens if they do nothing. */
  footer: readonly Words[]
}

/** The two forms of a mail's body. Mail programs show the second one if they can. */
export type Body = {
  readonly text: string
  readonly html: string
  /** What `cid:` in the HTML names: a PNG image that is part of the mail. */
  readonly images: readonly { readonly cid: string; readonly png: Uint8Array }[]
}
