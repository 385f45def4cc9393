import pg from 'pg'
import { defineFunctions } from '../define.ts'
import { readShardNames } from './cluster.ts'
import { findUndistributed } from './placed.ts'
import { citusTables, firstTable, functionsOfTriggers, isReferenceTable } from './placement.ts'
import { readCitusDefinitions, runStatements, sessionSettings } from './script.ts'

/** Called with each step that takes time or changes something. */
export type Progress = (line: string) => void

/**
 * Distributes the migrated database with Citus: functions in the form that Citus accepts, reference tables,
 * then every tenant table by `tenant_id`, with its rows. Tables that are moved have no policies until
 * `migrate` defines those of prisma/citus, so they show no rows meanwhile. Foreign keys are dropped first
 * and added again at the end, from a list that is kept in the database meanwhile, so a run that was
 * interrupted is continued by the next one. Changes nothing on a database that is distributed already.
 * @param owner a connection to the coordinator as the owner of the tables
 */
export async function distribute(owner: pg.Client, progress: Progress): Promise<void> {
  await owner.query(sessionSettings.join(';'))
  await replaceFunctions(owner)
  const missing = await findUndistributed(owner)
  if (missing.length > 0) await setKeysAside(owner, progress)
  for (const table of missing.filter(isReferenceTable)) {
    await distributeTable(owner, table, progress)
  }
  await replaceFunctions(owner) // with the names of the shards
  for (const table of missing.filter((name) => !isReferenceTable(name))) {
    await distributeTable(owner, table, progress)
    if (table === 'usage_changes') await distributeFunctions(owner)
  }
  await restoreKeys(owner, progress)
}

async function replaceFunctions(owner: pg.Client): Promise<void> {
  const definitions = await readCitusDefinitions()
  await owner.query('BEGIN')
  try {
    await defineFunctions(owner, { definitions, run: runStatements })
    await owner.query('COMMIT')
  } catch (error) {
    await owner.query('ROLLBACK')
    throw error
  }
}

/**
 * What the triggers of shards call. Citus finds the functions of policies and triggers by itself, but not
 * what is called in their bodies, if they were made before the extension.
 */
async function distributeFunctions(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ signature: string }>(
    `SELECT p.oid::regprocedure::text AS signature FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND p.proname = ANY ($1)
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_dist_object o
                       WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)`,
    [functionsOfTriggers],
  )
  for (const { signature } of rows) {
    await owner.query('SELECT create_distributed_function($1::regprocedure)', [signature])
  }
}

/**
 * Drops the policies of a table, because Citus refuses their subqueries, and distributes it with its rows,
 * in one transaction: statements that write to it wait. Citus copies the rows with COPY, which forced row-level
 * security refuses, so it is not forced within this transaction. For the same reason
 * create_distributed_table_concurrently is not used: it needs several transactions.
 */
async function distributeTable(owner: pg.Client, name: string, progress: Progress): Promise<void> {
  const begun = performance.now()
  const table = pg.escapeLiteral(`public.${name}`)
  const together = pg.escapeLiteral(name === firstTable ? 'none' : `public.${firstTable}`)
  await owner.query('BEGIN')
  try {
    await dropPolicies(owner, name)
    if (name === 'scope_keys')
      await owner.query('ALTER TABLE scope_keys ALTER COLUMN id TYPE bigint')
    const isForced = await setForced(owner, name, false)
    const triggers = await dropTriggers(owner, name)
    const { rows } = await owner.query<{ count: string }>(
      `SELECT count(*) FROM ${pg.escapeIdentifier(name)}`,
    )
    progress(`${name}: moving ${rows[0]?.count} rows`)
    await owner.query(
      isReferenceTable(name)
        ? `SELECT create_reference_table(${table})`
        : `SELECT create_distributed_table(${table}, 'tenant_id', colocate_with => ${together})`,
    )
    for (const trigger of isReferenceTable(name) ? [] : triggers) await owner.query(trigger)
    if (isForced) await setForced(owner, name, true)
    await owner.query('COMMIT')
    const where = isReferenceTable(name) ? 'copied to every node' : 'distributed'
    progress(`${name} ${where} ${secondsSince(begun)}`)
  } catch (error) {
    await owner.query('ROLLBACK')
    throw error
  }
}

