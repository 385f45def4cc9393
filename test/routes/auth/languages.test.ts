import t from 'tap'
import {
  buildWithProvider,
  type Journey,
  openTab,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

async function languageAfter(journey: Journey, locale: unknown, acceptLanguage?: string) {
  journey.op.fault = { claims: { locale } }
  const browser = { cookie: '' }
  const parameters = journey.op.approve(await openTab(journey.app, browser))
  const headers = acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage }
  await visit(journey.app, browser, `/auth/callback?${parameters}`, { headers })
  const { rows } = await journey.database.admin.query('SELECT locale FROM users')
  return rows.map((row) => row.locale)
}

t.test('the language of a person is what the provider told, or else the browser', async (t) => {
  const journey = await buildWithProvider(t)
  t.same(await languageAfter(journey, undefined), [null])
  t.same(await languageAfter(journey, undefined, 'fr-CH, de;q=0.5'), ['fr-CH'])
  t.same(await languageAfter(journey, 'de_AT', 'fr'), ['de-AT'])
  t.same(await languageAfter(journey, undefined), ['de-AT'], 'nothing told keeps it')
  for (const locale of ['a language', 7, '', 'de\nx', 'x'.repeat(100)]) {
    t.same(await languageAfter(journey, locale), ['de-AT'], `no language: ${locale}`)
  }
})
