import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { namesOf } from '#src/commands/development/new/declaration.ts'
import { InputFault, type NewResource } from '#src/commands/development/new/input.ts'
import newCommand, { type Edit } from '#src/commands/development/new.ts'
import { addDevelopment } from '#src/commands/kit/development.ts'
import { descriptionOf } from './new/description.ts'

/* `npm run new`: as `gatehouse new`, with a description for the tests of this repository instead of a test. */

addDevelopment(() => import('../development.ts'))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...{ scope: { type: 'string' }, plural: { type: 'string' }, page: { type: 'string' } },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) {
  process.stdout.write(`Usage: npm run new -- NAME FIELD... --scope owner|tenant|chain [--plural NAMES] [--page LABEL]

As \`gatehouse new\`, whose help describes the fields, with a description for the
tests of this repository.
`)
  process.exit()
}
const [name = '', ...fields] = positionals
const { scope = '', help: _, ...rest } = values

try {
  if (scope !== 'owner' && scope !== 'tenant' && scope !== 'chain') {
    throw new InputFault(`--scope ${scope}: use owner, tenant or chain.`)
  }
  const written = await newCommand({}, name, fields, { scope, ...rest }, describe)
  format(written.filter((path) => path.endsWith('.ts')))
  process.stdout.write(`
Read them; delete the mark “review me” in the description when it says what you want. Then:
  npm run generate                                        # the generated documents
  npm test -- --snapshot test/app.test.ts                 # the guards of the new routes: read the difference
  npm run check
  npm test -- test/resources/resources.test.ts test/access/*.test.ts test/schema/*.test.ts test/auth/erasure/*.test.ts
`)
} catch (error) {
  if (!(error instanceof InputFault)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** The description, and its entry in the list that the tests read. */
async function describe(resource: NewResource, folder: string): Promise<Edit[]> {
  const { constant } = namesOf(resource)
  const list = await readFile(join(folder, 'test/index.ts'), 'utf8')
  const listed = list
    .replace(/(?=\n\n)/, `\nimport { ${constant} } from './${resource.name}.ts'`)
    .replace(/(?<=descriptions: readonly Description\[\] = \[[^\]]*?),?\s*\]/, `, ${constant}]`)
  return [
    { path: `test/${resource.name}.ts`, text: descriptionOf(resource) },
    { path: 'test/index.ts', text: listed, replaces: true },
  ]
}

function format(paths: readonly string[]): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const args = [biome, 'check', '--write', '--vcs-enabled=false', ...paths]
  execFileSync(process.execPath, args, { cwd: root, stdio: 'ignore' })
}
