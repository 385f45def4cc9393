import pg from 'pg'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { type CatalogueObject, readCatalogue, readPrivileges } from './catalogue.ts'
import type { Definitions, Part } from './definitions.ts'
import { findDifferences } from './differences.ts'
import { refuseUnfinished, untilLocked } from './lock-retry.ts'
import {
  addObjects,
  compareRelease,
  forgetObjects,
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
  const locked = [...stale.policies, ...stale.triggers]
  const before = await listFunctions(owner)
  const functions = await replaceFunctions(owner, definer, before, record)
  const open = async () => {
    await owner.query([...checks(functions), ...closed(functions, definer.open)].join('\n'))
    await definer.grant()
  }
  // Requests wait while the tables are locked, so what can be done before is. It cannot if it needs a view
  // that is new.
  const isOpen = record !== null && !definer.grantsLast && (await succeeds(owner, open))
  await recordUnlocked(owner, functions, locked)
  await recordRelease(owner, definitions)
  await lockTables(owner, locked, definer.lockWaitMs)
  const defined = await replaceOnTables(
    owner,
    definer,
    stale,
    recordedFunctions(record, 'triggers'),
  )
  const ofTriggers = defined.filter((name) => !functions.includes(name))
  refuseForeign(ofTriggers, before, record)
  if (!isOpen) await open()
  await finish(owner, definer, record, functions, ofTriggers)
  await recordTables(owner, locked, ofTriggers)
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
  await recordObjects(owner, 'functions', await readCatalogue(owner, [], functions))
}

/** Records the functions, and of the tables and views those that are not locked. */
async function recordUnlocked(
  owner: pg.ClientBase,
  functions: readonly string[],
  locked: readonly string[],
): Promise<void> {
  await forgetObjects(owner, ['functions', 'policies', 'triggers'])
  await addObjects(owner, 'functions', await readCatalogue(owner, [], functions))
  const others = ownTables.filter((name) => !locked.includes(name))
  await addTables(owner, await readCatalogue(owner, others, []))
}

