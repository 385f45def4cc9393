import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { production } from '#test/support/app/production.ts'
import { createUnmigratedDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/*
 * The migrations of an app have a history of their own, beside that of the program, in the same table.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))

const settings = ({ ownerUrl, url, workerUrl }: TestDatabase) => ({
  NODE_ENV: 'production',
  DATABASE_OWNER_URL: ownerUrl,
  DATABASE_URL: url,
  DATABASE_WORKER_URL: workerUrl,
})

/** Runs `migrate` with an app. */
async function migrateWith(t: Test, database: TestDatabase, app: string) {
  const program = await runProgram(t, ['migrate', '--app', app], settings(database))
  return { status: await program.ended, output: program.output() }
}

/** An app of notes with its migrations, by their names. */
async function notes(t: Test, migrations: Readonly<Record<string, string>>, name = 'notes') {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  for (const [migration, sql] of Object.entries(migrations)) {
    await mkdir(join(folder, 'migrations', migration), { recursive: true })
    await writeFile(join(folder, 'migrations', migration, 'migration.sql'), sql)
  }
  await writeFile(
    join(folder, 'gatehouse.config.ts'),
    `import { author, created, defineApp, defineResource, id, line, updated } from 'gatehouse'

const notes = defineResource('note', {
  plural: 'notes',
  scope: 'tenant',
  fields: {
    id: id(),
    authorId: author(),
    title: line(200),
    createdAt: created(),
    updatedAt: updated(),
  },
  actions: {
    read: { permission: 'post:read' },
    create: { permission: 'post:write', accepts: ['title'] },
  },
})

export default defineApp({ name: '${name}', resources: [notes] })
`,
  )
  return folder
}

const table = `CREATE TABLE notes (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX notes_tenant_id_author_id_id_idx ON notes (tenant_id, author_id, id);
CREATE INDEX notes_tenant_id_created_at_id_idx ON notes (tenant_id, created_at, id);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
`

/** A database that has the tables of the program alone. */
async function bareDatabase(t: Test): Promise<TestDatabase> {
  const database = await createUnmigratedDatabase(t)
  const { status, output } = await migrateWith(t, database, 'none')
  t.equal(status, 0, output)
  return database
}

async function namesIn({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT migration_name AS name FROM _prisma_migrations
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY started_at, 1`,
  )
  return rows.map(({ name }) => name)
}

t.test('an app comes to a database without one, changes, and is missed without it', async (t) => {
  const database = await bareDatabase(t)
  const core = await namesIn(database)
  const app = await notes(t, { '0_notes': table })
  const first = await migrateWith(t, database, app)
  t.equal(first.status, 0, first.output)
  t.match(first.output, 'applied app:notes:0_notes')
  t.match((await migrateWith(t, database, app)).output, 'The database is up to date.')
  t.strictSame(await namesIn(database), [...core, 'app:notes:0_notes'])

  const bare = await migrateWith(t, database, 'none')
  t.equal(bare.status, 1)
  t.match(bare.output, 'The database is of the app notes, and this program runs none.')
  const shop = await migrateWith(t, database, join(root, 'examples/shop'))
  t.equal(shop.status, 1)
  t.match(shop.output, 'The database is of the app notes, and this program runs the app shop.')
  const serving = await runProgram(t, ['serve', '--app', 'none'], production(database))
  t.equal(await serving.ended, 1)
  t.match(serving.output(), 'The database is of the app notes')
  t.match((await migrateWith(t, database, app)).output, 'up to date', 'its own app serves it')

  const newer = await notes(t, {
    '0_notes': table,
    '1_pinned': 'ALTER TABLE notes ADD COLUMN pinned boolean NOT NULL DEFAULT false;',
  })
  t.match((await migrateWith(t, database, newer)).output, 'applied app:notes:1_pinned')
  const older = await migrateWith(t, database, app)
  t.equal(older.status, 0)
  t.match(older.output, /newer/, 'an older app changes nothing')
  t.strictSame(await namesIn(database), [...core, 'app:notes:0_notes', 'app:notes:1_pinned'])
})

t.test('a migration of an app that fails is rolled back, and can be repeated', async (t) => {
  const database = await bareDatabase(t)
  const before = await namesIn(database)
  const broken = await notes(t, { '0_notes': `${table}SELECT 1 / 0;` })
  const refused = await migrateWith(t, database, broken)
  t.equal(refused.status, 1)
  t.match(refused.output, /The migration app:notes:0_notes failed and was rolled back: division/)
  t.strictSame(await namesIn(database), before)
  const missing = await migrateWith(t, database, await notes(t, {}))
  t.match(missing.output, 'The resource note has no table notes.')
  await writeFile(join(broken, 'migrations/0_notes/migration.sql'), table)
  const repeated = await migrateWith(t, database, broken)
  t.equal(repeated.status, 0, repeated.output)
})

t.test('two runs of migrate apply the migrations of an app once', async (t) => {
  const database = await bareDatabase(t)
  const app = await notes(t, { '0_notes': table })
  const runs = await Promise.all([migrateWith(t, database, app), migrateWith(t, database, app)])
  t.strictSame(
    runs.map(({ status }) => status),
    [0, 0],
  )
  t.equal(runs.filter(({ output }) => output.includes('applied app:notes:0_notes')).length, 1)
  await rm(join(app, 'migrations'), { recursive: true })
  const parted = await notes(t, { '0_other': table })
  t.match((await migrateWith(t, database, parted)).output, /does not know \(app:notes:0_notes\)/)
})

t.test(
  'the roles of an app are those of its members, and none goes while somebody has it',
  async (t) => {
    const database = await bareDatabase(t)
    const withRoles = async (roles: object, manages: string) => {
      const folder = await temporaryFolder(t)
      await mkdir(join(folder, 'node_modules'))
      await symlink(root, join(folder, 'node_modules/gatehouse'))
      await writeFile(
        join(folder, 'gatehouse.config.ts'),
        `import { defineApp } from 'gatehouse'
export default defineApp(${JSON.stringify({ name: 'office', resources: [], roles, manages })})
`,
      )
      return folder
    }
    const clerks = await withRoles({ clerk: ['desk:use'], boss: 'everything' }, 'boss')
    const unready = await runProgram(t, ['serve', '--app', clerks], production(database))
    t.equal(await unready.ended, 1)
    t.match(unready.output(), 'The database does not allow the roles clerk, boss of the app')
    t.match(unready.output(), 'Run gatehouse migrate with this app.')

    const migrated = await migrateWith(t, database, clerks)
    t.equal(migrated.status, 0, migrated.output)
    const taken = (role: string) =>
      createUser(database, { role }).then(
        () => 'taken',
        ({ code }) => code,
      )
    t.strictSame(await Promise.all(['clerk', 'boss', 'viewer'].map(taken)), [
      'taken',
      'taken',
      '23514',
    ])

    const bosses = await withRoles({ boss: 'everything' }, 'boss')
    const refused = await migrateWith(t, database, bosses)
    t.equal(refused.status, 1)
    t.match(refused.output, 'Of memberships 1 have the role clerk, which the app does not declare.')
    t.equal(await taken('clerk'), 'taken', 'nothing was changed')
    await database.admin.query(`UPDATE memberships SET role = 'boss' WHERE role = 'clerk'`)
    t.equal((await migrateWith(t, database, bosses)).status, 0)
    t.equal(await taken('clerk'), '23514')
  },
)
