import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { type Migration, readMigrations } from '#src/schema/migrations/applied.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { query } from '#test/support/database/raw-sql.ts'

/*
 * PostgreSQL compares existing rows with a new foreign key by a query as the owner of the tables, who
 * sees no rows while row-level security is forced (docs/upgrades.md).
 */

const noForce = `
  ALTER TABLE tenants NO FORCE ROW LEVEL SECURITY;
  ALTER TABLE posts NO FORCE ROW LEVEL SECURITY;`
const force = `
  ALTER TABLE posts FORCE ROW LEVEL SECURITY;
  ALTER TABLE tenants FORCE ROW LEVEL SECURITY;`
const validate = 'ALTER TABLE posts VALIDATE CONSTRAINT posts_tenant_id_fkey;'

t.test('existing rows are compared with a foreign key only without FORCE', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  await query(
    database.superuserUrl,
    `ALTER TABLE posts DROP CONSTRAINT posts_tenant_id_fkey;
     SET session_replication_role = replica;
     INSERT INTO posts (tenant_id, department, title, body)
     VALUES ('${tenantId}', 'press', 'x', 'x'), (gen_random_uuid(), 'press', 'x', 'x')`,
  )
  const add = `ALTER TABLE posts ADD CONSTRAINT posts_tenant_id_fkey
    FOREIGN KEY (tenant_id) REFERENCES tenants (id) NOT VALID;`
  const migrate = (sql: string) => query(database.ownerUrl, `BEGIN; ${sql} ROLLBACK`)
  await t.resolves(migrate(`${add} ${validate}`), 'PostgreSQL sees no row of an unknown tenant')
  await t.rejects(
    migrate(`${add} ${noForce} ${validate} ${force}`),
    { code: '23503' },
    'the recipe of the page finds it',
  )
  await database.admin.query('DELETE FROM posts WHERE tenant_id <> $1', [tenantId])
  await t.resolves(
    migrate(`${add} ${noForce} ${validate} ${force}`),
    'and accepts the rows of known tenants',
  )
})

t.test('a migration that adds a foreign key to existing rows compares them', async (t) => {
  t.strictSame(notCompared(await readMigrations()), [])
  const example = (sql: string) => [{ name: '30000101000000_example', sql }]
  t.strictSame(notCompared(example(validate)), ['30000101000000_example: posts'])
  t.strictSame(
    notCompared(
      example(`ALTER TABLE "posts" ADD CONSTRAINT "x" FOREIGN KEY ("a") REFERENCES "b" ("a")`),
    ),
    ['30000101000000_example: posts'],
  )
  t.strictSame(notCompared(example(`${noForce} ${validate} ${force}`)), [])
  t.strictSame(
    notCompared(
      example('ALTER TABLE posts ADD CONSTRAINT x FOREIGN KEY (a) REFERENCES b NOT VALID'),
    ),
    [],
  )
})

/** The tables whose rows are not compared, by migration. A new table has no rows. */
function notCompared(migrations: readonly Migration[]): string[] {
  return migrations.flatMap(({ name, sql }) => {
    const statements = sql.split(';').map((text) => text.replaceAll(/^\s*--.*$/gm, '').trim())
    const tables = (form: RegExp) => statements.flatMap((text) => form.exec(text)?.[1] ?? [])
    const created = tables(/^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/)
    const unforced = tables(/^ALTER TABLE "?(\w+)"? NO FORCE ROW LEVEL SECURITY/)
    return statements
      .filter((text) => /\bVALIDATE CONSTRAINT "?\w+_fkey\b/.test(text) || addsValidKey(text))
      .flatMap((text) => /^ALTER TABLE "?(\w+)/.exec(text)?.[1] ?? [])
      .filter((table) => !created.includes(table) && !unforced.includes(table))
      .map((table) => `${name}: ${table}`)
  })
}

function addsValidKey(text: string): boolean {
  return /^ALTER TABLE[\s\S]* FOREIGN KEY /.test(text) && !/\bNOT VALID\b/.test(text)
}

t.test(
  'a check constraint finds a violating row, also while row-level security is forced',
  async (t) => {
    const database = await createDatabase(t)
    const { tenantId } = await createUser(database)
    await database.admin.query(
      `INSERT INTO posts (tenant_id, title, body) VALUES ('${tenantId}', 'x', 'x')`,
    )
    const add = 'ALTER TABLE posts ADD CONSTRAINT long_title CHECK (length(title) > 1) NOT VALID;'
    const check = 'ALTER TABLE posts VALIDATE CONSTRAINT long_title;'
    await t.rejects(query(database.ownerUrl, `BEGIN; ${add} ${check} ROLLBACK`), { code: '23514' })
  },
)
