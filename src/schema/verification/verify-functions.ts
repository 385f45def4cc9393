import pg from 'pg'
import { findVariant } from '../citus/variant.ts'
import { ownerRemedy } from '../differences.ts'
import { type Finding, migrateRemedy as remedy } from '../finding.ts'
import { callerFunctions, functionPrivileges } from '../tables.ts'

type Duty = keyof typeof functionPrivileges

type FunctionFacts = {
  name: string
  isDefiner: boolean
  /** The owner of the tables, if the function has another one. */
  rightOwner: string | null
  hasFixedPath: boolean
  isPublic: boolean
  isCallable: boolean
  /** The quoted name of the role that is logged in. */
  role: string
}

/** Schemas in which a login role can create nothing that hides other names. */
const fixedPath = 'search_path=pg_catalog, pg_temp'
/** The only other setting that a function may have. */
const genericPlan = 'plan_cache_mode=force_generic_plan'

/** What a release that is newer than this one says about its functions. */
export type Newer = {
  /** Functions that this release keeps for the one before, as prisma/functions names them. */
  kept: readonly string[]
  /** Functions that the newer release lets the role call. */
  granted: readonly string[]
  /** Whether an object is as the newer release recorded it. */
  made: (object: string) => boolean
}

/**
 * Checks the functions that set and read the scope, as the role that is logged in: owner, fixed
 * search_path, privileges, that a forged scope raises, and that no other SECURITY DEFINER function is
 * callable. Writes nothing, so it can run every minute.
 * @param client in a transaction
 * @param recorded functions that the last `migrate` recorded, which may be of a newer release
 * @param newer given on the database of a newer release. What this release does not call may be missing, and
 *   a function that the newer one has made may only not be open to a role that it did not grant it to
 * @param duty what the role is for; a role that may call every function of both duties counts as both,
 *   as `gatehouse migrate` grants it if both URLs name one role
 */
export async function verifyFunctions(
  client: pg.Client,
  duty: Duty,
  recorded: readonly string[] = [],
  newer: Newer | null = null,
): Promise<Finding[]> {
  const ofVariant = ((await findVariant(client))?.functions ?? []).map(withoutSpaces)
  const known = [...listFunctions(['web', 'worker']), ...ofVariant]
  const { rows } = await client.query<FunctionFacts>(functionFacts, [fixedPath])
  const byName = new Map(rows.map((row) => [row.name, row]))
  const isBoth = known.every((name) => byName.get(name)?.isCallable === true)
  const ofDuty = isBoth ? known : [...listFunctions([duty]), ...ofVariant]
  const granted = newer?.granted ?? ofDuty
  const ofCallers = callerFunctions.map(withoutSpaces)
  const missing = [...known, ...ofCallers]
    .filter((name) => !byName.has(name))
    .filter((name) => !newer?.kept.includes(name.slice(0, name.indexOf('('))))
  const ofNewer = recorded.filter((name) => !known.includes(name))
  return [
    ...missing.map((name) => ({
      object: name,
      problem: `The function ${name} is missing.`,
      remedy,
    })),
    ...rows
      .filter(({ name }) => !ofNewer.includes(name))
      .flatMap((row) =>
        newer?.made(row.name)
          ? openProblems(row, granted).map((problem) => ({
              ...{ object: row.name, problem },
              remedy: `The role ${row.role} has it through another role: as an administrator, revoke that role from it.`,
            }))
          : functionProblems(row, known.includes(row.name), granted),
      ),
    ...(await findKeyProblems(client, newer)),
    ...(await tryForgedScope(client)),
  ]
}

/** Those of `functionPrivileges` as `regprocedure` prints them, without spaces between the types. */
export function listFunctions(duties: readonly Duty[]): string[] {
  const names = duties.flatMap((duty) => functionPrivileges[duty])
  return [...new Set(names)].map(withoutSpaces)
}

export function withoutSpaces(signature: string): string {
  return signature.replaceAll(', ', ',')
}

