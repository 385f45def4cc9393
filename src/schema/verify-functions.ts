import pg from 'pg'
import { isDistributed } from './citus/cluster.ts'
import { definitionsFor } from './citus/definitions.ts'
import { citusFunctions } from './citus/privileges.ts'
import { type Finding, repairable } from './finding.ts'
import { repairFunctions } from './repair.ts'
import { callerFunctions, functionPrivileges } from './tables.ts'
import { findTableRepairs } from './verify-tables.ts'

type Duty = keyof typeof functionPrivileges

type FunctionFacts = {
  name: string
  isDefiner: boolean
  isOwnedBySchemaOwner: boolean
  hasFixedPath: boolean
  isPublic: boolean
  isCallable: boolean
  /** Quoted names of the role that is logged in, and of the owner of the tables. */
  role: string
  owner: string
}

/** Schemas in which a login role can create nothing that hides other names. */
const fixedPath = 'search_path=pg_catalog, pg_temp'
/** The only other setting that a function may have. */
const genericPlan = 'plan_cache_mode=force_generic_plan'

const remedy = 'Run `gatehouse migrate --repair` with DATABASE_OWNER_URL.'

/** The functions that a scope depends on. */
const scopeFunctions = [
  'scope_seal',
  'verified_scope',
  'current_user_id',
  'current_tenant_id',
  'current_scope_kind',
]

/**
 * Checks the functions that set and read the scope, as the role that is logged in: owner, fixed
 * search_path, privileges, that a forged scope raises, and that no other SECURITY DEFINER function is
 * callable. Writes nothing, so it can run every minute.
 * @param duty what the role is for; a role that may call every function of both duties counts as both,
 *   as `gatehouse migrate` grants it if both URLs name one role
 */
export async function verifyFunctions(client: pg.Client, duty: Duty): Promise<Finding[]> {
  const ofCitus = (await isDistributed(client)) ? citusFunctions.map(withoutSpaces) : []
  const known = [...listFunctions(['web', 'worker']), ...ofCitus]
  const { rows } = await client.query<FunctionFacts>(functionFacts, [fixedPath])
  const byName = new Map(rows.map((row) => [row.name, row]))
  const isBoth = known.every((name) => byName.get(name)?.isCallable === true)
  const granted = isBoth ? known : [...listFunctions([duty]), ...ofCitus]
  const ofCallers = callerFunctions.map(withoutSpaces)
  const missing = [...known, ...ofCallers].filter((name) => !byName.has(name))
  return [
    ...(await Promise.all(missing.map((signature) => describeMissing(client, signature)))),
    ...rows.flatMap((row) => functionProblems(row, known.includes(row.name), granted)),
    ...(await findKeyProblems(client)),
    ...(await tryForgedScope(client)),
  ]
}

/** `gatehouse migrate --repair` grants the function when it has made it. */
async function describeMissing(client: pg.Client, signature: string): Promise<Finding> {
  const name = signature.slice(0, signature.indexOf('('))
  const made = repairFunctions([name], await definitionsFor(client))
  const isForAll = callerFunctions.map(withoutSpaces).includes(signature)
  const revoke = isForAll ? [] : [`REVOKE ALL ON FUNCTION ${signature} FROM PUBLIC`]
  const repairs = made.length === 0 ? [] : [...made, ...revoke]
  return repairable(`The function ${signature} is missing.`, repairs, remedy)
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
  const { name, role, owner } = row
  const alter = (change: string) => [`ALTER FUNCTION ${name} ${change}`]
  const found = (problem: string, repairs: readonly string[]) =>
    repairable(problem, repairs, remedy)
  if (!isKnown) {
    const isPower = row.isDefiner && row.isCallable
    const revoke = `REVOKE ALL ON FUNCTION ${name} FROM PUBLIC, ${role}`
    return isPower ? [found(`The role may run as another role through ${name}.`, [revoke])] : []
  }
  const findings: Finding[] = []
  if (!row.isDefiner) {
    findings.push(found(`The function ${name} is not SECURITY DEFINER.`, alter('SECURITY DEFINER')))
  }
  if (!row.isOwnedBySchemaOwner) {
    const problem = `The function ${name} does not belong to the owner of the tables.`
    findings.push(found(problem, alter(`OWNER TO ${owner}`)))
  }
  if (!row.hasFixedPath) {
    const set = [...alter('RESET ALL'), ...alter('SET search_path = pg_catalog, pg_temp')]
    findings.push(found(`The function ${name} has no fixed search_path, or other settings.`, set))
  }
  if (row.isPublic) {
    const revoke = `REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`
    findings.push(found(`Everyone may call the function ${name}.`, [revoke]))
  }
  if (row.isCallable && !granted.includes(name)) {
    const problem = `The role may call the function ${name}, which is for another role.`
    findings.push(found(problem, [`REVOKE ALL ON FUNCTION ${name} FROM ${role}`]))
  }
  if (!row.isCallable && granted.includes(name)) {
    const problem = `The role may not call the function ${name}, which it needs.`
    findings.push(found(problem, [`GRANT EXECUTE ON FUNCTION ${name} TO ${role}`]))
  }
  return findings
}

async function findKeyProblems(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<{ role: string; readable: boolean; enabled: boolean }>(
    `SELECT quote_ident(current_user) AS role,
            has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
              OR has_table_privilege(c.oid, 'DELETE, TRUNCATE, TRIGGER') AS readable,
            c.relrowsecurity AND NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid) AS enabled
     FROM pg_class c WHERE c.oid = to_regclass('public.scope_keys')`,
  )
  const [keys] = rows
  if (keys === undefined) return [{ problem: 'The table scope_keys is missing.', remedy }]
  const findings: Finding[] = []
  if (keys.readable) {
    const revoke = `REVOKE ALL ON TABLE scope_keys FROM PUBLIC, ${keys.role}`
    findings.push(repairable('The role has rights on the keys of the scope.', [revoke], remedy))
  }
  if (!keys.enabled) {
    const problem = 'The table scope_keys is not closed by row-level security.'
    findings.push(repairable(problem, await findTableRepairs(client, 'scope_keys'), remedy))
  }
  return findings
}

const insufficientPrivilege = '42501'

/** A scope that is valid except for its seal must raise an error. */
async function tryForgedScope(client: pg.Client): Promise<Finding[]> {
  const outcome = await client.query(forgedScope).then(
    () => 'opened',
    (error) => {
      if (error instanceof pg.DatabaseError && error.code === insufficientPrivilege) return 'raised'
      throw error
    },
  )
  if (outcome === 'raised') return []
  const repairs = repairFunctions(scopeFunctions, await definitionsFor(client))
  return [repairable('A scope without a valid seal is accepted.', repairs, remedy)]
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
    quote_ident(current_user) AS role, tables.relowner::regrole::text AS owner,
    coalesce($1 = ANY (p.proconfig) AND p.proconfig <@ ARRAY[$1, '${genericPlan}'], false) AS "hasFixedPath",
    p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) WHERE grantee = 0) AS "isPublic",
    has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE') AS "isCallable"
  FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
  CROSS JOIN (SELECT relowner FROM pg_class WHERE oid = 'public.sessions'::regclass) tables
  WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
  ORDER BY 1`
