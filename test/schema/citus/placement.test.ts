import { readFile } from 'node:fs/promises'
import t from 'tap'
import { listAssets } from '#src/runtime/assets.ts'
import {
  citusTables,
  distributedTables,
  functionsOnShards,
  referenceTables,
} from '#src/schema/citus/placement.ts'
import { readCitusDefinitions } from '#src/schema/citus/script.ts'
import { type Definitions, divide, nameOf, readDefinitions } from '#src/schema/definitions.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { isOnCluster } from '#test/support/database/template.ts'

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
  if (isOnCluster()) {
    await t.rejects(added, /cannot create foreign key constraint/)
  } else {
    await added
    t.strictSame(await refused(), ['cascading_fkey'])
  }
})

// Citus copies policies to its nodes without AS RESTRICTIVE: there they would permit, and to everyone.
t.test('no policy is restrictive', async (t) => {
  const { scripts } = await readCitusDefinitions()
  const restrictive = (texts: readonly string[]) =>
    texts.flatMap(divide).filter((text) => /\bAS RESTRICTIVE\b/.test(text))
  t.strictSame(restrictive(scripts.policies), [])
  t.not(restrictive((await readDefinitions()).scripts.policies).length, 0, 'one would be found')
  const invoices = scripts.policies.flatMap(divide).find((text) => / ON invoices\b/.test(text))
  t.match(invoices, /tenant_id = .* AND \(.*for_managers/s, 'who sees a row is in the one policy')
})

t.test('no policy of a table that Citus knows has a subquery', async (t) => {
  const { scripts } = await readCitusDefinitions()
  const statements = scripts.policies.flatMap(divide)
  for (const table of citusTables) {
    const policies = statements.filter((text) =>
      new RegExp(`CREATE POLICY \\w+ ON ${table}\\b`).test(text),
    )
    for (const policy of policies) t.notMatch(policy, /\(SELECT\b/, policy)
  }
})

t.test('every statement of a cluster ends before an empty line, and has none inside', async (t) => {
  const { scripts } = await readCitusDefinitions()
  for (const script of Object.values(scripts).flat()) {
    for (const statement of divide(script)) {
      t.match(statement, /^(\s*--.*\n|\s*\n)*(CREATE|ALTER|SELECT)\b/, statement.slice(0, 80))
    }
  }
})

const functions = ({ scripts }: Definitions) =>
  new Map(scripts.functions.flatMap(divide).map((text) => [nameOf(text), text]))

t.test('a cluster has every function once, and another text only where it needs one', async (t) => {
  const base = functions(await readDefinitions())
  const own = functions(await readCitusDefinitions())
  t.strictSame(
    [...base.keys()].filter((name) => !own.has(name)),
    ['keep_posts_words'],
    'searches of a cluster look at the rows',
  )
  const texts = (await readCitusDefinitions()).scripts.functions.flatMap(divide)
  t.equal(own.size, texts.length, 'each once')
  t.ok(own.size > base.size, 'functions of its own')
  const paths = (await listAssets('prisma/citus/functions')).map((path) => readFile(path, 'utf8'))
  for (const text of (await Promise.all(paths)).flatMap(divide)) {
    t.not(withoutComment(text), withoutComment(base.get(nameOf(text)) ?? ''), nameOf(text))
  }
})

function withoutComment(statement: string): string {
  const lines = statement.split('\n').filter((line) => !line.startsWith('--'))
  return lines.join(' ').split(/\s+/).join(' ').trim()
}

t.test('a function that reads shards is that of one PostgreSQL, and writes none', async (t) => {
  const base = functions(await readDefinitions())
  const own = functions(await readCitusDefinitions())
  const written = new RegExp(
    `(INSERT INTO|UPDATE|DELETE FROM) public\\.(${referenceTables.join('|')}) `,
  )
  t.match('DELETE FROM public.users u', written)
  for (const name of functionsOnShards) {
    const text = own.get(name) ?? ''
    t.equal(text.replaceAll(/[{}]/g, ''), base.get(name), name)
    t.match(text, /public\.\{\w+\} /)
    t.notMatch(text, written)
  }
})

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
