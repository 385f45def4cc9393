import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { remedies } from './table.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** For clients of the API and for receivers of webhooks, whose own tests cause each fault. */
const ofOthers = ['src/http/problems.ts', 'src/webhooks/probe/diagnose.ts']

/*
 * Where a remedy is written: the second argument of an error for operators, a member or constant whose value
 * begins with a literal or a choice, and a table or function of remedies.
 */
const places = [
  /new (?:OperatorError|ApiUnreachable)\(/,
  /\bremedy:\s+(?=['"`]|isShard|certificateRemedy)/,
  /(?<!type )\b\w*(?:[rR]emedy|checkConnection|runMigrate|loginAgain) =\s+['"`]/,
  /\b(?:remedies|\w+Remedies)\b.*= \{$/,
  /function \w*[rR]emedy(?:For|Of)?\(/,
].map(({ source }) => source)

/** An error that passes on the remedy of a finding or of a constant. */
const passesOn = /^new OperatorError\([\s\S]{1,120}?, (?:\w+\.)?(?:remedy|\w+Remedy|loginAgain)\)/

function placesOf(text: string): string[] {
  const code = text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\/\/.*$/gm, '')
  const found = [...code.matchAll(new RegExp(places.join('|'), 'gm'))]
  return found
    .map(({ index }, at) => code.slice(index, found[at + 1]?.index ?? index + 1_000))
    .filter((place) => !passesOn.test(place))
}

t.test('every remedy of the program has a row, and every row a remedy', async (t) => {
  const files = globSync('{src,dev}/**/*.ts', { cwd: root }).filter(
    (file) => !ofOthers.includes(file),
  )
  let count = 0
  for (const file of files) {
    const found = placesOf(await readFile(join(root, file), 'utf8'))
    const rows = Object.keys(remedies[file] ?? {})
    for (const place of found) {
      t.ok(
        rows.some((row) => place.includes(row)),
        `${file} has a row for: ${place.slice(0, 300)}`,
      )
    }
    for (const row of rows)
      t.ok(
        found.some((place) => place.includes(row)),
        `${file}: ${row}`,
      )
    count += rows.length
  }
  t.equal(Object.values(remedies).flatMap(Object.keys).length, count, 'no row of a deleted file')
})

t.test('the test that tries a remedy exists', async (t) => {
  const rows = Object.values(remedies).flatMap((rows) => Object.values(rows))
  for (const row of rows) {
    if ('not' in row) continue
    const [file, text] = row.tried
    t.match(await readFile(join(root, file), 'utf8'), text, file)
  }
})

t.test('a new remedy is noticed', async (t) => {
  for (const text of [
    "throw new OperatorError('It broke.', 'Mend it.')",
    "return { problem, remedy: 'Mend it.' }",
    "const someRemedy = 'Mend it.'",
    "const someRemedy =\n  'Mend it.'",
  ]) {
    t.equal(placesOf(text).length, 1, text)
  }
  t.equal(placesOf('new OperatorError(fault.problem, fault.remedy)').length, 0)
})
