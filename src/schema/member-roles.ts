import type pg from 'pg'
import { roles } from '#src/access/roles.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import type { Finding } from './finding.ts'

/** Tables whose rows have a role of the app. */
const tables = ['memberships', 'invitations'] as const

/**
 * Lets members and invitations have the roles of the app, and no others.
 * @throws OperatorError if somebody has a role that the app no longer declares; nothing is changed then
 */
export async function constrainMemberRoles(owner: pg.ClientBase): Promise<void> {
  const stale = (await readAllowed(owner)).filter(({ allowed }) => !isSame(allowed))
  if (stale.length === 0) return
  await owner.query('BEGIN')
  try {
    for (const { table } of stale) {
      await owner.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      await refuseHeld(owner, table)
      await owner.query(`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${table}_role_check`)
      await owner.query(
        `ALTER TABLE ${table} ADD CONSTRAINT ${table}_role_check CHECK (role IN (${quoted}))`,
      )
    }
    await owner.query('COMMIT')
  } catch (error) {
    await owner.query('ROLLBACK')
    throw error
  }
}

/** Roles of the app that the database does not allow. It may allow more: those of a newer app. */
export async function verifyMemberRoles(client: pg.ClientBase): Promise<Finding[]> {
  return (await readAllowed(client)).flatMap(({ table, allowed }) => {
    const missing = roles.filter((role) => !allowed.includes(role))
    if (missing.length === 0) return []
    const problem = `The database does not allow the roles ${missing.join(', ')} of the app in ${table}.`
    return [{ object: table, problem, remedy: 'Run gatehouse migrate with this app.' }]
  })
}

// Names of roles are words with hyphens (defineApp).
const quoted = roles.map((role) => `'${role}'`).join(', ')

function isSame(allowed: readonly string[]): boolean {
  return allowed.toSorted().join() === roles.toSorted().join()
}

async function readAllowed(
  client: pg.ClientBase,
): Promise<{ table: string; allowed: readonly string[] }[]> {
  const { rows } = await client.query<{ table: string; definition: string | null }>(
    `SELECT t.name AS "table", pg_get_constraintdef(c.oid) AS definition
     FROM unnest($1::text[]) t (name)
     LEFT JOIN pg_constraint c ON c.conrelid = to_regclass(t.name) AND c.conname = t.name || '_role_check'`,
    [tables],
  )
  return rows.map(({ table, definition }) => ({
    table,
    allowed: [...(definition ?? '').matchAll(/'([^']*)'/g)].map(([, role = '']) => role),
  }))
}

async function refuseHeld(owner: pg.ClientBase, table: string): Promise<void> {
  const { rows } = await owner.query<{ role: string; count: string }>(
    `SELECT role, count(*) FROM ${table} WHERE role <> ALL ($1) GROUP BY role ORDER BY role`,
    [roles],
  )
  if (rows.length === 0) return
  const held = rows.map(({ role, count }) => `${count} have the role ${role}`).join(', ')
  throw new OperatorError(
    `Of ${table} ${held}, which the app does not declare.`,
    `Declare it again in roles, give them another role there, and then remove it.`,
  )
}
