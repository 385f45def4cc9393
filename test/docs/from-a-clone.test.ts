import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createUnmigratedDatabase } from '#test/support/database/database.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { codeBlocks, readPage, root } from './page.ts'

t.test('the database of a clone becomes that of an app, with its rows', async (t) => {
  const [history = '', policy = '', ...others] = codeBlocks(
    await readPage('docs/from-a-clone.md'),
    'sql',
  )
  t.same(others, [], 'every statement is run here')
  const database = await createUnmigratedDatabase(t)
  const { ownerUrl, url, workerUrl } = database
  const env = { DATABASE_OWNER_URL: ownerUrl, DATABASE_URL: url, DATABASE_WORKER_URL: workerUrl }
  const app = await temporaryFolder(t)
  const migrate = async (...args: string[]) => {
    const program = await runProgram(t, ['migrate', ...args], env, { cwd: app })
    return { status: await program.ended, output: program.output() }
  }
  t.match(await migrate('--app', 'none'), { status: 0 })

  const own = join(root, 'test/release/package-app')
  await cp(join(own, 'note.ts'), join(app, 'note.ts'))
  await cp(join(own, 'migrations'), join(app, 'migrations'), { recursive: true })
  await mkdir(join(app, 'node_modules'))
  await symlink(root, join(app, 'node_modules/gatehouse'))
  await symlink(join(root, 'node_modules/typebox'), join(app, 'node_modules/typebox'))
  await writeFile(
    join(app, 'gatehouse.config.ts'),
    `import { defineApp } from 'gatehouse'
import { notes } from './note.ts'
export default defineApp({ name: 'acme', resources: [notes] })
`,
  )

  const owner = new pg.Client({ connectionString: ownerUrl })
  await owner.connect()
  t.teardown(() => owner.end())
  await owner.query(await readPage('test/release/package-app/migrations/0_notes/migration.sql'))
  await owner.query('CREATE POLICY notes_of_tenant ON notes USING (true)')
  await owner.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES (gen_random_uuid(), '', '20261201000000_notes', now(), 1)`,
  )
  const { tenantId } = await createUser(database)
  await database.admin.query(`INSERT INTO notes (tenant_id, title) VALUES ($1, 'Kept')`, [tenantId])

  t.match(await migrate(), { status: 1, output: /migrations that this release does not know/ })
  await owner.query(history)
  await owner.query(policy)
  const moved = await migrate()
  t.equal(moved.status, 0, moved.output)
  t.match(await migrate(), { status: 0, output: /The database is up to date/ })
  const { rows } = await database.admin.query('SELECT title FROM notes')
  t.same(rows, [{ title: 'Kept' }])
  t.same((await owner.query('SELECT title FROM notes')).rows, [], 'and row-level security applies')
})
