import t from 'tap'
import { identityTables } from '#src/schema/tables.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'

/*
 * Keys are checked without row-level security: with a foreign key without the tenant, a tenant could
 * reference another's row; a unique key without it would reveal another tenant's values.
 */
t.test('every key of a tenant table contains the tenant', async (t) => {
  const database = await createDatabase(t)
  t.strictSame(await keysWithoutTenant(database), [], 'no key without tenant_id')
  await database.admin.query(`
    CREATE UNIQUE INDEX loose_key ON posts (id);
    ALTER TABLE invoices ADD CONSTRAINT loose_fkey FOREIGN KEY (id) REFERENCES posts (id)`)
  t.strictSame(await keysWithoutTenant(database), ['loose_fkey', 'loose_key'])
})

/** Keys of the tenant tables. A row of the audit log may have no tenant; people are in several. */
async function keysWithoutTenant({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `WITH tenant AS (
       SELECT c.oid AS "table", c.relrowsecurity AND a.attnotnull AND c.relname <> ALL ($1) AS held, a.attnum AS "column"
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
     )
     SELECT i.indexrelid::regclass::text AS name
     FROM pg_index i JOIN tenant ON tenant."table" = i.indrelid AND held
     WHERE i.indisunique AND tenant."column" <> ALL (i.indkey)
     UNION ALL
     SELECT k.conname FROM pg_constraint k
     JOIN tenant ON tenant."table" = k.conrelid AND held
     JOIN tenant target ON target."table" = k.confrelid
     WHERE k.contype = 'f' AND NOT EXISTS (
       SELECT FROM unnest(k.conkey, k.confkey) AS pair (own, theirs)
       WHERE own = tenant."column" AND theirs = target."column")
     ORDER BY name`,
    [identityTables],
  )
  return rows.map(({ name }) => name)
}
