import t from 'tap'
import { preferredLanguage, readLanguageTag } from '#src/http/headers/accept-language.ts'

t.test('a language tag is read in its canonical form', async (t) => {
  const tags: readonly (readonly [string, string])[] = [
    ['de', 'de'],
    ['DE-at', 'de-AT'],
    ['de_AT', 'de-AT'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['iw', 'he'],
  ]
  for (const [value, tag] of tags) t.equal(readLanguageTag(value), tag, value)
})

t.test('anything else is no language', async (t) => {
  const long = `de-${'x-aaaaaaaa-'.repeat(4)}b`
  for (const value of [
    '',
    '*',
    'a language',
    'd',
    'de-',
    'de\r\nx: y',
    long,
    7,
    null,
    ['de'],
    {},
  ]) {
    t.equal(readLanguageTag(value), null, JSON.stringify(value))
  }
})

t.test('the preferred language of a header has the highest weight', async (t) => {
  const headers: readonly (readonly [string | undefined, string | null])[] = [
    ['de-AT,de;q=0.9,en;q=0.8', 'de-AT'],
    ['en;q=0.5, fr ; q=0.7', 'fr'],
    ['en, de', 'en'],
    ['*, de;q=0.5', 'de'],
    ['de;q=0, en;q=0.1', 'en'],
    ['de;q=high, en;q=0.1', 'en'],
    ['<script>, de', 'de'],
    ['*', null],
    ['', null],
    [undefined, null],
  ]
  for (const [header, tag] of headers) t.equal(preferredLanguage(header), tag, `${header}`)
})
