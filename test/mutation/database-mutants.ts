import pg from 'pg'
import { type Mutant, tests } from './mutant.ts'

type Policy = {
  table: string
  name: string
  qual: string | null
  check: string | null
}

/** A statement that removes it, for every policy and every other part of row-level security. */
export async function findDatabaseMutants(url: string): Promise<Mutant[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
       WHERE relrowsecurity AND relnamespace = 'public'::regnamespace ORDER BY relname`,
    )
    const { rows: policies } = await client.query<Policy>(
      `SELECT tablename AS table, quote_ident(policyname) AS name, qual, with_check AS check
       FROM pg_policies WHERE schemaname = 'public' ORDER BY tablename, policyname`,
    )
    const { rows: views } = await client.query<{ name: string; definition: string }>(
      `SELECT oid::regclass::text AS name, pg_get_viewdef(oid) AS definition FROM pg_class
       WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace ORDER BY relname`,
    )
    const statements = [
      ...tables.flatMap(({ name }) => [
        `ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`,
        `ALTER TABLE ${name} NO FORCE ROW LEVEL SECURITY`,
      ]),
      ...policies.flatMap(removals),
      ...views.map(({ name, definition }) => openView(name, definition)),
    ]
    return statements.map((sql) => ({
      name: `database ${sql.split('\n')[0]?.slice(0, 110)}`,
      sql,
      tests: [tests.rawRows, tests.chain, tests.views, tests.rowLevelSecurity, tests.matrix],
    }))
  } finally {
    await client.end()
  }
}

function removals({ table, name, qual, check }: Policy): string[] {
  const alter = `ALTER POLICY ${name} ON ${table}`
  return [
    `DROP POLICY ${name} ON ${table}`,
    ...(qual === null || qual === 'true' ? [] : [`${alter} USING (true)`]),
    ...(check === null || check === 'true' ? [] : [`${alter} WITH CHECK (true)`]),
  ]
}

function openView(name: string, definition: string): string {
  const open = definition.replace(/\sWHERE [\s\S]*current_tenant_id\(\)[\s\S]*$/, '')
  return `CREATE OR REPLACE VIEW ${name} WITH (security_invoker = true) AS ${open}`.replaceAll(
    /\s+/g,
    ' ',
  )
}
