/** A sentence: our own words, and those of people, such as names. */
export type Words = readonly (string | { readonly of: string })[]

/** What a mail says, whichever way it is shown. */
export type Message = {
  heading: Words
  paragraphs: readonly Words[]
  action: { readonly label: string; readonly url: string }
  facts: readonly (readonly [label: string, value: Words])[]
  /** Why the person receives it, and what happens if they do nothing. */
  footer: readonly Words[]
}

/** The two forms of a mail's body. Mail programs show the second one if they can. */
export type Body = { readonly text: string; readonly html: string }

/** A time for people: `10 December 2026 at 21:05 UTC`. */
export function readableTime(at: Date): string {
  const time = at.toLocaleString('en-GB', {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  return `${time} UTC`
}
