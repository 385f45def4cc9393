import pg from 'pg'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { splitStatements } from '../definitions.ts'
import { repairPolicies } from '../repair.ts'
import { readShardNames } from './cluster.ts'
import { readCitusDefinitions, readCitusFunctions } from './definitions.ts'
import { citusTables, isReferenceTable, referenceTables } from './placement.ts'

/** Called with each step that takes time or changes something. */
export type Progress = (line: string) => void

/**
 * Distributes the migrated database with Citus: functions and policies in the form that Citus accepts,
 * reference tables, then every tenant table by `tenant_id`. A table with rows is distributed while it is
 * written to. Foreign keys are dropped first and added again at the end, from a list that is kept in the
 * database meanwhile, so a run that was interrupted is continued by the next one. Changes nothing on a
 * database that is distributed already.
 * @param owner a connection to the coordinator as the owner of the tables
 */
export async function distribute(owner: pg.Client, progress: Progress): Promise<void> {
  await owner.query(sessionSettings)
  await replaceFunctions(owner)
  await replacePolicies(owner, progress)
  const missing = await findUndistributed(owner)
  if (missing.length > 0) await setKeysAside(owner, progress)
  await dropReferenceTriggers(owner)
  for (const table of missing) await distributeTable(owner, table, progress)
  await restoreKeys(owner, progress)
  await replaceFunctions(owner) // with the names of the shards
}

/** Triggers on distributed tables are those of the counters, which write only rows of the same tenant. */
const sessionSettings = `
  SET citus.enable_unsafe_triggers = on;
  SET citus.multi_shard_modify_mode = 'sequential'`

async function replaceFunctions(owner: pg.Client): Promise<void> {
  const statements = splitStatements(await readCitusFunctions(owner))
  for (const statement of statements.filter((text) => !text.startsWith('CREATE POLICY'))) {
    await owner.query(statement)
  }
}

/** Recreates the policies of tables that have one with a subquery, each table in one transaction. */
async function replacePolicies(owner: pg.Client, progress: Progress): Promise<void> {
  const { rows } = await owner.query<{ name: string; policies: string[] }>(policiesWithSubqueries, [
    citusTables,
  ])
  const definitions = await readCitusDefinitions(owner)
  for (const table of rows) {
    const unchanged = { ...table, public: false, enabled: true, forced: true }
    const statements = repairPolicies(unchanged, definitions)
    await owner.query(['BEGIN', ...statements, 'COMMIT'].join(';\n'))
  }
  if (rows.length > 0) progress(`policies of ${rows.length} tables without subqueries`)
}

const policiesWithSubqueries = `
  SELECT c.relname AS name, array_agg(p.polname::text ORDER BY p.polname) AS policies
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)
  GROUP BY c.relname
  HAVING bool_or(pg_get_expr(p.polqual, p.polrelid) ~ '\\mSELECT\\M'
                 OR pg_get_expr(p.polwithcheck, p.polrelid) ~ '\\mSELECT\\M')
  ORDER BY c.relname`

const placements = `
  SELECT w.name, w.kind, t.citus_table_type::text AS found, t.distribution_column AS "column",
    t.colocation_id = (SELECT o.colocation_id FROM citus_tables o
                       WHERE o.table_name = 'public.orders'::regclass) AS colocated
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (name, kind, position)
  LEFT JOIN citus_tables t ON t.table_name = to_regclass('public.' || quote_ident(w.name))
  ORDER BY w.position`

type Placement = {
  name: string
  kind: 'distributed' | 'reference'
  found: string | null
  column: string | null
  colocated: boolean | null
}

/** @throws OperatorError if a table was distributed in another way */
async function findUndistributed(owner: pg.Client): Promise<string[]> {
  const kinds = citusTables.map((name) => (isReferenceTable(name) ? 'reference' : 'distributed'))
  const { rows } = await owner.query<Placement>(placements, [citusTables, kinds])
  const wrong = rows.find((row) => !isUndistributed(row) && !isAsPlanned(row))
  if (wrong !== undefined) throw placedByHand(wrong)
  return rows.filter(isUndistributed).map(({ name }) => name)
}

/** A table that has only a key to a reference table is in Citus's metadata as a local one. */
function isUndistributed({ found }: Placement): boolean {
  return found === null || found === 'local'
}

function isAsPlanned({ kind, found, column, colocated }: Placement): boolean {
  if (found !== kind) return false
  return kind === 'reference' || (column === 'tenant_id' && colocated === true)
}

