import t from 'tap'
import { deriveFunctions } from '#src/schema/citus/functions.ts'
import { citusTables, distributedTables, referenceTables } from '#src/schema/citus/placement.ts'
import { withoutSubselects } from '#src/schema/citus/policies.ts'
import { readCitusForm } from '#src/schema/citus/script.ts'
import { readDefinitions } from '#src/schema/definitions.ts'
import { createDatabase } from '#test/support/database/database.ts'

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

t.test('no policy of a table that Citus knows keeps a subquery', async (t) => {
  const formOf = await readCitusForm()
  const { tables } = await readDefinitions()
  for (const table of citusTables) {
    for (const policy of tables.get(table)?.policies.values() ?? []) {
      t.notMatch(formOf(`${policy};`).at(-1), /\bSELECT\b(?!\s+(TO|USING))/, policy)
    }
  }
})

t.test('scalar subselects become calls, in policies only', (t) => {
  t.equal(
    withoutSubselects(
      'CREATE POLICY "p" ON "t" FOR SELECT USING ("tenant_id" = (SELECT current_tenant_id()) OR (SELECT current_scope_kind()) = \'x\')',
    ),
    'CREATE POLICY "p" ON "t" FOR SELECT USING ("tenant_id" = current_tenant_id() OR current_scope_kind() = \'x\')',
  )
  const view = 'CREATE VIEW "v" AS SELECT * FROM "t" WHERE "id" = (SELECT current_tenant_id())'
  t.equal(withoutSubselects(view), view)
  const nested = 'CREATE POLICY "p" ON "t" USING (EXISTS (SELECT 1 FROM "o"))'
  t.equal(withoutSubselects(nested), nested, 'which Citus refuses, with its reason')
  t.end()
})

function isReference(name: string): boolean {
  return referenceTables.some((table) => table === name)
}

t.test(
  'functions do what triggers do elsewhere; a rule that finds nothing is an error',
  async (t) => {
    const { functions } = await readDefinitions()
    const derived = deriveFunctions(functions)
    for (const [name, statement] of derived) t.not(statement, functions.get(name), name)
    const deletesUsers = 'DELETE FROM public.users u WHERE u.id = '
    const noting = [...derived.values()].filter((text) => text.includes(deletesUsers))
    t.ok(noting.length > 0)
    for (const text of noting)
      t.match(text, /PERFORM public\.note_erased_user\(\w+\);\s+DELETE FROM public\.users/)
    const changesMember = /PERFORM pg_advisory_xact_lock\(\d+\);\s+UPDATE public\.memberships/
    t.match(derived.get('change_member'), changesMember, 'one change of people at a time')
    const reworded = new Map(
      [...functions].map(([name, text]) => [
        name,
        text.replaceAll(deletesUsers, 'DELETE FROM public.users u WHERE id = '),
      ]),
    )
    t.throws(
      () => deriveFunctions(reworded),
      /No function of the migrations has DELETE FROM public/,
    )
    const without = new Map([...functions].filter(([name]) => name !== 'check_windows'))
    t.throws(() => deriveFunctions(without), /no function check_windows/)
  },
)
