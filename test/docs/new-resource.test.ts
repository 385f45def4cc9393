import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { copyTree } from '#test/mutation/lane.ts'
import { findBreaches } from '#test/support/app/import-order.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { onCluster } from '#test/support/database/raw-sql.ts'
import { logins } from '#test/support/database/template.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'
import { applyBlock, blocksOf, messagesOf } from './blocks.ts'
import { type LeftOut, leftOut, programs } from './left-out.ts'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

type Tree = {
  folder: string
  /** Runs Node in the tree. @param database migrated; tests copy it. @returns what Node printed */
  run(
    args: readonly string[],
    database?: TestDatabase,
  ): Promise<{ succeeded: boolean; output: string }>
}

// Runs about thirty programs one after another: half a minute on an idle machine.
t.setTimeout(900_000)

t.test('docs/new-resource.md', async (t) => {
  const page = await readFile(join(root, 'docs/new-resource.md'), 'utf8')
  const tree = await copyForTest(t)
  const blocks = blocksOf(page)
  for (const block of blocks) await applyBlock(tree.folder, block)
  const sources = blocks.map(({ path }) => path).filter((path) => path.endsWith('.ts'))
  await addProject(tree, 'tsconfig.notes.json', ['plugins', 'src/**/*.d.ts', ...sources])
  await addProject(tree, 'tsconfig.domain.json', [
    'src/resources/notes.ts',
    'src/resources/events.ts',
  ])

  await t.test('the result passes the import order, the checks and the tests', async (t) => {
    t.strictSame(await findBreaches(tree.folder), [])
    for (const step of stepsFor(sources)) {
      const { succeeded, output } = await tree.run(step)
      t.ok(succeeded, step.join(' '))
      if (!succeeded) t.comment(output)
    }
  })

  await t.test('each forgotten step fails with the message on the page', async (t) => {
    const messages = messagesOf(page)
    t.strictSame([...messages.keys()], Object.keys(leftOut), 'every row of the page is tested')
    for (const [what, message] of messages) {
      const cut = leftOut[what]
      const output = cut === undefined ? '' : await outputWithout(t, tree, cut)
      const isFound = output.includes(message)
      t.ok(isFound, what)
      if (!isFound) t.comment(`${message}\n${output}`)
    }
  })
})

/** Adds a TypeScript project for a part of the tree: checking all of it takes long. */
async function addProject({ folder }: Tree, name: string, include: readonly string[]) {
  const project = { extends: './tsconfig.json', include }
  await writeFile(join(folder, name), JSON.stringify(project))
}

/** The commands of the page that concern this resource. */
function stepsFor(sources: readonly string[]): (readonly string[])[] {
  return [
    [programs.prisma, 'generate'],
    ['src/release/generate.ts'],
    ['src/cli.ts', 'migrate'],
    [programs.biome, 'check', '--vcs-enabled=false', ...sources],
    [programs.tsc, '--project', 'tsconfig.notes.json'],
    ['test/routes/api/notes.test.ts'],
    ['test/auth/erasure/export.test.ts'],
    ['test/auth/erasure/walk.test.ts'],
    ['test/access/rules.test.ts'],
    ['test/access/matrix.test.ts'],
    ['test/access/query-scope-alone.test.ts'],
    ['test/access/row-level-security-alone.test.ts'],
  ]
}

/** A copy of the tree with a database for its `migrate`. */
async function copyForTest(t: Test): Promise<Tree> {
  const folder = join(await temporaryFolder(t), 'tree')
  await copyTree(root, folder)
  const own = await createOwnedDatabase(t)
  const { PATH, HOME, TEST_POSTGRES_URL } = process.env
  return {
    folder,
    run: (args, database = own) => {
      const { ownerUrl, url, workerUrl } = database
      const env = {
        PATH,
        HOME,
        TEST_POSTGRES_URL,
        TEST_TEMPLATE: nameOf(database),
        DATABASE_OWNER_URL: ownerUrl,
        DATABASE_URL: url,
        DATABASE_WORKER_URL: workerUrl,
        MATRIX_ONLY: '/notes',
        TAP_BAIL: '1',
      }
      return new Promise((resolve) => {
        execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) =>
          resolve({ succeeded: error === null, output: stdout + stderr }),
        )
      })
    },
  }
}

/** A database that the owner role may migrate. Without open connections, so that it can be copied. */
async function createOwnedDatabase(t: Test): Promise<TestDatabase> {
  const database = await createDatabase(t)
  await onCluster(`ALTER DATABASE ${nameOf(database)} OWNER TO ${logins.owner.name}`)
  return database
}

function nameOf({ url }: TestDatabase): string {
  return new URL(url).pathname.slice(1)
}

/** Undoes the step, runs what must fail, and restores the file. @returns what was reported */
async function outputWithout(t: Test, tree: Tree, cut: LeftOut): Promise<string> {
  if (cut.piece === undefined) return failureOf(tree, cut.run ?? [])
  const file = join(tree.folder, cut.path)
  const original = await readFile(file, 'utf8')
  const text = original.replace(cut.piece, cut.instead ?? '')
  if (text === original) return `${cut.path} does not contain ${cut.piece}`
  await writeFile(file, text)
  if (cut.path.endsWith('.sql')) {
    return outputOfMigration(t, tree, cut).finally(() => writeFile(file, original))
  }
  return failureOf(tree, cut.run ?? []).finally(() => writeFile(file, original))
}

async function outputOfMigration(t: Test, tree: Tree, { run }: LeftOut) {
  const database = await createOwnedDatabase(t)
  const migrated = await tree.run(['src/cli.ts', 'migrate'], database)
  if (!migrated.succeeded) return migrated.output
  if (run !== null) return failureOf(tree, run, database)
  const verify = `import { verifyDatabase } from '#src/schema/verify.ts'
    for (const { problem } of await verifyDatabase(process.env.DATABASE_URL, 'web')) console.log(problem)`
  return (await tree.run(['--input-type=module', '--eval', verify], database)).output
}

/** The output without passed tests; empty on success. */
async function failureOf(tree: Tree, args: readonly string[], database?: TestDatabase) {
  const { succeeded, output } = await tree.run(args, database)
  if (succeeded) return ''
  return output
    .split('\n')
    .filter((line) => !/^ *(ok|# Subtest:) /.test(line))
    .join('\n')
    .replaceAll(/\s+/g, ' ') // long lines are wrapped
}
