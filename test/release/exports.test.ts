import { readFile } from 'node:fs/promises'
import t from 'tap'
import { entryModules, exportedBy, exportsTable } from '#dev/release/exports.ts'

/*
 * What apps may import, release by release, is in CHANGELOG.md: a name that is added, renamed or removed needs a line
 * there, as an app that uses it must change with the release.
 */

const changelog = await readFile('CHANGELOG.md', 'utf8')

t.test('what is exported is what the changelog tells, from the first release on', async (t) => {
  const { 'gatehouse/client': _, ...promised } = entryModules
  const told = namesTold(changelog)
  t.same([...told.keys()].toSorted(), Object.keys(promised).toSorted())
  for (const [entry, path] of Object.entries(promised)) {
    const names = [...(told.get(entry) ?? [])].toSorted()
    t.same(await namesIn(path), names, `${entry}: a change belongs into CHANGELOG.md`)
    t.same((await exportedBy(path)).map(({ name }) => name).toSorted(), names, entry)
  }
})

t.test('later releases add and remove names', (t) => {
  const releases = [
    '## 0.2.0',
    '- `gatehouse` no longer exports `id`.\n- `gatehouse` also exports `key`, `member`.',
    '## 0.1.0\n\n- `gatehouse` exports `id`, `tenant`.\n',
  ]
  const told = namesTold(releases.join('\n\n'))
  t.same([...(told.get('gatehouse') ?? [])], ['tenant', 'key', 'member'])
  t.throws(() => namesTold('- `gatehouse` no longer exports `id`.'), /removes id/)
  t.throws(
    () => namesTold('- `gatehouse` exports `id`.\n- `gatehouse` also exports `id`.'),
    /twice/,
  )
  t.end()
})

t.test('docs/exports.md says what each is (npm run generate)', async (t) => {
  t.match(await readFile('docs/exports.md', 'utf8'), await exportsTable())
  for (const [entry, path] of Object.entries(entryModules)) {
    const silent = (await exportedBy(path)).filter(({ words }) => words === '')
    t.same(
      silent.map(({ name }) => name),
      [],
      `${entry}: each has a docstring`,
    )
  }
})

/** The names that each entry exports after all releases of a changelog, whose newest is first. */
function namesTold(text: string): Map<string, Set<string>> {
  const told = new Map<string, Set<string>>()
  const line = /^- `(gatehouse[\w/]*)` (no longer |also )?exports (.*)\.$/gm
  for (const release of text.split('\n## ').toReversed()) {
    for (const [, entry = '', change, list = ''] of release.matchAll(line)) {
      const names = told.get(entry) ?? new Set()
      told.set(entry, names)
      for (const name of list.match(/\w+/g) ?? []) {
        if (change === 'no longer ') {
          if (!names.delete(name))
            throw new Error(`CHANGELOG.md removes ${name}, which was not there.`)
        } else {
          if (names.has(name)) throw new Error(`CHANGELOG.md adds ${name} twice.`)
          names.add(name)
        }
      }
    }
  }
  return told
}

/** The exported names, types too, sorted. Every statement of these files is an `export … from`. */
async function namesIn(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '')
  const statements = [...code.matchAll(/export (?:type )?\{([^}]*)\} from '[^']+'\n/g)]
  const rest = statements.reduce((rest, [statement]) => rest.replace(statement, ''), code)
  if (rest.trim() !== '') throw new Error(`${path} has other statements: ${rest}`)
  return statements
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().replace(/^type /, ''))
    .filter(Boolean)
    .sort()
}
