import pg from 'pg'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { type CatalogueObject, readCatalogue, readPrivileges } from './catalogue.ts'
import type { Definitions, Part } from './definitions.ts'
import { findDifferences } from './differences.ts'
import { refuseUnfinished, untilLocked } from './migrations/lock-retry.ts'
import {
  compareRelease,
  readRecord,
  recordObjects,
  recordPrivileges,
  recordRelease,
  type SchemaRecord,
} from './record.ts'
import { statementsOf } from './statements.ts'
import { callerFunctions, identityTables, serviceTables, tablePrivileges } from './tables.ts'

/** Tables that the migrations make, which policies and triggers are created on. */
const ownTables = Object.keys(tablePrivileges)

/**
 * Locked first, because requests lock them first: a request that waits holds no other table then.
 */
const firstTables = ['sessions', 'api_tokens', 'service_tokens', 'memberships', 'users', 'tenants']

export type Definer = {
  definitions: Definitions
  /** Runs the scripts of a part; by default each as one message. */
  run?: (owner: pg.ClientBase, script: string) => Promise<void>
  /** Further functions that run as their caller. */
  open?: readonly string[]
  /** Privileges are granted after the policies, even if they could be granted before. */
  grantsLast?: boolean
  /** The application roles. */
  roles: readonly string[]
  /** Grants all privileges, in the same transaction. */
  grant: () => Promise<void>
  /** How long it waits for the locks on all tables together. */
  lockWaitMs: number
}

/** Whether anything differs from the files of this release or from the record of the last run. */
export async function isDefined(
  owner: pg.ClientBase,
  { definitions, roles }: Definer,
): Promise<boolean> {
  const record = await readRecord(owner)
  if (record === null || compareRelease(record, definitions, false) !== 'same') return false
  if (roles.some((role) => !record.privileges.has(role))) return false
  return (await findDifferences(owner, record, roles)).length === 0
}

/**
 * Replaces the functions, policies, triggers and privileges by those of this release, and records how
 * PostgreSQL renders them. Runs in the caller's transaction, so other sessions see all of it at once.
 * Policies and triggers of a table are left alone, and it is not locked, if nothing about them differs.
 * @throws OperatorError if an object of the same name exists that no release created, or a table stays locked
 */
export async function define(owner: pg.ClientBase, definer: Definer): Promise<void> {
  const { definitions } = definer
  const record = await readRecord(owner)
  const stale = await findStale(owner, definer, record)
  const before = await listFunctions(owner)
  const functions = await replaceFunctions(owner, definer, before, record)
  const open = async () => {
    await checkBodies(owner, functions)
    await closeFunctions(owner, functions, definer.open)
    await definer.grant()
  }
  // Requests wait while the tables are locked, so what can be done before is. It cannot if it needs a view
  // that is new.
  const isOpen = record !== null && !definer.grantsLast && (await succeeds(owner, open))
  await recordFunctions(owner, functions)
  await closeFunctions(owner, recordedFunctions(record, 'triggers'), definer.open)
  await lockTables(owner, [...stale.policies, ...stale.triggers], definer.lockWaitMs)
  await dropPolicies(owner, stale.policies)
  await dropTriggers(owner, stale.triggers)
  if (stale.policies.length > 0) await runPart(owner, definer, 'policies', [], stale.policies)
  const replaced =
    stale.triggers.length > 0
      ? await runPart(owner, definer, 'triggers', functions, stale.triggers)
      : recordedFunctions(record, 'triggers')
  refuseForeign(replaced, before, record)
  const ofTriggers = [...new Set([...replaced, ...(await listTriggered(owner, record))])]
  if (!isOpen) await open()
  const added = replaced.filter((name) => !before.includes(name))
  if (stale.triggers.length > 0) await checkBodies(owner, replaced)
  await dropFunctions(owner, record, [...functions, ...ofTriggers])
  await setRowSecurity(owner, record)
  await closeFunctions(owner, added, definer.open)
  await writeRecord(owner, definitions, ofTriggers)
}

