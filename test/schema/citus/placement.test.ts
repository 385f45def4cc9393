import t from 'tap'
import { citusTables, distributedTables, referenceTables } from '#src/schema/citus/placement.ts'
import { readCitusDefinitions, splitStatements } from '#src/schema/citus/script.ts'
import { readDefinitions } from '#src/schema/definitions.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { isOnCitus } from '#test/support/database/template.ts'

t.test('the primary key of every distributed table contains the tenant', async (t) => {
  const { admin } = await createDatabase(t)
  const { rows } = await admin.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnum = ANY (k.conkey)
     WHERE k.contype = 'p' AND c.relname = ANY ($1)`,
    [distributedTables],
  )
  t.same(rows.map(({ name }) => name).toSorted(), distributedTables.toSorted())
})

t.test('keys of distributed tables lead to tables that the nodes have', async (t) => {
  const { admin } = await createDatabase(t)
  const { rows } = await admin.query<{ from: string; to: string; columns: string[] }>(
    `SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to,
       ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey))
         AS columns
     FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text = ANY ($1)`,
    [citusTables],
  )
  t.ok(rows.length > 0)
  for (const { from, to, columns } of rows) {
    t.ok(citusTables.includes(to), `${from} references ${to}`)
    const isBetweenDistributed = [from, to].every((name) => !isReference(name))
    if (isBetweenDistributed) t.ok(columns.includes('tenant_id'), `${from} to ${to} by tenant`)
  }
})

t.test('no key with the tenant has an action that Citus refuses', async (t) => {
  const { admin } = await createDatabase(t)
  const refused = async () => {
    const { rows } = await admin.query<{ name: string }>(
      `SELECT k.conname AS name FROM pg_constraint k
       JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attname = 'tenant_id'
       WHERE k.contype = 'f' AND k.conrelid = ANY ($1::regclass[]) AND a.attnum = ANY (k.conkey)
         AND (k.confupdtype IN ('c', 'n', 'd') OR k.confdeltype IN ('n', 'd'))`,
      [distributedTables],
    )
    return rows.map(({ name }) => name)
  }
  t.strictSame(await refused(), [])
  const added = admin.query(`
    ALTER TABLE posts ADD CONSTRAINT cascading_fkey FOREIGN KEY (tenant_id) REFERENCES tenants (id)
      ON UPDATE CASCADE`)
  if (isOnCitus()) {
    await t.rejects(added, /cannot create foreign key constraint/)
  } else {
    await added
    t.strictSame(await refused(), ['cascading_fkey'])
  }
})

// Citus copies policies to its nodes without AS RESTRICTIVE: there they would permit, and to everyone.
t.test('no policy is restrictive', async (t) => {
  const { admin } = await createDatabase(t)
  const restrictive = `SELECT tablename, policyname FROM pg_policies WHERE permissive <> 'PERMISSIVE'`
  t.strictSame((await admin.query(restrictive)).rows, [])
  await admin.query('CREATE POLICY narrow ON posts AS RESTRICTIVE USING (true)')
  t.equal((await admin.query(restrictive)).rowCount, 1, 'one would be found')
})

t.test('no policy of a table that Citus knows has a subquery', async (t) => {
  const { scripts } = await readCitusDefinitions()
  const statements = scripts.policies.flatMap(splitStatements)
  for (const table of citusTables) {
    const policies = statements.filter((text) =>
      new RegExp(`CREATE POLICY \\w+ ON ${table}\\b`).test(text),
    )
    for (const policy of policies) t.notMatch(policy, /\(SELECT\b/, policy)
  }
})

t.test(
  'every statement of prisma/citus ends before an empty line, and has none inside',
  async (t) => {
    const { scripts } = await readCitusDefinitions()
    for (const script of Object.values(scripts).flat()) {
      for (const statement of splitStatements(script)) {
        t.match(statement, /^(\s*--.*\n|\s*\n)*(CREATE|ALTER|SELECT)\b/, statement.slice(0, 80))
      }
    }
  },
)

t.test('a file of prisma/citus has the functions of the file that it replaces', async (t) => {
  const own = signatures((await readCitusDefinitions()).scripts.functions)
  const missing = signatures((await readDefinitions()).scripts.functions).filter(
    (signature) => !own.includes(signature),
  )
  t.strictSame(missing, [])
  t.equal(new Set(own).size, own.length, 'each once')
})

/** The names of the functions that scripts define. */
function signatures(scripts: readonly string[]): string[] {
  return scripts.flatMap((script) =>
    [...script.matchAll(/^CREATE OR REPLACE FUNCTION (\w+)/gm)].map(([, name = '']) => name),
  )
}

function isReference(name: string): boolean {
  return referenceTables.some((table) => table === name)
}

t.test('functions do what triggers do elsewhere, and change people in turn', async (t) => {
  const text = (await readCitusDefinitions()).scripts.functions.join('\n')
  const deletions = [...text.matchAll(/^.*\n\s*DELETE FROM public\.users u WHERE u\.id = /gm)]
  t.ok(deletions.length > 0)
  for (const [deletion] of deletions) t.match(deletion, /PERFORM public\.note_erased_user\(\w+\);/)
  t.match(text, /PERFORM pg_advisory_xact_lock\(\d+\);\s+UPDATE public\.memberships/)
})