function secondsSince(begun: number): string {
  return `in ${((performance.now() - begun) / 1_000).toFixed(1)} s`
}

/**
 * Copied rows would be counted again. Citus runs no triggers of reference tables; functions do their work.
 * @returns the statements that create them
 */
async function dropTriggers(owner: pg.Client, name: string): Promise<string[]> {
  const table = pg.escapeIdentifier(name)
  const { rows } = await owner.query<{ trigger: string; definition: string }>(
    `SELECT tgname AS trigger, pg_get_triggerdef(oid) AS definition FROM pg_trigger
     WHERE NOT tgisinternal AND tgrelid = to_regclass('public.' || quote_ident($1))`,
    [name],
  )
  for (const { trigger } of rows) {
    await owner.query(`DROP TRIGGER ${pg.escapeIdentifier(trigger)} ON ${table}`)
  }
  return rows.map(({ definition }) => definition)
}

/** @returns whether it was forced before */
async function setForced(owner: pg.Client, name: string, forced: boolean): Promise<boolean> {
  const { rows } = await owner.query<{ forced: boolean }>(
    `SELECT relforcerowsecurity AS forced FROM pg_class WHERE oid = to_regclass('public.' || quote_ident($1))`,
    [name],
  )
  const was = rows[0]?.forced === true
  const force = forced ? 'FORCE' : 'NO FORCE'
  if (was !== forced) {
    await owner.query(`ALTER TABLE ${pg.escapeIdentifier(name)} ${force} ROW LEVEL SECURITY`)
  }
  return was
}

async function dropPolicies(owner: pg.Client, name: string): Promise<void> {
  const { rows } = await owner.query<{ policy: string }>(
    `SELECT polname AS policy FROM pg_policy WHERE polrelid = to_regclass('public.' || quote_ident($1))`,
    [name],
  )
  for (const { policy } of rows) {
    await owner.query(`DROP POLICY ${pg.escapeIdentifier(policy)} ON ${pg.escapeIdentifier(name)}`)
  }
}

/** Keys from or to a table that is not distributed yet; Citus accepts most of them only afterwards. */
async function setKeysAside(owner: pg.Client, progress: Progress): Promise<void> {
  await owner.query('BEGIN')
  await owner.query(
    `CREATE TABLE IF NOT EXISTS ${keysAside} (
       "table" text NOT NULL, "name" text NOT NULL, "definition" text NOT NULL)`,
  )
  const { rows } = await owner.query<{ table: string; name: string }>(
    `INSERT INTO ${keysAside}
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

/** In one transaction, in which the owner sees all rows: a key is checked with the rights of the owner. */
async function restoreKeys(owner: pg.Client, progress: Progress): Promise<void> {
  const { rows: tables } = await owner.query(
    `SELECT 1 WHERE to_regclass('${keysAside}') IS NOT NULL`,
  )
  if (tables.length === 0) return
  const { rows } = await owner.query<{ table: string; name: string; definition: string }>(
    `SELECT "table", "name", "definition" FROM ${keysAside}`,
  )
  const shards = await readShardNames(owner)
  const begun = performance.now()
  await owner.query('BEGIN')
  try {
    const forced: string[] = []
    for (const table of citusTables) if (await setForced(owner, table, false)) forced.push(table)
    for (const { table, name, definition } of rows) {
      progress(`${table}: adding the foreign key ${name}`)
      const key = citusTables.includes(table) ? definition : toShard(definition, shards)
      await owner.query(`ALTER TABLE ${table} ADD CONSTRAINT ${pg.escapeIdentifier(name)} ${key}`)
    }
    for (const table of forced) await setForced(owner, table, true)
    await owner.query(`DROP TABLE ${keysAside}`)
    await owner.query('COMMIT')
  } catch (error) {
    await owner.query('ROLLBACK')
    throw error
  }
  progress(`${rows.length} foreign keys added again ${secondsSince(begun)}`)
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
export const keysAside = 'keys_set_aside'