function functionProblems(
  row: FunctionFacts,
  isKnown: boolean,
  granted: readonly string[],
): Finding[] {
  const { name, role } = row
  if (!isKnown) {
    if (!row.isDefiner || !row.isCallable) return []
    const revoke = `REVOKE ALL ON FUNCTION ${name} FROM PUBLIC, ${role}`
    const problem = `The role may run as another role through ${name}.`
    return [{ object: name, problem, remedy: `No release made it. As its owner: ${revoke};` }]
  }
  if (row.rightOwner !== null) {
    const problem = `The function ${name} does not belong to the owner of the tables.`
    return [{ object: name, problem, remedy: ownerRemedy('function', name, row.rightOwner) }]
  }
  const problems: string[] = []
  if (!row.isDefiner) problems.push(`The function ${name} is not SECURITY DEFINER.`)
  if (!row.hasFixedPath) {
    problems.push(`The function ${name} has no fixed search_path, or other settings.`)
  }
  if (row.isPublic) problems.push(`Everyone may call the function ${name}.`)
  problems.push(...openProblems(row, granted))
  if (!row.isCallable && granted.includes(name)) {
    problems.push(`The role may not call the function ${name}, which it needs.`)
  }
  return problems.map((problem) => ({ object: name, problem, remedy }))
}

function openProblems({ name, isCallable }: FunctionFacts, granted: readonly string[]): string[] {
  return isCallable && !granted.includes(name)
    ? [`The role may call the function ${name}, which is for another role.`]
    : []
}

async function findKeyProblems(client: pg.Client, newer: Newer | null): Promise<Finding[]> {
  const { rows } = await client.query<{ name: string; open: boolean; enabled: boolean }>(
    `SELECT c.relname AS name, c.relrowsecurity AND NOT EXISTS (
              SELECT FROM pg_policy WHERE polrelid = c.oid) AS enabled,
            has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES')
              OR has_table_privilege(c.oid, 'DELETE, TRUNCATE, TRIGGER')
              OR c.relname = 'scope_keys' AND has_any_column_privilege(c.oid, 'SELECT') AS open
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
       AND c.relname IN ('scope_keys', 'schema_releases', 'schema_objects')`,
  )
  const found = (object: string, problem: string) => ({ object, problem, remedy })
  if (newer === null && !rows.some(({ name }) => name === 'scope_keys')) {
    return [found('scope_keys', 'The table scope_keys is missing.')]
  }
  return rows.flatMap(({ name, open, enabled }) => {
    if (name !== 'scope_keys') {
      return open
        ? [found(name, `The role may change ${name}, the record of \`gatehouse migrate\`.`)]
        : []
    }
    return [
      ...(open ? [found(name, 'The role has rights on the keys of the scope.')] : []),
      ...(enabled
        ? []
        : [found(name, 'The table scope_keys is not closed by row-level security.')]),
    ]
  })
}

const insufficientPrivilege = '42501'

/** A scope that is valid except for its seal must raise an error. */
async function tryForgedScope(client: pg.Client): Promise<Finding[]> {
  await client.query('SAVEPOINT forged_scope')
  const outcome = await client.query(forgedScope).then(
    () => 'opened',
    (error) => {
      if (error instanceof pg.DatabaseError && error.code === insufficientPrivilege) return 'raised'
      throw error
    },
  )
  await client.query('ROLLBACK TO SAVEPOINT forged_scope')
  if (outcome === 'raised') return []
  return [{ problem: 'A scope without a valid seal is accepted.', remedy }]
}

// MATERIALIZED: set before it is read.
const forgedScope = `
  WITH forged AS MATERIALIZED (
    SELECT set_config('app.scope', concat_ws(':', 1, 'session', '', 1, gen_random_uuid(),
      pg_backend_pid(), encode(timestamptz_send(transaction_timestamp()), 'hex'),
      encode(sha256('guess'), 'hex')), true)
  )
  SELECT current_user_id(), current_tenant_id() FROM forged`

const functionFacts = `
  SELECT p.oid::regprocedure::text AS name, p.prosecdef AS "isDefiner",
    nullif(tables.relowner, p.proowner)::regrole::text AS "rightOwner",
    quote_ident(current_user) AS role,
    coalesce($1 = ANY (p.proconfig) AND p.proconfig <@ ARRAY[$1, '${genericPlan}'], false) AS "hasFixedPath",
    p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) WHERE grantee = 0) AS "isPublic",
    has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE') AS "isCallable"
  FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
  CROSS JOIN (SELECT relowner FROM pg_class WHERE oid = 'public.sessions'::regclass) tables
  WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
  ORDER BY 1`
