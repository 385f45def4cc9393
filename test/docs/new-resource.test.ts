import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { logins } from '#dev/testing/logins.ts'
import { copyTree } from '#test/mutation/lane.ts'
import { findBreaches } from '#test/support/app/import-order.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { onCluster } from '#test/support/database/raw-sql.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'
import { applyBlock, blocksOf, messagesOf } from './blocks.ts'
import { type Mistake, mistakes, programs, undescribed } from './mistakes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

type Tree = {
  folder: string
  /** Runs Node in the tree. @param only path of the routes that the matrix asks. @returns what Node printed */
  run(args: readonly string[], only?: string): Promise<{ succeeded: boolean; output: string }>
}

const made = {
  tasks: ['task', 'title:line:200', 'details:text:5000:optional', 'status:choice:open/done'],
  bookmarks: ['bookmark', 'url:line:500', 'note:text:1000:optional', '--scope', 'owner'],
  minutes: ['minute', 'title:line:200', 'seats:integer', 'open:flag', '--scope', 'chain'],
} as const

/** Who may call the further route, in the access matrix of the shop. */
const ofMatrix = {
  path: 'test/index.ts',
  language: 'diff',
  text: ` export const routes: RouteRows = {
+  'POST /tasks/:id/finish': { who: 'task:update', answer: 200, object: 'task' },
`,
}

t.test('docs/new-resource.md', async (t) => {
  const page = await readFile(join(root, 'docs/new-resource.md'), 'utf8')
  t.ok(page.split('\n').length <= 151, 'at most 150 lines')
  const tree = await copyForTest(t)
  const command = /^npx gatehouse new (task .*)$/m.exec(page)?.[1]?.split(' ') ?? []
  t.strictSame(command.slice(0, made.tasks.length), made.tasks, 'the command of the page')
  await carryOut(t, tree, ['dev/release/new.ts', ...made.bookmarks, '--page', 'Bookmarks'])
  await carryOut(t, tree, ['dev/release/new.ts', ...made.minutes, '--page', 'Minutes'])
  await carryOut(t, tree, ['dev/release/new.ts', ...command])

  await t.test('what is refused writes nothing', async (t) => {
    const before = await digestOf(tree)
    const taken = ['index', 'title:line:200', '--scope', 'owner']
    await carryOut(t, tree, ['dev/release/new.ts', ...taken], /index\.ts exists already/)
    await carryOut(t, tree, ['dev/release/new.ts', ...command], /the policy has rules for task/)
    t.strictSame(await digestOf(tree), before)
  })

  for (const name of ['task', 'bookmark', 'minute']) {
    const file = join(tree.folder, `examples/shop/test/${name}.ts`)
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace(/ {2}\/\/ Compare .*\n {2}mark: 'review me',\n/, ''))
  }
  const blocks = blocksOf(page)
  const shop = 'examples/shop'
  for (const block of [...blocks, ofMatrix]) {
    await applyBlock(tree.folder, { ...block, path: join(shop, block.path) })
  }
  await writeFile(
    join(tree.folder, 'tsconfig.resources.json'),
    JSON.stringify({ extends: './tsconfig.json', include: ['examples/shop/resources/*.ts'] }),
  )

  await t.test('three resources, one of each scope, pass the checks and the tests', async (t) => {
    t.strictSame(await findBreaches(tree.folder), [])
    for (const step of steps) await carryOut(t, tree, step)
    for (const path of Object.keys(made)) {
      for (const run of ['matrix', 'query-scope-alone', 'row-level-security-alone']) {
        await carryOut(t, tree, [`test/access/${run}.test.ts`], /^/, `/${path}`)
      }
    }
  })

  await t.test('each mistake says what is on the page', async (t) => {
    const messages = messagesOf(page)
    t.strictSame([...messages.keys()], Object.keys(mistakes), 'every row of the page is tested')
    for (const message of Object.keys(undescribed)) messages.set(message, message)
    for (const [what, message] of messages) {
      const mistake = mistakes[what] ?? undescribed[what]
      const output = mistake === undefined ? '' : await outputWith(tree, mistake)
      const isFound = output.includes(message)
      t.ok(isFound, what)
      if (!isFound) t.comment(`${message}\n${output}`)
    }
  })
})

const steps: readonly (readonly string[])[] = [
  ['dev/release/prepare.ts'],
  ['dev/release/generate.ts'],
  ['dev/cli.ts', 'migrate'],
  [programs.biome, 'check', '--vcs-enabled=false', 'examples/shop', 'test/resources'],
  [programs.tsc],
  ['test/resources/resources.test.ts'],
  ['test/access/rules.test.ts'],
  ['test/schema/drift.test.ts'],
  ['test/schema/counted-tables.test.ts'],
  ['test/schema/tenant-keys.test.ts'],
  ['test/schema/verify-isolation.test.ts'],
  ['test/auth/erasure/export.test.ts'],
  ['test/auth/erasure/walk.test.ts'],
]

/** Runs a program that should succeed, or fail with a message. */
async function carryOut(
  t: Test,
  tree: Tree,
  args: readonly string[],
  refusal: RegExp = /^/,
  only = '/tasks',
): Promise<void> {
  const { succeeded, output } = await tree.run(args, only)
  const isRefused = refusal.source !== '^'
  t.equal(succeeded, !isRefused, args.join(' '))
  if (isRefused) t.match(output, refusal)
  else if (!succeeded) t.comment(output)
}

/** Everything that the command could change. */
async function digestOf({ folder }: Tree): Promise<string[]> {
  const files: string[] = []
  for await (const path of glob('{clients,docs,examples,plugins,prisma,routes,src,test}/**/*.*', {
    cwd: folder,
  })) {
    const text = await readFile(join(folder, path), 'utf8')
    files.push(`${path} ${createHash('sha256').update(text).digest('hex')}`)
  }
  return files.toSorted()
}

/** A copy of the tree with a database for its `migrate`. */
async function copyForTest(t: Test): Promise<Tree> {
  const folder = join(await temporaryFolder(t), 'tree')
  await copyTree(root, folder)
  const own = await createOwnedDatabase(t)
  const { PATH, HOME, TEST_POSTGRES_URL } = process.env
  return {
    folder,
    run: (args, only = '/tasks') => {
      const { ownerUrl, url, workerUrl } = own
      const env = {
        PATH,
        HOME,
        TEST_POSTGRES_URL,
        TEST_TEMPLATE: nameOf(own),
        DATABASE_OWNER_URL: ownerUrl,
        DATABASE_URL: url,
        DATABASE_WORKER_URL: workerUrl,
        MATRIX_ONLY: only,
        TAP_BAIL: '1',
        TAP_TIMEOUT: '600',
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

/** Makes the mistake, runs what must fail, and restores the file. @returns what was reported */
async function outputWith(tree: Tree, mistake: Mistake): Promise<string> {
  const { path, piece, instead, run, before, after } = mistake
  const file = join(tree.folder, path)
  const original = await readFile(file, 'utf8')
  const text = original.replace(piece, instead)
  if (text === original) return `${path} does not contain ${piece}`
  await writeFile(file, text)
  try {
    if (before !== undefined) await tree.run(before)
    const { succeeded, output } = await tree.run(run)
    return succeeded ? 'it succeeded' : output.replaceAll(/^\s*ok .*$/gm, '')
  } finally {
    await writeFile(file, original)
    if (after !== undefined) await tree.run(after)
  }
}
