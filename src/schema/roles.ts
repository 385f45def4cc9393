import pg from 'pg'
import { scramVerifier } from '#src/crypto/scram.ts'
import { defaultLimits, requestLockMs } from '#src/db/connections/pool-options.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readPrivileges } from './catalogue.ts'
import type { TableGrants } from './citus/privileges.ts'
import { findVariant } from './citus/variant.ts'
import type { Finding } from './finding.ts'
import { recordPrivileges } from './record.ts'
import { functionPrivileges, queuePrivileges, tablePrivileges } from './tables.ts'

export type Login = { name: string; password: string }
type Duty = 'web' | 'worker'

/** The role a connection URL logs in as. */
export function loginOf(url: string): Login {
  const { username, password } = new URL(url)
  return { name: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/**
 * Whether the owner of the tables, or the current role, is one that row-level security does not apply to:
 * the functions that run as the owner would see every row.
 */
export async function findOwnerFault(client: pg.ClientBase): Promise<Finding | null> {
  const { rows } = await client.query<{ name: string; superuser: boolean }>(
    `SELECT r.rolname AS name, r.rolsuper AS superuser FROM pg_roles r
     WHERE (r.rolsuper OR r.rolbypassrls) AND (r.rolname = current_user OR r.oid = (
       SELECT c.relowner FROM pg_class c WHERE c.oid = to_regclass('public.users')))
     ORDER BY 1 LIMIT 1`,
  )
  const [role] = rows
  if (role === undefined) return null
  return {
    problem: `The owner ${role.name} ${role.superuser ? 'is a superuser' : 'has BYPASSRLS'}, so row-level security does not apply to it.`,
    remedy:
      'Create an owner without both, and make it the owner of the database and of what is in it (docs/install.md).',
  }
}

/** The PASSWORD of CREATE ROLE: a verifier, so that the password itself reaches no server log. */
export function passwordLiteral(password: string): string {
  return password === '' ? 'NULL' : pg.escapeLiteral(scramVerifier(password))
}

/**
 * Creates the role when it is missing (with its URL's password) and gives it exactly the rights of
 * its duties: revokes and grants everything again, and records the result, in the caller's transaction.
 * @returns true when the role was created
 */
export async function grantPrivileges(
  owner: pg.Client,
  login: Login,
  duties: readonly Duty[],
): Promise<boolean> {
  const created = await createRole(owner, login, duties)
  const role = pg.escapeIdentifier(login.name)
  const variant = await findVariant(owner)
  await (variant?.grantOnTables ?? grantOnTables)(owner, login.name, tableGrants(duties))
  await owner.query(`REVOKE ALL ON SCHEMA public, pgboss FROM ${role}`)
  await owner.query(`REVOKE ALL ON ALL TABLES IN SCHEMA pgboss FROM ${role}`)
  await owner.query(`GRANT USAGE ON SCHEMA public, pgboss TO ${role}`)
  await owner.query(`REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM ${role}`)
  for (const signature of variant?.functions ?? []) {
    await owner.query(`GRANT EXECUTE ON FUNCTION public.${signature} TO ${role}`)
  }
  for (const duty of duties) {
    for (const signature of functionPrivileges[duty]) {
      await owner.query(`GRANT EXECUTE ON FUNCTION public.${signature} TO ${role}`)
    }
    for (const [objects, rights] of Object.entries(queuePrivileges[duty])) {
      await owner.query(`GRANT ${rights} ON ${objects} TO ${role}`)
    }
  }
  await recordPrivileges(owner, login.name, await readPrivileges(owner, login.name))
  return created
}

/** The privileges of all duties by table. */
function tableGrants(duties: readonly Duty[]): TableGrants {
  const grants = Object.entries(tablePrivileges).map(([table, rights]) => {
    return [table, duties.map((duty) => rights[duty]).filter((right) => right !== '')] as const
  })
  return Object.fromEntries(
    grants.filter(([, rights]) => rights.length > 0).map(([table, all]) => [table, all.join(', ')]),
  )
}

async function grantOnTables(owner: pg.Client, login: string, grants: TableGrants): Promise<void> {
  const role = pg.escapeIdentifier(login)
  await owner.query(`REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}`)
  for (const [table, rights] of Object.entries(grants)) {
    await owner.query(`GRANT ${rights} ON ${pg.escapeIdentifier(table)} TO ${role}`)
  }
}

async function createRole(
  owner: pg.Client,
  { name, password }: Login,
  duties: readonly Duty[],
): Promise<boolean> {
  const { rowCount } = await owner.query('SELECT FROM pg_roles WHERE rolname = $1', [name])
  if (rowCount !== 0) return false
  try {
    const role = pg.escapeIdentifier(name)
    await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD ${passwordLiteral(password)}`)
    // For connections through a pooler, which cannot have settings of their own.
    const { statementMs, idleInTransactionMs } = defaultLimits
    const lockMs = duties.includes('worker') ? defaultLimits.lockMs : requestLockMs
    await owner.query(`
      ALTER ROLE ${role} SET statement_timeout = ${statementMs};
      ALTER ROLE ${role} SET lock_timeout = ${lockMs};
      ALTER ROLE ${role} SET idle_in_transaction_session_timeout = ${idleInTransactionMs};
      ALTER ROLE ${role} SET jit = off`)
    return true
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error
    throw new OperatorError(
      `The role ${name} is missing and the owner may not create it.`,
      `Create it as an administrator (CREATE ROLE ${name} LOGIN PASSWORD …) or give the owner CREATEROLE.`,
    )
  }
}
