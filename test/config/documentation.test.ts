import { readFile } from 'node:fs/promises'
import t from 'tap'
import { documentedSettings, environmentExample, settingsTable } from '#src/config/documentation.ts'

const settings = documentedSettings()

t.test('.env.example and docs/settings.md match the settings (npm run generate)', async (t) => {
  const example = await readFile(new URL('../../.env.example', import.meta.url), 'utf8')
  t.equal(example, environmentExample(settings))
  const page = await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8')
  t.match(page, settingsTable(settings))
})

t.test('every setting has a description', async (t) => {
  for (const { name, description } of settings) t.match(description, /^\S.+[.)]$/s, name)
})
