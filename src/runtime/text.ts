/**
 * Characters that are not seen but change how text is read, for use inside a class of a regular
 * expression: zero-width ones (U+200B to U+200F) and those that change the direction of what follows
 * (U+202A to U+202E, U+2066 to U+2069). A line of text with them can look like another one.
 */
export const hiddenCharacters = '\\u200B-\\u200F\\u202A-\\u202E\\u2066-\\u2069'

const hidden = new RegExp(`[${hiddenCharacters}]`, 'gu')

/**
 * Text from people, for plain text such as a mail: isolated (U+2068 to U+2069), so that whatever its
 * direction it changes the order of no text around it.
 */
export function isolatedText(text: string): string {
  return `\u2068${text.replace(hidden, '')}\u2069`
}

/** Text as PostgreSQL can store it: NUL and lone surrogates become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}