/**
 * Replaces and records the functions alone; their bodies are checked by `define`. Runs in the caller's
 * transaction.
 * @throws OperatorError if a function of the same name exists that no release created
 */
export async function defineFunctions(
  owner: pg.ClientBase,
  definer: Pick<Definer, 'definitions' | 'run'>,
): Promise<void> {
  const before = await listFunctions(owner)
  const functions = await replaceFunctions(owner, definer, before, await readRecord(owner))
  await recordFunctions(owner, functions)
}

async function recordFunctions(owner: pg.ClientBase, functions: readonly string[]): Promise<void> {
  await recordObjects(owner, 'functions', await readCatalogue(owner, [], functions))
}

async function replaceFunctions(
  owner: pg.ClientBase,
  definer: Pick<Definer, 'definitions' | 'run'>,
  before: readonly string[],
  record: SchemaRecord | null,
): Promise<string[]> {
  // Functions may call functions of later files.
  await owner.query('SET LOCAL check_function_bodies = off')
  const functions = await runPart(owner, definer, 'functions', [])
  refuseForeign(functions, before, record)
  return functions
}

/** Tables and views whose statements in a part are not those of the last run, or that were changed by hand. */
async function findStale(
  owner: pg.ClientBase,
  { definitions, run }: Definer,
  record: SchemaRecord | null,
): Promise<Record<'policies' | 'triggers', readonly string[]>> {
  const differences = record === null ? [] : await findDifferences(owner, record, [])
  const spoilt = differences.map(({ object }) => object)
  const isSpoilt = recordedFunctions(record, 'triggers').some((name) => spoilt.includes(name))
  const files = record?.releases.at(-1)?.files
  const staleIn = (part: 'policies' | 'triggers') => {
    const [before, own] = [files?.subjects?.[part], definitions.subjects[part]]
    const changed = Object.keys({ ...before, ...own }).filter(
      (name) => before?.[name] !== own[name],
    )
    const all = [...changed, ...spoilt.filter((name) => ownTables.includes(name))]
    if (all.length === 0 && !(part === 'triggers' && isSpoilt)) return []
    // A statement about no table may be about each of them.
    const isWhole = run !== undefined || changed.includes('') || (part === 'triggers' && isSpoilt)
    return isWhole ? [...ownTables, ...changed] : all
  }
  return { policies: staleIn('policies'), triggers: staleIn('triggers') }
}

/** Functions of triggers.sql that a trigger calls. */
async function listTriggered(owner: pg.ClientBase, record: SchemaRecord | null): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    'SELECT DISTINCT tgfoid::regprocedure::text AS name FROM pg_trigger WHERE NOT tgisinternal',
  )
  const recorded = recordedFunctions(record, 'triggers')
  return rows.map(({ name }) => name).filter((name) => recorded.includes(name))
}

/** Whether PostgreSQL took all of it; otherwise nothing of it has happened. */
async function succeeds(owner: pg.ClientBase, work: () => Promise<void>): Promise<boolean> {
  await owner.query('SAVEPOINT early')
  try {
    await work()
    await owner.query('RELEASE SAVEPOINT early')
    return true
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    await owner.query('ROLLBACK TO SAVEPOINT early')
    return false
  }
}

/**
 * Requests wait from the first lock on, so all of them together are waited for as long as for one. Between
 * two attempts no table is locked.
 */
