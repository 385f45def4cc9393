import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { verifyDatabase } from '#src/schema/verify.ts'
import { copyTree } from '#test/mutation/lane.ts'
import { createDatabase, type TestDatabase } from '#test/support/helper.ts'
import { temporaryFolder } from '#test/support/program.ts'
import { onCluster, query } from '#test/support/raw-sql.ts'
import { logins } from '#test/support/template.ts'
import { applyBlock, blocksOf, messagesOf } from './blocks.ts'
import { type LeftOut, leftOut, migration, programs } from './left-out.ts'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

type Tree = {
  folder: string
  /** Runs Node in the tree, with a migrated database to copy. @returns what it printed */
  run(
    args: readonly string[],
    database?: TestDatabase,
  ): Promise<{ succeeded: boolean; output: string }>
}

// Some twenty programs, one after the other: half a minute where nothing else runs.
t.setTimeout(400_000)

t.test('docs/new-resource.md', async (t) => {
  const page = await readFile(join(root, 'docs/new-resource.md'), 'utf8')
  const tree = await copyForTest(t)
  const blocks = blocksOf(page)
  for (const block of blocks) await applyBlock(tree.folder, block)
  const sources = blocks.map(({ path }) => path).filter((path) => path.endsWith('.ts'))
  await addProject(tree, 'tsconfig.notes.json', ['plugins', 'src/**/*.d.ts', ...sources])
  await addProject(tree, 'tsconfig.domain.json', ['src/notes.ts'])

  await t.test('what it adds is complete: generated, checked and tested', async (t) => {
    for (const step of stepsFor(sources)) {
      const { succeeded, output } = await tree.run(step)
      t.ok(succeeded, step.join(' '))
      if (!succeeded) t.comment(output)
    }
  })

  await t.test('what is left out of it is noticed, in the words of the page', async (t) => {
    const messages = messagesOf(page)
    t.strictSame([...messages.keys()], Object.keys(leftOut), 'every row of the page is tried')
    for (const [what, message] of messages) {
      const cut = leftOut[what]
      const output = cut === undefined ? '' : await outputWithout(t, tree, cut)
      const noticed = output.includes(message)
      t.ok(noticed, what)
      if (!noticed) t.comment(`${message}\n${output}`)
    }
  })
})

/** A part of the tree for the type check; all of it, benchmarks included, takes its time. */
async function addProject({ folder }: Tree, name: string, include: readonly string[]) {
  const project = { extends: './tsconfig.json', include }
  await writeFile(join(folder, name), JSON.stringify(project))
}

/** What the page says to run, as far as it concerns the resource alone. */
function stepsFor(sources: readonly string[]): (readonly string[])[] {
  return [
    [programs.prisma, 'generate'],
    ['src/release/generate.ts'],
    ['src/cli.ts', 'migrate'],
    [programs.biome, 'check', '--vcs-enabled=false', ...sources],
    [programs.tsc, '--project', 'tsconfig.notes.json'],
    ['test/routes/notes.test.ts'],
    ['test/access/rules.test.ts'],
    ['test/access/matrix.test.ts'],
    ['test/access/query-scope-alone.test.ts'],
    ['test/access/row-level-security-alone.test.ts'],
  ]
}

/** A copy of the tree, with a database of its own that its `migrate` is to bring up. */
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

/** A database that a migration may be run in; nothing is connected to it, so it can be copied. */
async function createOwnedDatabase(t: Test): Promise<TestDatabase> {
  const database = await createDatabase(t)
  await onCluster(`ALTER DATABASE ${nameOf(database)} OWNER TO ${logins.owner.name}`)
  return database
}

function nameOf({ url }: TestDatabase): string {
  return new URL(url).pathname.slice(1)
}

/** Takes the piece out, runs what should notice, puts it back. @returns what was noticed */
async function outputWithout(t: Test, tree: Tree, cut: LeftOut): Promise<string> {
  if (cut.piece === undefined) return noticedBy(tree, cut.run ?? [])
  const file = join(tree.folder, cut.path)
  const original = await readFile(file, 'utf8')
  const text = original.replace(cut.piece, cut.instead ?? '')
  if (text === original) return `${cut.path} has nothing like ${cut.piece}`
  if (cut.path === migration) return outputOfMigration(t, tree, cut, text)
  await writeFile(file, text)
  return noticedBy(tree, cut.run ?? []).finally(() => writeFile(file, original))
}

async function outputOfMigration(t: Test, tree: Tree, { run }: LeftOut, sql: string) {
  const database = await createOwnedDatabase(t)
  await query(database.ownerUrl, sql)
  if (run !== null) return noticedBy(tree, run, database)
  const findings = await verifyDatabase(database.url, 'web')
  return findings.map(({ problem }) => problem).join('\n')
}

/** What was printed, of a test's output what did not pass; nothing where all is well. */
async function noticedBy(tree: Tree, args: readonly string[], database?: TestDatabase) {
  const { succeeded, output } = await tree.run(args, database)
  if (succeeded) return ''
  return output
    .split('\n')
    .filter((line) => !/^ *(ok|# Subtest:) /.test(line))
    .join('\n')
    .replaceAll(/\s+/g, ' ') // long lines are wrapped
}
