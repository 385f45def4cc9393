import t from 'tap'
import { createDatabase, type TestDatabase } from '#test/support/helper.ts'

/*
 * Foreign keys are checked without row-level security: one without the tenant would let a tenant
 * point at another's row, and a unique key without it would tell one what another has.
 */
t.test('every key of a tenant table has the tenant in it', async (t) => {
  const database = await createDatabase(t)
  t.strictSame(await keysWithoutTenant(database), [], 'no key without tenant_id')
  await database.admin.query(`
    CREATE UNIQUE INDEX loose_key ON posts (id);
    ALTER TABLE invoices ADD CONSTRAINT loose_fkey FOREIGN KEY (id) REFERENCES posts (id)`)
  t.strictSame(await keysWithoutTenant(database), ['loose_fkey', 'loose_key'])
})

/** Keys of the tables under row-level security; a row of the audit log may be of no tenant. */
async function keysWithoutTenant({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `WITH tenant AS (
       SELECT c.oid AS "table", c.relrowsecurity AND a.attnotnull AS held, a.attnum AS "column"
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
  )
  return rows.map(({ name }) => name)
}
