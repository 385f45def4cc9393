import t from 'tap'
import { languageFor, wordsIn } from '#src/mail/language.ts'

t.test('a mail is in the language of its reader, or else in English', async (t) => {
  for (const locale of ['de', 'de-AT', 'DE']) t.equal(languageFor(locale), 'de', locale)
  for (const locale of ['en-GB', 'fr', 'den', 'constructor', '', null]) {
    t.equal(languageFor(locale), 'en', `${locale}`)
  }
})

t.test('a time is in the language and in UTC', async (t) => {
  const at = new Date('2026-12-10T21:05:00Z')
  t.equal(wordsIn('en').time(at), '10 December 2026 at 21:05 UTC')
  t.equal(wordsIn('de').time(at), '10. Dezember 2026 um 21:05 Uhr (UTC)')
})
