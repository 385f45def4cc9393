const joiners = '\\u200C\\u200D'
const marks = '\\u061C\\u200E\\u200F'
/** Zero-width spaces, overrides and isolates of direction. No orthography needs them. */
const directions = '\\u200B\\u202A-\\u202E\\u2060-\\u2064\\u2066-\\u2069\\uFEFF'

/**
 * Characters that are not seen but change how text is read, for use inside a class of a regular
 * expression: zero-width ones, and those that change the direction of what follows. Text with them can
 * look like another one, so nothing that is compared or followed may have any: addresses, URLs.
 */
export const hiddenCharacters = `${directions}${marks}${joiners}`

// Letters that are joined on the right side only, or not at all (Unicode Standard, 9.2).
const unjoined =
  '\\u0621-\\u0625\\u0627\\u0629\\u062F-\\u0632\\u0648\\u0671-\\u0677\\u0688-\\u0699\\u06C0\\u06C3-\\u06CB\\u06CD\\u06CF\\u06D2\\u06D3\\u06D5\\u06EE\\u06EF\\u0710\\u0715-\\u0719\\u071E\\u0728\\u072A\\u072C\\u072F'
const cursive = '[\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Mong}\\p{sc=Nkoo}\\p{sc=Adlm}]'
// Canonical combining class 9, of the scripts in use.
const viramas =
  '\\u094D\\u09CD\\u0A4D\\u0ACD\\u0B4D\\u0BCD\\u0C4D\\u0CCD\\u0D3B\\u0D3C\\u0D4D\\u0DCA\\u0E3A\\u0EBA\\u0F84\\u1039\\u103A\\u1714\\u1715\\u1734\\u17D2\\u1A60\\u1B44\\u1BAA\\u1BAB\\u1BF2\\u1BF3\\uA806\\uA82C\\uA8C4\\uA953\\uA9C0\\uAAF6\\uABED'
const conjunct = `\\p{L}\\p{M}*[${viramas}]\\p{M}*`
const pictograph = '\\p{ExtPict}'

/**
 * A joiner where it changes what is seen, as in Persian, Sinhala and family emoji, for use in a regular
 * expression: the contexts A1, A2 and B of Unicode's identifiers (UAX 31, 2.3), and emoji sequences
 * (UTS 51, 2.3). Anywhere else two texts would look the same.
 */
const joinerInContext = [
  `(?<=(?=${cursive})\\p{L}(?<![${unjoined}])\\p{M}*)\\u200C(?=\\p{M}*${cursive})`,
  `(?<=${conjunct})\\u200C(?=\\p{M}*\\p{L})`,
  `(?<=${conjunct})\\u200D(?!\\p{M})`,
  `(?<=${pictograph}[\\uFE0F\\p{EMod}]*)\\u200D(?=${pictograph})`,
].join('|')

const rightToLeft =
  '(?:(?=[\\p{sc=Hebr}\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Thaa}\\p{sc=Nkoo}\\p{sc=Adlm}])\\p{L})'

/**
 * A mark of direction where it puts a number, a sign or a bracket in its place: near a letter that is written from
 * right to left, but not between two letters, whose order it would change. The distance is limited, so that a text of
 * marks alone takes linear time.
 */
const markInContext = [
  `(?<![${marks}])(?:(?<=${rightToLeft}.{0,32})|(?=.{0,32}${rightToLeft}))`,
  `(?:(?<!\\p{L}\\p{M}*)[${marks}]|[${marks}](?!\\p{L}))`,
].join('')

const neededInContext = `${joinerInContext}|${markInContext}`

/** A character that is seen, for use in a regular expression: no blank, and none that has no shape. */
export const seenCharacter = '[^\\s\\p{DI}\\u2800]'

/**
 * One character of a line that looks like what it is, for use in a regular expression: no controls
 * (PostgreSQL rejects NUL), lone surrogates, separators of lines and paragraphs, hidden characters.
 */
export const lineCharacter = `(?:[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}${hiddenCharacters}]|${neededInContext})`

/** A hidden character where no orthography needs it. */
export const hiddenExpression = new RegExp(`(?!${neededInContext})[${hiddenCharacters}]`, 'gu')

/** Whether a text from people has characters that are not seen and that no orthography needs. */
export function hasHiddenCharacters(text: string): boolean {
  return text.search(hiddenExpression) !== -1
}

/**
 * Text from people, for plain text such as a mail: isolated (U+2068 to U+2069), so that whatever its
 * direction it changes the order of no text around it.
 */
export function isolatedText(text: string): string {
  return `\u2068${text.replace(hiddenExpression, '')}\u2069`
}

/** Text as PostgreSQL can store it: NUL and lone surrogates become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}
