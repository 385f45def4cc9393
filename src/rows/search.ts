import Type from 'typebox'
import { Prisma } from '#src/db/generated/client.ts'
import { explained } from '#src/http/schemas.ts'
import { column } from './columns.ts'
import type { Declared } from './table.ts'

/*
 * The search of a list: every word of the query begins a word of one of the fields, whatever their case.
 *
 * Under row-level security PostgreSQL uses no text index: the operators of full text and of patterns are not LEAKPROOF,
 * so it calls them only for rows that the policy has let through. A search therefore reads the rows of a list in its
 * order, and a page looks at a bounded number of them.
 */

/** Rows that one page of a search looks at. The next page goes on after them. */
export const maxSearchedRows = 20_000

const word = '[^\\s\\p{Cc}\\p{Cs}]+'
const words = `^ *${word}( +${word}){0,7} *$`

/** The words of a search. */
export const SearchWords = Type.String({
  maxLength: 100,
  pattern: explained(words, 'must be 1 to 8 words'),
})

const searchable = new RegExp(words, 'u')

/** Whether a text is one that `SearchWords` takes. */
export function isSearchable(text: string): boolean {
  return text.length <= 100 && searchable.test(text)
}

/** SQL for whether a row has the words. */
export function matchOf({ search }: Declared, table: Prisma.Sql, query: string): Prisma.Sql {
  const values = Prisma.join(search.map((key) => Prisma.sql`${table}.${column(key)}`))
  const words = query.split(' ').filter((one) => one !== '')
  const each = words.map((one) => Prisma.sql`concat_ws(' ', ${values}) ~ ${patternOf(one)}`)
  return Prisma.sql`(${Prisma.join(each, ' AND ')})`
}

/** A regular expression of PostgreSQL. It folds the case itself, since the locale of a database may know ASCII alone. */
function patternOf(text: string): string {
  const letters = Array.from(text, (one) => {
    const cases = [one, one.toLowerCase(), one.toUpperCase()]
    const forms = [...new Set(cases.filter((form) => [...form].length === 1))]
    if (forms.length > 1) return `[${forms.join('')}]`
    return /[!-/:-@[-`{-~]/.test(one) ? `\\${one}` : one
  })
  const isInWord = /^[\p{L}\p{N}]/u.test(text)
  return `${isInWord ? '(?:^|\\W)' : ''}${letters.join('')}`
}
