import { execFile } from 'node:child_process'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { version } from '#src/runtime/assets.ts'
import { copyTree } from '#test/mutation/lane.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

const run = promisify(execFile)

/*
 * Three releases, each made from the tree before it; this tree's version has a tag then.
 *
 * Expand: a column with values for existing rows, an index on it, a new table with a policy and a function that
 * the web role may call, another name for a function that every request calls, their privileges, and code that
 * reads the column.
 * Contract: deletes the function by its old name, and stops using the column, the table and the new function.
 * Expand again: drops these, adds a column, and gives the function of every request a third name.
 */

type Changes = {
  migrations: Readonly<Record<string, string>>
  /** What is added to a file, or a new file. */
  additions: Readonly<Record<string, string>>
  /** File, text in it, and its replacement. */
  changes: readonly (readonly [string, string, string])[]
  /** A function that gets another name: the old one stays in previous.sql. */
  rename?: readonly [string, string]
  /** Files that are deleted first. */
  deletes?: readonly string[]
}

const tables = 'src/schema/tables.ts'
const entry = 'src/auth/sessions/enter.ts'
const isolation = 'src/schema/verification/verify-isolation.ts'
const rows = 'src/schema/verification/isolation-rows.ts'
const monitor = 'src/schema/verification/verify-monitor.ts'

const policy = `
CREATE POLICY tenant_scope ON order_labels
  USING (tenant_id = (SELECT current_tenant_id())) WITH CHECK (tenant_id = (SELECT current_tenant_id()));
`
const countLabels = `CREATE OR REPLACE FUNCTION count_labels() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (SELECT count(*) FROM public.order_labels l WHERE l.tenant_id = public.current_tenant_id());
END
$$;
`
const ownPrivileges = 'Object.entries(privilegesOf(resources, worksInBackground))'
const morePrivileges = `Object.entries({
  ...privilegesOf(resources, worksInBackground),
  orders: { web: 'SELECT, INSERT, UPDATE (shipping_address, updated_at, reference)', worker: '' },
  order_labels: { web: 'SELECT, INSERT', worker: '' },
})`
const ownColumn = '  return value === key ? column(key)'
const moreColumn = `  if (key === 'shippingAddress') return Prisma.sql\`shipping_address || jsonb_build_object('line2', reference) AS "shippingAddress"\`\n  return value === key ? column(key)`
const lastRow = '  audit_log: ({ tenantId, userId }) => ({'
const labelRow = `  order_labels: ({ tenantId }) => ({
    text: \`INSERT INTO order_labels (tenant_id, label) VALUES ($1, 'isolation test')\`,
    values: [tenantId],
  }),
${lastRow}`
const signature = (name: string) => `    '${name}(bytea, integer, boolean)',\n`
const callers = (from: string, to: string) =>
  [
    [entry, ` FROM ${from}(`, ` FROM ${to}(`],
    [isolation, `SELECT ${from}(`, `SELECT ${to}(`],
  ] as const

const expand: Changes = {
  migrations: {
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
  },
  additions: {
    'prisma/policies.sql': policy,
    'prisma/functions/order-labels.sql': `-- Labels of orders.\n\n${countLabels}`,
  },
  rename: ['enter_session', 'open_session'],
  changes: [
    ['src/rows/columns.ts', ownColumn, moreColumn],
    [tables, ownPrivileges, morePrivileges],
    [
      tables,
      signature('enter_session'),
      `${signature('enter_session')}${signature('open_session')}    'count_labels()',\n`,
    ],
    [rows, lastRow, labelRow],
    ...callers('enter_session', 'open_session'),
  ],
}

const contract: Changes = {
  migrations: {},
  deletes: ['prisma/functions/previous.sql', 'prisma/functions/order-labels.sql'],
  additions: { 'prisma/functions/previous.sql': `-- For the release before.\n\n${countLabels}` },
  changes: [
    ['src/rows/columns.ts', moreColumn, ownColumn],
    [tables, signature('enter_session'), ''],
  ],
}

const expandAgain: Changes = {
  migrations: {
    '29990201000000_drop_labels': `DROP TABLE order_labels;
ALTER TABLE orders DROP COLUMN reference, ADD COLUMN note text;`,
  },
  deletes: ['prisma/functions/previous.sql'],
  additions: {},
  rename: ['open_session', 'resume_session'],
  changes: [
    ['prisma/policies.sql', policy, ''],
    [tables, morePrivileges, ownPrivileges],
    [tables, "    'count_labels()',\n", signature('resume_session')],
    [rows, labelRow, lastRow],
    ...callers('open_session', 'resume_session'),
  ],
}

/** The verification of every minute runs every second, and says when it has ended. */
const watchful = [
  [monitor, 'intervalSeconds = 60', 'intervalSeconds = 1'],
  [monitor, '    found = finding\n', "    found = finding\n    log.info({}, 'verified again')\n"],
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
  for (const change of watchful) await replaceIn(folder, change)
  await tagRelease(folder)
  return change(folder, version, expand)
}

/** The two releases after `makeNextRelease`, without a tag. */
export async function makeFurtherReleases(
  t: Pick<Test, 'teardown'>,
  next: NextRelease,
): Promise<[NextRelease, NextRelease]> {
  const folder = await temporaryFolder(t)
  await copyTree(next.folder, join(folder, 'second'))
  const second = await change(join(folder, 'second'), next.version, contract)
  await copyTree(second.folder, join(folder, 'third'))
  return [second, await change(join(folder, 'third'), second.version, expandAgain)]
}

/** Turns the tree of a release into that of the next one. */
async function change(folder: string, before: string, changes: Changes): Promise<NextRelease> {
  const [major, minor] = before.split('.').map(Number)
  const after = `${major}.${(minor ?? 0) + 1}.0`
  for (const file of changes.deletes ?? []) await rm(join(folder, file))
  for (const [name, sql] of Object.entries(changes.migrations)) {
    await mkdir(join(folder, 'prisma/migrations', name))
    await writeFile(join(folder, 'prisma/migrations', name, 'migration.sql'), sql)
  }
  for (const [file, text] of Object.entries(changes.additions)) {
    await appendFile(join(folder, file), text)
  }
  if (changes.rename) await renameFunction(join(folder, 'prisma/functions'), ...changes.rename)
  const ofVersion = [
    ['package.json', `"version": "${before}"`, `"version": "${after}"`],
    ['src/runtime/assets.ts', `version = '${before}'`, `version = '${after}'`],
  ] as const
  for (const one of [...ofVersion, ...changes.changes]) await replaceIn(folder, one)
  return {
    folder,
    version: after,
    entry: join(folder, 'src/cli.ts'),
    half: join(folder, 'test/billing/half.ts'),
    adds: Object.keys(changes.migrations),
  }
}

async function replaceIn(
  folder: string,
  [file, before, after]: readonly [string, string, string],
): Promise<void> {
  const path = join(folder, file)
  const text = await readFile(path, 'utf8')
  if (!text.includes(before)) throw new Error(`${file} no longer has “${before}”: adapt this test`)
  await writeFile(
    path,
    text.replaceAll(before, () => after),
  )
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
