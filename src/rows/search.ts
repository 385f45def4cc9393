import Type from 'typebox'
import { Prisma } from '#src/db/generated/client.ts'
import { explained } from '#src/http/schemas.ts'
import { wordsTableOf } from '#src/resources/kit/names.ts'
import { column } from './columns.ts'
import type { Declared, RowScope } from './table.ts'

/*
 * The search of a list: every word of the query begins a word of one of the fields, whatever case and accents.
 *
 * Under row-level security PostgreSQL uses no index for full text or patterns: their operators are not LEAKPROOF, so it
 * calls them only for rows that the policy has let through. Those of a range of texts are, so triggers keep the words
 * of each row in a table of its own, and the beginnings of words are ranges of an index. A cluster keeps no words:
 * there a search reads the rows of a list in its order.
 */

/**
 * Rows that one page of a search looks at, if each word of the query is frequent, and on a cluster. The next page goes
 * on after them.
 */
export const maxSearchedRows = 20_000

/** A word that more words of rows begin with is frequent: the rows of a list are looked at in their order. */
export const maxRareWords = 2_000

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

/** What the statement of a search consists of. Names with capitals are those of no column and no table. */
export type Search = {
  /** The words of the query, and the rarest of them, for a WITH. */
  readonly sought: Prisma.Sql
  /** Whether a row is one of those with the rarest word; false if that word is frequent. */
  readonly isRare: Prisma.Sql
  /** Whether each of the words is frequent. */
  readonly isFrequent: Prisma.Sql
  /** Whether a row has all of the words. */
  readonly isMatch: Prisma.Sql
}

/** @param table the name of the rows in the statement */
export function searchOf(
  resource: Declared,
  asking: RowScope,
  table: Prisma.Sql,
  query: string,
): Search {
  const words = Prisma.raw(wordsTableOf(resource))
  const inScope =
    resource.scope === 'owner'
      ? Prisma.sql`s.user_id = ${asking.userId}`
      : Prisma.sql`s.tenant_id = ${asking.tenantId}::uuid`
  const rarest = Prisma.sql`(SELECT r."found" FROM "rarestWord" r)`
  return {
    sought: Prisma.sql`
            "soughtWords" AS MATERIALIZED (
              SELECT q.*, (
                SELECT count(*) FROM (
                  SELECT FROM ${words} s WHERE ${inScope} AND ${begins} LIMIT ${maxRareWords + 1}
                ) AS begun) AS "found"
              FROM (
                SELECT w.word, w.word || chr(1114111) AS "beyond" FROM unnest(search_words(${query})) AS w (word)
                OFFSET 0
              ) AS q
            ), "rarestWord" AS MATERIALIZED (
              SELECT q.* FROM "soughtWords" q ORDER BY q."found" LIMIT 1
            )`,
    isRare: Prisma.sql`${rarest} <= ${maxRareWords} AND ${table}.id = ANY (ARRAY(
              SELECT s.id FROM "rarestWord" q CROSS JOIN ${words} s WHERE ${inScope} AND ${begins}))`,
    isFrequent: Prisma.sql`${rarest} > ${maxRareWords}`,
    // An aggregate is no join, which PostgreSQL would begin at the words of all rows.
    isMatch: Prisma.sql`(
              SELECT bool_and(EXISTS (
                SELECT FROM ${words} s WHERE s.tenant_id = ${table}.tenant_id AND s.id = ${table}.id AND ${begins}))
              FROM "soughtWords" q)`,
  }
}

/**
 * A word of a row begins with one of the query: no character follows that at the end of `"beyond"`. Both are columns,
 * because an expression of theirs, whose operator is not LEAKPROOF, would be no condition of an index.
 */
const begins = Prisma.sql`s.word >= q.word AND s.word < q."beyond"`

/** SQL for whether a row has the words, on a cluster. */
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
