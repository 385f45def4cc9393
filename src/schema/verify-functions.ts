import pg from 'pg'
import type { Finding } from './finding.ts'
import { functionPrivileges } from './tables.ts'

type Duty = keyof typeof functionPrivileges

type FunctionFacts = {
  name: string
  isDefiner: boolean
  isOwnedBySchemaOwner: boolean
  hasFixedPath: boolean
  isPublic: boolean
  isCallable: boolean
}

/** Schemas in which a login role can create nothing that hides other names. */
const fixedPath = 'search_path=pg_catalog, pg_temp'

const remedy =
  'Restore the function as the migrations make it (prisma/migrations) and run `gatehouse migrate`, which grants it.'

/**
 * Checks the functions that set and read the scope, as the role that is logged in: owner, fixed
 * search_path, privileges, that a forged scope raises, and that no other SECURITY DEFINER function is
 * callable. Writes nothing, so it can run every minute.
 * @param duty what the role is for; a role that may call every function of both duties counts as both,
 *   as `gatehouse migrate` grants it if both URLs name one role
 */
export async function verifyFunctions(client: pg.Client, duty: Duty): Promise<Finding[]> {
  const known = listFunctions(['web', 'worker'])
  const { rows } = await client.query<FunctionFacts>(functionFacts, [fixedPath])
  const byName = new Map(rows.map((row) => [row.name, row]))
  const isBoth = known.every((name) => byName.get(name)?.isCallable === true)
  const granted = isBoth ? known : listFunctions([duty])
  const problems = [
    ...known.filter((name) => !byName.has(name)).map((name) => `The function ${name} is missing.`),
    ...rows.flatMap((row) => functionProblems(row, known.includes(row.name), granted)),
    ...(await findKeyProblems(client)),
    ...(await tryForgedScope(client)),
  ]
  return problems.map((problem) => ({ problem, remedy }))
}

/** As `regprocedure` prints them, without spaces between the types. */
export function listFunctions(duties: readonly Duty[]): string[] {
  const names = duties.flatMap((duty) => functionPrivileges[duty])
  return [...new Set(names)].map((name) => name.replaceAll(', ', ','))
}

function functionProblems(
  row: FunctionFacts,
  isKnown: boolean,
  granted: readonly string[],
): string[] {
  const { name } = row
  if (!isKnown) {
    return row.isDefiner && row.isCallable
      ? [`The role may run as another role through ${name}.`]
      : []
  }
  const problems: string[] = []
  if (!row.isDefiner) problems.push(`The function ${name} is not SECURITY DEFINER.`)
  if (!row.isOwnedBySchemaOwner) {
    problems.push(`The function ${name} does not belong to the owner of the tables.`)
  }
  if (!row.hasFixedPath) problems.push(`The function ${name} has no fixed search_path.`)
  if (row.isPublic) problems.push(`Everyone may call the function ${name}.`)
  if (row.isCallable && !granted.includes(name)) {
    problems.push(`The role may call the function ${name}, which is for another role.`)
  }
  if (!row.isCallable && granted.includes(name)) {
    problems.push(`The role may not call the function ${name}, which it needs.`)
  }
  return problems
}

async function findKeyProblems(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ readable: boolean; enabled: boolean }>(
    `SELECT has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
              OR has_table_privilege(c.oid, 'DELETE, TRUNCATE, TRIGGER') AS readable,
            c.relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid) AS enabled
     FROM pg_class c WHERE c.oid = to_regclass('public.scope_keys')`,
  )
  const [keys] = rows
  if (keys === undefined) return ['The table scope_keys is missing.']
  return [
    ...(keys.readable ? ['The role has rights on the keys of the scope.'] : []),
    ...(keys.enabled ? [] : ['The table scope_keys is not closed by row-level security.']),
  ]
}

const insufficientPrivilege = '42501'

/** A scope that is valid except for its seal must raise an error. */
async function tryForgedScope(client: pg.Client): Promise<string[]> {
  const outcome = await client.query(forgedScope).then(
    () => 'opened',
    (error) => {
      if (error instanceof pg.DatabaseError && error.code === insufficientPrivilege) return 'raised'
      throw error
    },
  )
  return outcome === 'raised' ? [] : ['A scope without a valid seal is accepted.']
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
    p.proowner = tables.relowner AS "isOwnedBySchemaOwner",
    coalesce(p.proconfig = ARRAY[$1], false) AS "hasFixedPath",
    p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) WHERE grantee = 0) AS "isPublic",
    has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE') AS "isCallable"
  FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
  CROSS JOIN (SELECT relowner FROM pg_class WHERE oid = 'public.sessions'::regclass) tables
  WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
  ORDER BY 1`
