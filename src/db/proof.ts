import pg from 'pg'
import { readMigrations } from './migration-files.ts'
import { identityPlane, serviceTables } from './planes.ts'
import { poolOptions } from './pool-options.ts'

/** One thing that is wrong with the database, and what mends it. */
export type Flaw = { problem: string; remedy: string }

/**
 * Proves that the role at `url` cannot get around row-level security, that every table outside the
 * named lists is under it, and that the schema is the one this program was built for.
 * @returns every flaw found; none means `serve` may listen
 * @throws the connection error when the database cannot be reached
 */
export async function proveDatabase(url: string): Promise<Flaw[]> {
  const client = new pg.Client(poolOptions(url, 1))
  client.on('error', () => {})
  await client.connect()
  try {
    const behind = await findMissingMigrations(client)
    if (behind !== null) return [behind]
    return [...(await findRoleFlaws(client)), ...(await findTableFlaws(client))]
  } finally {
    await client.end()
  }
}

async function findMissingMigrations(client: pg.Client): Promise<Flaw | null> {
  const remedy = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'
  const { rows: tables } = await client.query<{ readable: boolean | null }>(
    `SELECT has_table_privilege(to_regclass('_prisma_migrations'), 'SELECT') AS readable`,
  )
  if (tables[0]?.readable !== true) {
    return { problem: 'The database has no schema for this role yet.', remedy }
  }
  const { rows } = await client.query<{ migration_name: string }>(
    'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  )
  const applied = new Set(rows.map((row) => row.migration_name))
  const missing = (await readMigrations()).filter(({ name }) => !applied.has(name))
  if (missing.length === 0) return null
  const names = missing.map(({ name }) => name).join(', ')
  return { problem: `The database is behind by ${missing.length} migration(s): ${names}.`, remedy }
}

type RoleFacts = {
  name: string
  superuser: boolean
  bypasses: boolean
  creates: boolean
  owned: string[]
  truncates: string[]
}

async function findRoleFlaws(client: pg.Client): Promise<Flaw[]> {
  const { rows } = await client.query<RoleFacts>(`
    SELECT current_user AS name, r.rolsuper AS superuser,
      EXISTS (SELECT FROM pg_roles m WHERE (m.rolbypassrls OR m.rolsuper)
              AND pg_has_role(current_user, m.oid, 'MEMBER')) AS bypasses,
      has_schema_privilege('public', 'CREATE') AS creates,
      ARRAY(SELECT c.relname::text FROM pg_class c
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
              AND pg_has_role(current_user, c.relowner, 'MEMBER')) AS owned,
      ARRAY(SELECT c.relname::text FROM pg_class c
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
              AND has_table_privilege(c.oid, 'TRUNCATE, REFERENCES, TRIGGER')) AS truncates
    FROM pg_roles r WHERE r.rolname = current_user`)
  const [role] = rows
  if (role === undefined) return []
  const remedy =
    'Name another role in the connection URL and run `gatehouse migrate`; it gives that role what it needs and no more.'
  const flaws: Flaw[] = []
  const add = (problem: string) => flaws.push({ problem, remedy })
  if (role.superuser || role.bypasses) {
    add(`The role ${role.name} can bypass row-level security (superuser or BYPASSRLS).`)
  } else if (role.owned.length > 0) {
    add(`The role ${role.name} owns tables (${role.owned.slice(0, 3).join(', ')} …).`)
  }
  if (role.creates) add(`The role ${role.name} may create objects in the schema public.`)
  if (role.truncates.length > 0 && flaws.length === 0) {
    add(`The role ${role.name} may TRUNCATE, REFERENCE or TRIGGER ${role.truncates.join(', ')}.`)
  }
  return flaws
}

type TableFacts = {
  name: string
  kind: 'r' | 'p' | 'v' | 'm'
  enabled: boolean
  forced: boolean
  invoker: boolean
  readable: boolean
  open: boolean
}

/** Every table and view in the schema is either named in src/db/planes.ts or locked. */
async function findTableFlaws(client: pg.Client): Promise<Flaw[]> {
  const { rows } = await client.query<TableFacts>(
    `
    SELECT c.relname AS name, c.relkind AS kind,
      c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
      coalesce('security_invoker=true' = ANY (c.reloptions)
            OR 'security_invoker=on' = ANY (c.reloptions), false) AS invoker,
      EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive
              AND p.polcmd IN ('*', 'r')) AS readable,
      EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive
              AND (pg_get_expr(p.polqual, p.polrelid) = 'true'
                OR (p.polcmd IN ('*', 'w') AND coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'true') = 'true'))
             ) AS open
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
      AND NOT c.relname = ANY ($1) ORDER BY c.relname`,
    [[...identityPlane, ...serviceTables]],
  )
  return rows.flatMap((table) => {
    const problem = tableProblem(table)
    return problem === null
      ? []
      : [{ problem, remedy: 'Restore it as the migrations make it; see prisma/migrations.' }]
  })
}

function tableProblem(table: TableFacts): string | null {
  const { name } = table
  if (table.kind === 'm') return `The materialized view ${name} cannot be under row-level security.`
  if (table.kind === 'v') return table.invoker ? null : `The view ${name} is not security_invoker.`
  if (!table.enabled) return `The table ${name} is not under row-level security.`
  if (!table.forced) return `Row-level security of the table ${name} is not forced on its owner.`
  if (!table.readable) return `The table ${name} has no policy that lets its rows be read in scope.`
  if (table.open) return `A policy of the table ${name} lets rows of every scope through.`
  return null
}
