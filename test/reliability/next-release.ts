import { execFile } from 'node:child_process'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { version } from '#src/runtime/assets.ts'
import { copyTree } from '#test/mutation/lane.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

const run = promisify(execFile)

/*
 * The next release, made from this tree, whose version has a tag then: a column with values for existing rows, an index on it, a
 * new table with a policy and a function that the web role may call, another name for a function that
 * every request calls, their privileges, and code that reads the column.
 */

const migrations = {
  '29990101000000_order_reference': `ALTER TABLE orders ADD COLUMN reference text;
CREATE TABLE order_labels (tenant_id uuid NOT NULL, label text NOT NULL);
ALTER TABLE order_labels ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;`,
  // The owner is under row-level security too, so this goes from scope to scope.
  '29990102000000_order_reference_values': `DO $$
DECLARE person bigint;
BEGIN
  FOR person IN SELECT id FROM users LOOP
    PERFORM set_scope('owner', '', person, NULL);
    UPDATE orders SET reference = 'R-' || id::text WHERE user_id = person AND reference IS NULL;
  END LOOP;
END $$;`,
  '29990103000000_order_reference_index':
    'CREATE INDEX CONCURRENTLY orders_reference ON orders (tenant_id, reference);',
}

const [major, minor] = version.split('.').map(Number)
const nextVersion = `${major}.${(minor ?? 0) + 1}.0`

/** What is added to a file, or a new file. */
const additions = {
  'prisma/policies.sql': `
CREATE POLICY tenant_scope ON order_labels
  USING (tenant_id = (SELECT current_tenant_id())) WITH CHECK (tenant_id = (SELECT current_tenant_id()));
`,
  'prisma/functions/order-labels.sql': `-- Labels of orders.

CREATE OR REPLACE FUNCTION count_labels() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (SELECT count(*) FROM public.order_labels l WHERE l.tenant_id = public.current_tenant_id());
END
$$;
`,
} as const

/** File, text in it, and its replacement in the next release. */
const changes = [
  ['package.json', `"version": "${version}"`, `"version": "${nextVersion}"`],
  ['src/runtime/assets.ts', `version = '${version}'`, `version = '${nextVersion}'`],
  [
    'src/domain/rows.ts',
    '  return columnOf(key) === key',
    `  if (key === 'shippingAddress') return Prisma.sql\`shipping_address || jsonb_build_object('line2', reference) AS "shippingAddress"\`\n  return columnOf(key) === key`,
  ],
  [
    'src/schema/tables.ts',
    'Object.entries(privilegesOf(resources))',
    `Object.entries({
  ...privilegesOf(resources),
  orders: { web: 'SELECT, INSERT, UPDATE (shipping_address, updated_at, reference)', worker: '' },
  order_labels: { web: 'SELECT', worker: '' },
})`,
  ],
  [
    'src/schema/tables.ts',
    `    'touch_session(bytea)',`,
    `    'touch_session(bytea)',\n    'count_labels()',\n    'open_session(bytea, integer, boolean)',`,
  ],
  ['src/auth/sessions/enter.ts', ' FROM enter_session(', ' FROM open_session('],
] as const

export type NextRelease = {
  /** Its tree: a repository in which this release has a tag. */
  folder: string
  version: string
  /** Its command line. */
  entry: string
  /** Its test/billing/half.ts. */
  half: string
  /** The migrations that it adds. */
  adds: string[]
}

export async function makeNextRelease(t: Pick<Test, 'teardown'>): Promise<NextRelease> {
  const folder = join(await temporaryFolder(t), 'next')
  await copyTree(fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''), folder)
  await tagRelease(folder)
  for (const [name, sql] of Object.entries(migrations)) {
    await mkdir(join(folder, 'prisma/migrations', name))
    await writeFile(join(folder, 'prisma/migrations', name, 'migration.sql'), sql)
  }
  for (const [file, text] of Object.entries(additions)) {
    await appendFile(join(folder, file), text)
  }
  await renameFunction(join(folder, 'prisma/functions'), 'enter_session', 'open_session')
  for (const [file, before, after] of changes) {
    const path = join(folder, file)
    const text = await readFile(path, 'utf8')
    if (!text.includes(before))
      throw new Error(`${file} no longer has “${before}”: adapt this test`)
    await writeFile(path, text.replaceAll(before, after))
  }
  return {
    folder,
    version: nextVersion,
    entry: join(folder, 'src/cli.ts'),
    half: join(folder, 'test/billing/half.ts'),
    adds: Object.keys(migrations),
  }
}

async function tagRelease(folder: string): Promise<void> {
  const git = (...args: string[]) => run('git', args, { cwd: folder })
  await git('init', '--quiet')
  await git('add', '--all', '--', '.', ':!node_modules') // a link
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@localhost']
  await git(...author, 'commit', '--quiet', `--message=${version}`)
  await git('tag', `v${version}`)
}

/** As docs/upgrades.md says: the old one stays in previous.sql, for processes of the release before. */
async function renameFunction(folder: string, name: string, to: string): Promise<void> {
  const file = join(folder, 'credentials.sql')
  const text = await readFile(file, 'utf8')
  const start = text.indexOf(`CREATE OR REPLACE FUNCTION ${name}(`)
  const definition = text.slice(start, text.indexOf('$$;\n', start) + '$$;\n'.length)
  const renamed = definition.replace(`FUNCTION ${name}(`, `FUNCTION ${to}(`)
  await writeFile(
    file,
    text.replace(definition, () => renamed),
  )
  await appendFile(join(folder, 'previous.sql'), `-- For the release before.\n\n${definition}`)
}
