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

t.test('what deployment.md gives to a process is what that process reads', async (t) => {
  const page = await readFile(new URL('../../docs/deployment.md', import.meta.url), 'utf8')
  const processOf = new Map(settings.map(({ name, process }) => [name, process]))
  for (const role of ['web', 'worker', 'migrate']) {
    const [, cell = ''] = new RegExp(`^\\| \`${role}\\.env\` \\| ([^|]+)`, 'm').exec(page) ?? []
    const names = [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name)
    t.ok(names.length > 1, `${role}.env`)
    for (const name of names) t.match(processOf.get(name), role, `${name} in ${role}.env`)
  }
})