async function replaceFunctions(
  owner: pg.ClientBase,
  { definitions, run }: Pick<Definer, 'definitions' | 'run'>,
  before: readonly string[],
  record: SchemaRecord | null,
): Promise<string[]> {
  // Functions may call functions of later files.
  await owner.query('SET LOCAL check_function_bodies = off')
  for (const script of definitions.scripts.functions) {
    await (run === undefined ? owner.query(script) : run(owner, script))
  }
  const { rows } = await owner.query<{ name: string }>(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND p.xmin = pg_current_xact_id()::xid`,
  )
  const functions = rows.map(({ name }) => name)
  refuseForeign(functions, before, record)
  return functions
}

type Stale = Readonly<Record<'policies' | 'triggers', readonly string[]>>

/** Tables and views whose statements in a part are not those of the last run, or that were changed by hand. */
async function findStale(
  owner: pg.ClientBase,
  { definitions, run }: Definer,
  record: SchemaRecord | null,
): Promise<Stale> {
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
      await owner.query(
        `SET LOCAL lock_timeout = ${restMs}; LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`,
      )
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

/**
 * Replaces the policies and triggers of the locked tables in one message: requests wait meanwhile.
 * @param recorded functions of triggers.sql before
 * @returns the functions of triggers.sql
 */
async function replaceOnTables(
  owner: pg.ClientBase,
  { definitions, run }: Definer,
  stale: Stale,
  recorded: readonly string[],
): Promise<readonly string[]> {
  const drops = [
    each(policyDrops, ownTables, stale.policies),
    each(triggerDrops, ownTables, stale.triggers),
  ]
  const scripts = (['policies', 'triggers'] as const).flatMap((part) =>
    stale[part].length === 0
      ? []
      : definitions.scripts[part].map((script) => about(script, stale[part])),
  )
  if (run === undefined) await owner.query([...drops, ...scripts].join('\n'))
  else {
    for (const drop of drops) await owner.query(drop)
    for (const script of scripts) await run(owner, script)
  }
  if (stale.triggers.length === 0) return recorded
  const { rows } = await owner.query<{ name: string }>(triggerFunctions, [recorded])
  return rows.map(({ name }) => name)
}

const policyDrops = `SELECT format('DROP POLICY %I ON %s', p.polname, p.polrelid::regclass)
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND c.relname = ANY ($2)`

const triggerDrops = `SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass)
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
  WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)
    AND c.relname = ANY ($2)`

/** Functions that this transaction has defined, and those earlier ones ($1) that a trigger calls. */
const triggerFunctions = `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
  WHERE p.pronamespace = 'public'::regnamespace AND (p.xmin = pg_current_xact_id()::xid
    OR p.oid::regprocedure::text = ANY ($1)
      AND EXISTS (SELECT FROM pg_trigger t WHERE t.tgfoid = p.oid AND NOT t.tgisinternal))`

/** The statements of a script about these tables and views, and those about none. */
function about(script: string, names: readonly string[]): string {
  if (ownTables.every((name) => names.includes(name))) return script
  return statementsOf(script)
    .filter(({ subject }) => subject === '' || names.includes(subject))
    .map(({ text }) => text)
    .join('\n')
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

/** Checks, drops and closes in one message what could not be before: requests may wait meanwhile. */
async function finish(
  owner: pg.ClientBase,
  { open }: Definer,
  record: SchemaRecord | null,
  functions: readonly string[],
  ofTriggers: readonly string[],
): Promise<void> {
  const recorded = recordedFunctions(record, 'functions', 'triggers')
  const gone = recorded.filter((name) => ![...functions, ...ofTriggers].includes(name))
  const statements = [
    ...checks(ofTriggers),
    each(callingTriggers, gone),
    each(functionDrops, gone),
    ...restored(record),
    ...closed(ofTriggers, open),
  ]
  await owner.query(statements.join('\n'))
}

/** Has PostgreSQL check each body, as CREATE FUNCTION does. */
function checks(names: readonly string[]): string[] {
  const calls = `SELECT format('SELECT %s(%s)', l.lanvalidator::regproc, p.oid)
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'public'::regnamespace AND p.oid::regprocedure::text = ANY ($1)
      AND l.lanname IN ('sql', 'plpgsql')`
  return ['SET LOCAL check_function_bodies = on;', each(calls, names)]
}

/** Triggers that call these functions. The table of a removed resource stays until somebody drops it, with its triggers. */
const callingTriggers = `SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass)
  FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
  WHERE NOT t.tgisinternal AND p.pronamespace = 'public'::regnamespace
    AND p.oid::regprocedure::text = ANY ($1)`

/** Functions of earlier releases that no file defines any more. */
const functionDrops = `SELECT format('DROP FUNCTION %s', p.oid::regprocedure) FROM pg_proc p
  WHERE p.pronamespace = 'public'::regnamespace AND p.oid::regprocedure::text = ANY ($1)`

/** Restores what was changed by hand. For a new table the migration has to say it. */
function restored(record: SchemaRecord | null): string[] {
  const recorded = (record?.objects ?? []).filter(({ kind }) => kind === 'table')
  const tables = recorded.map(({ name }) => name).filter((name) => ownTables.includes(name))
  const rowSecurity = `SELECT format('ALTER TABLE %s %s ROW LEVEL SECURITY, %s ROW LEVEL SECURITY', c.oid::regclass,
      CASE WHEN w.enabled THEN 'ENABLE' ELSE 'DISABLE' END,
      CASE WHEN w.forced THEN 'FORCE' ELSE 'NO FORCE' END)
    FROM pg_class c, LATERAL (SELECT c.relname <> ALL ($2) AS enabled,
      c.relname <> ALL ($2) AND c.relname <> ALL ($3) AS forced) w
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY ($1)
      AND (c.relrowsecurity, c.relforcerowsecurity) <> (w.enabled, w.forced)`
  const rights = `SELECT format('REVOKE ALL ON TABLE %s FROM PUBLIC', c.oid::regclass) FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)
      AND (EXISTS (SELECT FROM aclexplode(c.relacl) WHERE grantee = 0)
        OR EXISTS (SELECT FROM pg_attribute a, aclexplode(a.attacl)
                   WHERE a.attrelid = c.oid AND grantee = 0))`
  return [each(rowSecurity, tables, serviceTables, identityTables), each(rights, ownTables)]
}

/** PostgreSQL lets everyone call a new function. Only those that run as their caller stay open. */
function closed(names: readonly string[], further: readonly string[] = []): string[] {
  const open = [...callerFunctions, ...further].map((signature) => signature.replaceAll(', ', ','))
  const revokes = `SELECT format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure) FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace
      AND p.oid::regprocedure::text = ANY ($1) AND p.oid::regprocedure::text <> ALL ($2)`
  const grants = `SELECT format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', p.oid::regprocedure) FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace
      AND p.oid::regprocedure::text = ANY ($1) AND p.proacl IS NOT NULL`
  return [each(revokes, names, open), each(grants, open)]
}

/** Records the locked tables and views with the functions of triggers.sql, and what everyone may do. */
async function recordTables(
  owner: pg.ClientBase,
  locked: readonly string[],
  ofTriggers: readonly string[],
): Promise<void> {
  const tables = ownTables.filter((name) => locked.includes(name))
  await addTables(owner, await readCatalogue(owner, tables, ofTriggers))
  await recordPrivileges(owner, 'PUBLIC', await readPrivileges(owner, 'PUBLIC'))
}

async function addTables(owner: pg.ClientBase, found: readonly CatalogueObject[]): Promise<void> {
  const isOfTriggers = ({ kind }: CatalogueObject) => kind === 'trigger' || kind === 'function'
  await addObjects(
    owner,
    'policies',
    found.filter((object) => !isOfTriggers(object)),
  )
  await addObjects(owner, 'triggers', found.filter(isOfTriggers))
}

/** A statement that runs the statements that a query returns; its parameters are lists of texts. */
function each(query: string, ...values: readonly (readonly string[])[]): string {
  const bound = query.replaceAll(/\$(\d)/g, (_, position) => {
    const texts = values[Number(position) - 1] ?? []
    return `ARRAY[${texts.map((text) => pg.escapeLiteral(text)).join(', ')}]::text[]`
  })
  return `DO $each$ DECLARE statement text;
    BEGIN FOR statement IN ${bound} LOOP EXECUTE statement; END LOOP; END $each$;`
}
