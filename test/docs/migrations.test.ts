import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createUnmigratedDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { applyBlock, blocksOf } from './blocks.ts'

/* docs/migrations.md, carried out on a table with rows: each command of the page after the changes before it. */

const root = fileURLToPath(new URL('../..', import.meta.url))

type Section = { heading: string; text: string; command: readonly string[] }

/** The sections with a command, each of which ends with it. */
function sectionsOf(page: string): Section[] {
  return page.split(/^## /m).flatMap((text) => {
    const [, command] = /^```sh\nnpx gatehouse (.*)\n```$/m.exec(text) ?? []
    const heading = text.slice(0, text.indexOf('\n'))
    return command === undefined ? [] : [{ heading, text, command: command.split(' ') }]
  })
}

type Rows = readonly Record<string, unknown>[]

/** What the rows are after the command of each section, and what the command says before it succeeds. */
const expected: Readonly<Record<string, { rows?: Rows; says: RegExp; without?: RegExp }>> = {
  Create: { says: /CREATE TABLE tasks/ },
  'Add a field': {
    says: /Existing rows get 'open'/,
    without:
      /The field task\.status is new and not optional.* Give them one with --fill task\.status=VALUE/,
    rows: [
      { subject: 'First', room: '7', details: null, status: 'open' },
      { subject: 'Second', room: null, details: null, status: 'open' },
    ],
  },
  'Rename a field': {
    says: /RENAME COLUMN subject TO title/,
    rows: [{ title: 'First' }, { title: 'Second' }],
  },
  'Change a type': { says: /TYPE text USING room::text/, rows: [{ room: '7' }, { room: null }] },
  'Require a field': {
    says: /Rewrites tasks/,
    rows: [{ room: '7' }, { room: 'none' }],
  },
  'Filter by a field': { says: /Writes to tasks wait until the index is built/ },
  'Remove a field': {
    says: /Deletes the values of tasks\.room/,
    without:
      /column tasks\.room, and there is no field task\.room\. --drop tasks\.room deletes its values/,
    rows: [
      { title: 'First', status: 'open' },
      { title: 'Second', status: 'open' },
    ],
  },
  'In CI': { says: /The migrations make every declared table/ },
  'Remove a resource': { says: /DROP TABLE/ },
}

t.test('docs/migrations.md', async (t) => {
  const page = await readFile(join(root, 'docs/migrations.md'), 'utf8')
  const sections = sectionsOf(page)
  t.strictSame(
    sections.map(({ heading }) => heading),
    Object.keys(expected),
  )
  t.equal(sections.length, page.match(/^```sh$/gm)?.length, 'every command is run')
  const database = await createUnmigratedDatabase(t)
  const folder = await appFolder(t)
  const run = runner(t, folder, database)
  for (const { heading, text, command } of sections) {
    const { rows = [], says, without } = expected[heading] ?? { says: /^/ }
    for (const block of blocksOf(text)) await applyBlock(folder, block)
    if (without !== undefined) {
      const refused = await run(...command.slice(0, command.indexOf('--name') + 2))
      t.match(refused, { status: 1, output: without }, `${heading}: what decides is asked for`)
    }
    const before = await migrationsIn(folder)
    if (heading === 'Filter by a field') {
      const missing = await run('migrate', 'dev', '--check')
      t.match(missing, { status: 1, output: /CREATE INDEX[\s\S]*The migrations lack what/ })
      t.strictSame(await migrationsIn(folder), before, 'a check writes nothing')
    }
    t.match(await run(...command, '--yes'), { status: 0, output: says }, heading)
    const after = await migrationsIn(folder)
    t.equal(after.length - before.length, heading === 'In CI' ? 0 : 1, `${heading}: migrations`)
    if (heading === 'Remove a resource') break
    const found = await database.admin.query('SELECT * FROM tasks ORDER BY tasks.id')
    t.match(found.rows, rows, `${heading}: rows`)
    const [{ room, subject } = {}] = found.rows
    if (heading === 'In CI') t.same([room, subject], [undefined, undefined])
    if (heading === 'Create') await addTasks(database)
  }
  const { rows: left } = await database.admin.query(`SELECT to_regclass('tasks') AS tasks`)
  t.same(left, [{ tasks: null }], 'the table is gone')
  const applied = await database.admin.query(
    `SELECT FROM _prisma_migrations WHERE migration_name LIKE 'app:acme:%' AND finished_at IS NOT NULL`,
  )
  t.equal(applied.rowCount, sections.length - 1)
})

async function appFolder(t: Test): Promise<string> {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  return folder
}

function runner(t: Test, cwd: string, { ownerUrl, url, workerUrl }: TestDatabase) {
  const env = { DATABASE_OWNER_URL: ownerUrl, DATABASE_URL: url, DATABASE_WORKER_URL: workerUrl }
  return async (...args: string[]) => {
    const program = await runProgram(t, args, env, { cwd })
    return { status: await program.ended, output: program.output() }
  }
}

async function migrationsIn(folder: string): Promise<string[]> {
  return (await readdir(join(folder, 'migrations')).catch(() => [])).toSorted()
}

async function addTasks(database: TestDatabase): Promise<void> {
  const { tenantId } = await createUser(database, {})
  await database.admin.query(
    `INSERT INTO tasks (tenant_id, subject, room) VALUES ($1, 'First', 7), ($1, 'Second', NULL)`,
    [tenantId],
  )
}
