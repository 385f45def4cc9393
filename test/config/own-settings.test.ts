import t from 'tap'
import Type from 'typebox'
import { testSettings } from '#dev/testing/settings.ts'
import { readConfig } from '#src/config/config.ts'
import { documentedOwn, settingsTable } from '#src/config/documentation.ts'
import { defineSettings } from '#src/resources/define-settings.ts'

const own = defineSettings({
  REPORT_HOUR: Type.Integer({ minimum: 0, maximum: 23, default: 7, description: 'In UTC' }),
  REPORT_KEY: Type.String({ minLength: 8, description: 'Of the printer' }),
})
const urls = { url: 'postgres://a@127.0.0.1/a', workerUrl: 'postgres://b@127.0.0.1/a' }
const read = (settings: Record<string, string>) =>
  readConfig({ ...testSettings(urls as never), ...settings }, own.schema)

t.test('settings of an app are read, with their types and defaults', async (t) => {
  const config = read({ REPORT_KEY: 'long enough' })
  t.strictSame({ ...own.of(config) }, { REPORT_HOUR: 7, REPORT_KEY: 'long enough' })
  t.equal(own.of(read({ REPORT_KEY: 'long enough', REPORT_HOUR: ' 9 ' })).REPORT_HOUR, 9)
})

t.test('a missing or wrong one is named at start, without its value', async (t) => {
  t.throws(() => read({}), { message: /REPORT_KEY: is missing\. Of the printer/ })
  t.throws(() => read({ REPORT_KEY: 'long enough', REPORT_HOUR: '24' }), {
    message: /REPORT_HOUR: must be <= 23\. In UTC/,
  })
  const error = Object(
    await Promise.resolve()
      .then(() => read({ REPORT_KEY: 'secret' }))
      .catch((e) => e),
  )
  t.match(error.message, 'REPORT_KEY: ')
  t.notMatch(error.message, /\bsecret\b/)
})

t.test('a misspelt one is a warning with the name that is meant', async (t) => {
  const { warnings } = read({ REPORT_KEY: 'long enough', REPORT_HUOR: '9' })
  t.match(warnings, ['REPORT_HUOR is not a setting; did you mean REPORT_HOUR?'])
})

t.test('their table says what each is', async (t) => {
  const table = settingsTable(documentedOwn(own.schema))
  t.match(table, '| `REPORT_HOUR` | every | `7` | In UTC |')
  t.match(table, '| `REPORT_KEY` | every | – | Of the printer |')
})
