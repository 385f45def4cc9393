import { globSync } from 'node:fs'
import t from 'tap'
import { codeBlocks, readPage, root } from './page.ts'
import { drawScopes, readScopes, type Scope } from './scope-drawing.ts'

t.test('the diagram of the scopes matches src/app.ts', async (t) => {
  const drawn = drawScopes(readScopes(await readPage('src/app.ts')))
  t.strictSame(codeBlocks(await readPage('docs/security.md'), 'mermaid'), [drawn])
})

t.test('the scopes read from src/app.ts are those of the running server', async (t) => {
  const snapshot = await readPage('tap-snapshots/test/app.test.ts.test.cjs')
  const [, tree = ''] = /plugins by scope 1`\] = `\n([^`]*)`/.exec(snapshot) ?? []
  const known = new Set(tree.split('\n'))
  const missing = linesOf(readScopes(await readPage('src/app.ts')), 0).filter(
    (line) => !known.has(line),
  )
  t.strictSame(missing, [])
})

/** In the snapshot's form: one name per line, indented below its scope. */
function linesOf({ name, guards, scopes }: Scope, depth: number): string[] {
  const indent = '  '.repeat(depth === 0 ? 0 : depth + 1)
  const within = '  '.repeat(depth + 2)
  return [
    indent + name,
    ...guards.map((guard) => within + guard),
    ...scopes.flatMap((scope) => linesOf(scope, depth + 1)),
  ]
}

t.test('no SQL statement is built from untrusted text', async (t) => {
  const files = globSync('{src,plugins,routes}/**/*.ts', {
    cwd: root,
    exclude: ['src/db/generated/**'],
  })
  for (const file of files) {
    t.notMatch(await readPage(file), /\$(queryRaw|executeRaw)Unsafe|queryRawTyped/, file)
  }
})
