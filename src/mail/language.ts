import { de } from './words/de.ts'
import { en, type MailWords } from './words/en.ts'

/** A new language is a file of words and a line here. */
const words = { en, de }

/** A language that mails are written in, by its subtag of BCP 47. */
export type Language = keyof typeof words

export function wordsIn(language: Language): MailWords {
  return words[language]
}

/**
 * The language of a mail to a reader.
 * @param locale BCP 47; null if it is not known
 * @returns English for a language that has no words here
 */
export function languageFor(locale: string | null): Language {
  const subtag = locale?.split('-')[0]?.toLowerCase() ?? ''
  return isLanguage(subtag) ? subtag : 'en'
}

function isLanguage(subtag: string): subtag is Language {
  return Object.hasOwn(words, subtag)
}
