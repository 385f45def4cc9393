import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { findFaults, type TestFile, titlesOf } from './evidence.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

t.test('every rule of docs/evidence.md has a test that exists, or a reason', async (t) => {
  const document = await readFile(join(root, 'docs/evidence.md'), 'utf8')
  t.strictSame(await findFaults(document, readTestFile), [])
  t.match(document, /^## RFC 9700$/m)
  const unread = document
    .split('\n')
    .filter((line) => line.includes('../test/') && !line.startsWith('| '))
  t.strictSame(unread, [], 'every reference is in a table')
})

t.test(
  'a reference to a test that does not exist is a fault, as is a rule without a word',
  async (t) => {
    const text = [
      `t.test('it is so', async (t) => {})`,
      `t.test('it\\'s “so” (really)', async (t) => {})`,
      `t.test('a < b | c', async (t) => {})`,
      `await t.test(\`\${row.id} does \${row.what}\`, (t) => run(t))`,
      `const rows = [{ id: 'A1', what: 'this' }, { id: 'A2', what: 'that' }]`,
      `// t.testing('silence')`,
    ].join('\n')
    const open = async (path: string) =>
      path === 'a.test.ts' ? { titles: titlesOf(text), texts: text } : null
    const faultsOf = (...rows: string[]) =>
      findFaults(['| Rule | What it says | Tests |', '|---|---|---|', ...rows].join('\n'), open)
    const naming = (title: string) => faultsOf(`| R0 | x | [a](../test/a.test.ts): ${title} |`)
    for (const title of [
      'it is so',
      "it's “so” (really)",
      'a &lt; b \\| c',
      'A1 does this',
      '… does …',
      'it is so<br>*Not shown:* the rest',
    ]) {
      t.same(await naming(title), [], title)
    }
    for (const title of ['it is', 'it is so!', 'A1 does nothing', 'A3 does this', 'silence']) {
      t.same(await naming(title), [`R0: no test “${title}” in test/a.test.ts`], title)
    }
    t.same(await naming('it is so<br>[a](../test/a.test.ts): it is not'), [
      'R0: no test “it is not” in test/a.test.ts',
    ])
    t.same(await faultsOf('| R0 | x | [b](../test/b.test.ts): it is so |'), [
      'R0: no file test/b.test.ts',
    ])
    for (const proof of ['a test', '[b](../test/a.test.ts): it is so', '*Not shown:*']) {
      t.same(await faultsOf(`| R0 | x | ${proof} |`), [
        `R0: “${proof}” is neither a test nor a reason`,
      ])
    }
    t.same(await faultsOf('| R0 | x | |', '| R1 | x |  |'), [
      'R0: neither a test nor a reason',
      'R1: neither a test nor a reason',
    ])
    t.same(
      await faultsOf('| R0 | x | *Not shown:* why |', '| R1 | x | *Not applicable:* why |'),
      [],
    )
    t.same(await faultsOf('| R0 | x | *Not shown:* x |', '| R0 | y | *Not shown:* x |'), [
      'R0: the id is used twice',
    ])
  },
)

/** A file below `test/`, with the texts that it imports. */
async function readTestFile(path: string): Promise<TestFile | null> {
  const found = join('test', path)
  if (!existsSync(join(root, found))) return null
  const text = await readFile(join(root, found), 'utf8')
  const imported = [...text.matchAll(/from '(?:#test|(\.\.?))\/([^']+)'/g)].map(
    ([, relative, name = '']) =>
      relative === undefined ? `test/${name}` : join(dirname(found), relative, name),
  )
  const support = imported.filter((name) => existsSync(join(root, name)))
  const texts = await Promise.all(support.map((name) => readFile(join(root, name), 'utf8')))
  return { titles: titlesOf(text), texts: [text, ...texts].join('\n') }
}