async function lockTables(
  owner: pg.ClientBase,
  tables: readonly string[],
  lockWaitMs: number,
): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY ($1)
       AND c.relname <> '_prisma_migrations'
     ORDER BY array_position($2, c.relname::text), c.relname`,
    [tables, firstTables],
  )
  await owner.query('SAVEPOINT unlocked')
  const lock = async () => {
    const end = performance.now() + lockWaitMs
    for (const { name } of rows) {
      const restMs = Math.max(1, Math.round(end - performance.now()))
      await owner.query(`SET LOCAL lock_timeout = ${restMs}`)
      await owner.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`)
    }
  }
  await untilLocked(() =>
    lock().catch(async (error) => {
      await owner.query('ROLLBACK TO SAVEPOINT unlocked')
      throw error
    }),
  ).catch(refuseUnfinished)
  await owner.query(`RELEASE SAVEPOINT unlocked; SET LOCAL lock_timeout = ${lockWaitMs}`)
}

async function dropPolicies(owner: pg.ClientBase, tables: readonly string[]): Promise<void> {
  await runEach(
    owner,
    `SELECT format('DROP POLICY %I ON %s', p.polname, p.polrelid::regclass) AS statement
     FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND c.relname = ANY ($2)`,
    [ownTables, tables],
  )
}

async function dropTriggers(owner: pg.ClientBase, tables: readonly string[]): Promise<void> {
  await runEach(
    owner,
    `SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass) AS statement
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)
       AND c.relname = ANY ($2)`,
    [ownTables, tables],
  )
}

/**
 * Runs the scripts of a part.
 * @param earlier functions of earlier parts
 * @param about the tables and views whose statements are run, besides those about none; all by default
 * @returns the functions that it has defined: their rows in the catalogue are of this transaction
 */
async function runPart(
  owner: pg.ClientBase,
  { definitions, run = runWhole }: Pick<Definer, 'definitions' | 'run'>,
  part: Exclude<Part, 'privileges'>,
  earlier: readonly string[],
  about: readonly string[] = ownTables,
): Promise<string[]> {
  for (const script of definitions.scripts[part]) {
    await run(
      owner,
      ownTables.every((table) => about.includes(table)) ? script : chosen(script, about),
    )
  }
  const { rows } = await owner.query<{ name: string }>(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND p.xmin = pg_current_xact_id()::xid`,
  )
  return rows.map(({ name }) => name).filter((name) => !earlier.includes(name))
}

function chosen(script: string, about: readonly string[]): string {
  return statementsOf(script)
    .filter(({ subject }) => subject === '' || about.includes(subject))
    .map(({ text }) => text)
    .join('\n')
}

async function runWhole(owner: pg.ClientBase, script: string): Promise<void> {
  await owner.query(script)
}

async function listFunctions(owner: pg.ClientBase): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace`,
  )
  return rows.map(({ name }) => name)
}

function recordedFunctions(record: SchemaRecord | null, ...from: readonly Part[]): string[] {
  const objects = record?.objects ?? []
  return objects
    .filter(({ kind, part }) => kind === 'function' && from.includes(part))
    .map(({ name }) => name)
}

/** A function of somebody else must not be replaced unnoticed. */
function refuseForeign(
  defined: readonly string[],
  before: readonly string[],
  record: SchemaRecord | null,
): void {
  const recorded = recordedFunctions(record, 'functions', 'triggers')
  const foreign = defined.find((name) => before.includes(name) && !recorded.includes(name))
  if (foreign === undefined) return
  throw new OperatorError(
    `The schema public has a function ${foreign} that no release of Gatehouse created.`,
    'Rename it or move it to another schema, and run migrate again.',
  )
}

/** Has PostgreSQL check each body, as CREATE FUNCTION does. */
async function checkBodies(owner: pg.ClientBase, names: readonly string[]): Promise<void> {
  await owner.query('SET LOCAL check_function_bodies = on')
  await runEach(
    owner,
    `SELECT format('SELECT %s(%s)', l.lanvalidator::regproc, p.oid) AS statement
     FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
     WHERE p.pronamespace = 'public'::regnamespace AND p.oid::regprocedure::text = ANY ($1)
       AND l.lanname IN ('sql', 'plpgsql')`,
    [names],
  )
}

