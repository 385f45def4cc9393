import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { affectedBy, importsOf, reachedFrom, readImports } from './imports.ts'

t.test('every form of an import is found, types are none', async (t) => {
  const text = [
    "import { a } from '#src/a.ts'",
    "import type { B } from './b.ts'",
    "import './c.ts'",
    "export { d } from '../d.ts'",
    "await import('#routes/e.ts')",
    "new Worker(new URL('./f.ts', import.meta.url))",
    "import pg from 'pg'",
  ].join('\n')
  t.strictSame(importsOf('test/one/x.test.ts', text), [
    'src/a.ts',
    'test/one/c.ts',
    'test/d.ts',
    'routes/e.ts',
    'test/one/f.ts',
  ])
})

t.test('a change affects what imports it, the nearest first', async (t) => {
  const imports = new Map([
    ['test/far.test.ts', ['test/helper.ts']],
    ['test/helper.ts', ['src/rule.ts', 'src/other.ts']],
    ['test/near.test.ts', ['src/rule.ts']],
    ['test/other.test.ts', ['src/other.ts']],
    ['src/rule.ts', ['src/other.ts']],
    ['src/other.ts', ['src/rule.ts']], // a cycle at run time ends
  ])
  t.strictSame(
    [...affectedBy(imports, ['test/near.test.ts'])],
    [['test/near.test.ts', 0]],
    'a test itself',
  )
  t.strictSame(
    [...affectedBy(new Map([...imports].slice(0, -1)), ['src/rule.ts'])],
    [
      ['src/rule.ts', 0],
      ['test/helper.ts', 1],
      ['test/near.test.ts', 1],
      ['test/far.test.ts', 2],
    ],
  )
  t.equal(affectedBy(imports, ['src/rule.ts']).size, 6)
  t.equal(affectedBy(imports, ['docs/nothing.md']).size, 1)
})

t.test('the imports of this checkout lead to files', async (t) => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const imports = readImports(root)
  const reached = reachedFrom(imports, 'test/app.test.ts')
  t.ok(reached.has('src/app.ts'), 'through a helper')
  const missing = [...reached].filter((file) => !existsSync(join(root, file)))
  t.strictSame(missing, [])
  t.ok(reachedFrom(imports, 'test/cli.test.ts').has('dev/cli.ts'), 'a program that is started')
})