function placedByHand({ name, kind }: Placement): OperatorError {
  const planned = kind === 'reference' ? 'a reference table' : 'by tenant_id, with orders'
  return new OperatorError(
    `The table ${name} is distributed in another way than ${planned}.`,
    `Undo it with SELECT undistribute_table('${name}', cascade_via_foreign_keys => true); then run \`gatehouse migrate --citus\` again.`,
  )
}

/** Citus runs no triggers of reference tables; functions do their work. */
async function dropReferenceTriggers(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ table: string; name: string }>(
    `SELECT c.relname AS table, g.tgname AS name FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
     WHERE NOT g.tgisinternal AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)`,
    [referenceTables],
  )
  for (const { table, name } of rows) {
    await owner.query(`DROP TRIGGER ${pg.escapeIdentifier(name)} ON ${pg.escapeIdentifier(table)}`)
  }
}

/** Keys from or to a table that is not distributed yet; Citus accepts most of them only afterwards. */
async function setKeysAside(owner: pg.Client, progress: Progress): Promise<void> {
  await owner.query('BEGIN')
  await owner.query(
    `CREATE TABLE IF NOT EXISTS ${aside} (
       "table" text NOT NULL, "name" text NOT NULL, "definition" text NOT NULL)`,
  )
  const { rows } = await owner.query<{ table: string; name: string }>(
    `INSERT INTO ${aside}
     SELECT c.conrelid::regclass::text, c.conname, pg_get_constraintdef(c.oid)
     FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid
     WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace
       AND (t.relname = ANY ($1) OR r.relname = ANY ($1))
     RETURNING "table", "name"`,
    [citusTables],
  )
  for (const { table, name } of rows) {
    await owner.query(`ALTER TABLE ${table} DROP CONSTRAINT ${pg.escapeIdentifier(name)}`)
  }
  await owner.query('COMMIT')
  if (rows.length > 0) progress(`${rows.length} foreign keys set aside`)
}

async function restoreKeys(owner: pg.Client, progress: Progress): Promise<void> {
  const { rows: tables } = await owner.query(`SELECT 1 WHERE to_regclass('${aside}') IS NOT NULL`)
  if (tables.length === 0) return
  const { rows } = await owner.query<{ table: string; name: string; definition: string }>(
    `SELECT "table", "name", "definition" FROM ${aside} ORDER BY "definition" ~ 'REFERENCES tenants' DESC`,
  )
  const shards = await readShardNames(owner)
  for (const { table, name, definition } of rows) {
    const key = citusTables.includes(table) ? definition : toShard(definition, shards)
    await owner.query(`ALTER TABLE ${table} ADD CONSTRAINT ${pg.escapeIdentifier(name)} ${key}`)
    await owner.query(`DELETE FROM ${aside} WHERE "table" = $1 AND "name" = $2`, [table, name])
  }
  await owner.query(`DROP TABLE ${aside}`)
  progress(`${rows.length} foreign keys added again`)
}

/**
 * A key of an ordinary table leads to the coordinator's copy of the reference table. To the reference
 * table itself it would make the ordinary table one of Citus's, which accept fewer statements.
 */
function toShard(definition: string, shards: ReadonlyMap<string, string>): string {
  return definition.replace(
    / REFERENCES (\w+)/,
    (_, table: string) => ` REFERENCES ${shards.get(table) ?? table}`,
  )
}

/** The foreign keys of an unfinished distribution. While it exists, the program does not start. */
const aside = 'keys_set_aside'

async function distributeTable(owner: pg.Client, name: string, progress: Progress): Promise<void> {
  const table = pg.escapeLiteral(`public.${name}`)
  if (isReferenceTable(name)) {
    if (name === 'scope_keys') {
      await owner.query('ALTER TABLE scope_keys ALTER COLUMN id TYPE bigint')
    }
    await owner.query(`SELECT create_reference_table(${table})`)
    return progress(`${name} copied to every node`)
  }
  const { rows } = await owner.query(`SELECT 1 FROM ${pg.escapeIdentifier(name)} LIMIT 1`)
  const create =
    rows.length > 0 ? 'create_distributed_table_concurrently' : 'create_distributed_table'
  const together = name === 'orders' ? 'none' : 'public.orders'
  await owner.query(`SELECT ${create}(${table}, 'tenant_id', colocate_with => '${together}')`)
  progress(`${name} distributed${rows.length > 0 ? ' with its rows' : ''}`)
}