/** Drops the functions of earlier releases that no file defines any more. */
async function dropFunctions(
  owner: pg.ClientBase,
  record: SchemaRecord | null,
  defined: readonly string[],
): Promise<void> {
  const recorded = recordedFunctions(record, 'functions', 'triggers')
  const gone = recorded.filter((name) => !defined.includes(name))
  await runEach(
    owner,
    `SELECT format('DROP FUNCTION %s', p.oid::regprocedure) AS statement FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND p.oid::regprocedure::text = ANY ($1)`,
    [gone],
  )
}

/** Restores what was changed by hand. For a new table the migration has to say it. */
async function setRowSecurity(owner: pg.ClientBase, record: SchemaRecord | null): Promise<void> {
  const recorded = (record?.objects ?? []).filter(({ kind }) => kind === 'table')
  const tables = recorded.map(({ name }) => name).filter((name) => ownTables.includes(name))
  await runEach(
    owner,
    `SELECT format('ALTER TABLE %s %s ROW LEVEL SECURITY, %s ROW LEVEL SECURITY', c.oid::regclass,
       CASE WHEN w.enabled THEN 'ENABLE' ELSE 'DISABLE' END,
       CASE WHEN w.forced THEN 'FORCE' ELSE 'NO FORCE' END) AS statement
     FROM pg_class c, LATERAL (SELECT c.relname <> ALL ($2) AS enabled,
       c.relname <> ALL ($2) AND c.relname <> ALL ($3) AS forced) w
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY ($1)
       AND (c.relrowsecurity, c.relforcerowsecurity) <> (w.enabled, w.forced)`,
    [tables, serviceTables, identityTables],
  )
  await runEach(
    owner,
    `SELECT format('REVOKE ALL ON TABLE %s FROM PUBLIC', c.oid::regclass) AS statement FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)
       AND (EXISTS (SELECT FROM aclexplode(c.relacl) WHERE grantee = 0)
         OR EXISTS (SELECT FROM pg_attribute a, aclexplode(a.attacl)
                    WHERE a.attrelid = c.oid AND grantee = 0))`,
    [ownTables],
  )
}

/** PostgreSQL lets everyone call a new function. Only those that run as their caller stay open. */
async function closeFunctions(
  owner: pg.ClientBase,
  names: readonly string[],
  further: readonly string[] = [],
): Promise<void> {
  const open = [...callerFunctions, ...further].map((signature) => signature.replaceAll(', ', ','))
  await runEach(
    owner,
    `SELECT format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure) AS statement
     FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
       AND p.oid::regprocedure::text = ANY ($1) AND p.oid::regprocedure::text <> ALL ($2)`,
    [names, open],
  )
  await runEach(
    owner,
    `SELECT format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', p.oid::regprocedure) AS statement
     FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
       AND p.oid::regprocedure::text = ANY ($1) AND p.proacl IS NOT NULL`,
    [open],
  )
}

async function writeRecord(
  owner: pg.ClientBase,
  definitions: Definitions,
  ofTriggers: readonly string[],
): Promise<void> {
  const found = await readCatalogue(owner, ownTables, ofTriggers)
  const isOfTriggers = ({ kind }: CatalogueObject) => kind === 'trigger' || kind === 'function'
  const policies = found.filter((object) => !isOfTriggers(object))
  await recordObjects(owner, 'policies', policies)
  await recordObjects(owner, 'triggers', found.filter(isOfTriggers))
  await recordPrivileges(owner, 'PUBLIC', await readPrivileges(owner, 'PUBLIC'))
  await recordRelease(owner, definitions)
}

/** Runs the statements that a query returns. */
async function runEach(
  owner: pg.ClientBase,
  query: string,
  values: readonly unknown[],
): Promise<void> {
  const { rows } = await owner.query<{ statement: string }>(query, [...values])
  for (const { statement } of rows) await owner.query(statement)
}
