import pg from 'pg'
import type { Finding } from './finding.ts'
import {
  type IsolationTenant,
  insertMember,
  insertTenant,
  isolationRows,
} from './isolation-rows.ts'
import { appendOnly, serviceTables, unscopedTables } from './tables.ts'

/** A table with tenant rows, and the privileges of the logged-in role. */
type TenantTable = {
  name: string
  tenantColumn: string
  deletable: boolean
  /** A column that the role may update, or null. */
  changeable: string | null
}

type Statement = { text: string; values?: unknown[] }

const remedy =
  'Restore its row-level security as the migrations make it (prisma/migrations), or the privileges of the role (`gatehouse migrate`).'

/**
 * Tests row-level security: creates two temporary tenants, lets each try to read and write the
 * other's rows, and rolls everything back. Independent of the catalogue checks, it finds policies that look
 * right and do not work.
 * @param client logged in as the application role
 * @param concerns selects the tables to test
 * @returns a finding for each table in which a tenant can access another's rows or not its own
 */
export async function verifyIsolation(
  client: pg.Client,
  concerns: (table: string) => boolean = () => true,
): Promise<Finding[]> {
  await client.query('BEGIN')
  try {
    // Tables may be large, and the temporary tenants have few rows: use indexes.
    await client.query('SET LOCAL enable_seqscan = off')
    const unscoped = [...unscopedTables, ...serviceTables]
    const { rows } = await client.query<TenantTable>(tenantTables, [unscoped])
    const tables = rows.filter(({ name }) => concerns(name))
    const problems = [
      ...(await lookWithoutContext(client, tables)),
      ...(await compareTenants(client, tables)),
    ]
    return [...new Set(problems)].map((problem) => ({ problem, remedy }))
  } finally {
    await client.query('ROLLBACK')
  }
}

async function lookWithoutContext(
  client: pg.Client,
  tables: readonly TenantTable[],
): Promise<string[]> {
  const problems: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query(`SELECT EXISTS (SELECT FROM ${quote(name)}) AS shown`)
    if (rows[0].shown) problems.push(`The table ${name} shows rows although no tenant is set.`)
  }
  return problems
}

async function compareTenants(
  client: pg.Client,
  tables: readonly TenantTable[],
): Promise<string[]> {
  const one = await makeIsolationTenant(client)
  const other = await makeIsolationTenant(client)
  if (one === null || other === null) return ["The table tenants refuses a tenant's own row."]
  const problems: string[] = []
  for (const tenant of [one, other]) {
    await enter(client, tenant)
    for (const [name, insert] of Object.entries(isolationRows)) {
      if (!(await writes(client, insert(tenant), 'kept'))) {
        problems.push(`The table ${name} refuses a tenant's own row.`)
      }
    }
  }
  for (const [self, foreign] of [[one, other] as const, [other, one] as const]) {
    await enter(client, self)
    for (const table of tables) {
      problems.push(...(await look(client, table, self)))
      problems.push(...(await trespass(client, table, self, foreign)))
    }
  }
  await enter(client, null)
  return [...problems, ...(await lookWithoutContext(client, tables))]
}

async function makeIsolationTenant(client: pg.Client): Promise<IsolationTenant | null> {
  const tenantId = crypto.randomUUID()
  await enter(client, { tenantId })
  const made = await writes(client, insertTenant(tenantId), 'kept')
  return made ? insertMember(client, tenantId) : null
}

/** Sets the scope as the scoped pool does; null for none. */
async function enter(client: pg.Client, scope: Partial<IsolationTenant> | null): Promise<void> {
  await client.query({
    text: `SELECT set_config('app.tenant_id', $1, true), set_config('app.user_id', $2, true)`,
    values: [scope?.tenantId ?? '', String(scope?.userId ?? '')],
  })
}

async function look(
  client: pg.Client,
  table: TenantTable,
  self: IsolationTenant,
): Promise<string[]> {
  const name = quote(table.name)
  const tenant = quote(table.tenantColumn)
  const { rows } = await client.query<{ own: boolean; foreign: boolean }>({
    text: `SELECT EXISTS (SELECT FROM ${name} WHERE ${tenant} = $1) AS own,
                  EXISTS (SELECT FROM ${name} WHERE ${tenant} IS DISTINCT FROM $1) AS foreign`,
    values: [self.tenantId],
  })
  const [seen] = rows
  const problems: string[] = []
  if (seen?.foreign) problems.push(`The table ${table.name} shows a tenant another's rows.`)
  if (!seen?.own && Object.hasOwn(isolationRows, table.name)) {
    problems.push(`The table ${table.name} hides a tenant's own rows.`)
  }
  return problems
}

/** Tries every way of writing to the other tenant's rows, and rolls each back. */
async function trespass(
  client: pg.Client,
  table: TenantTable,
  self: IsolationTenant,
  foreign: IsolationTenant,
): Promise<string[]> {
  const { name } = table
  const where = `WHERE ${quote(table.tenantColumn)} = $1`
  const attempts: Statement[] = []
  const insert = isolationRows[name]
  const excused = appendOnly.some((one) => one === name)
  if (insert !== undefined && !excused) {
    attempts.push(insert(foreign), insert({ ...foreign, userId: self.userId }))
  }
  if (name === 'tenants') attempts.push(insertTenant(crypto.randomUUID()))
  if (table.changeable !== null) {
    const column = quote(table.changeable)
    const text = `UPDATE ${quote(name)} SET ${column} = ${column} ${where}`
    attempts.push({ text, values: [foreign.tenantId] })
  }
  if (table.deletable) {
    attempts.push({ text: `DELETE FROM ${quote(name)} ${where}`, values: [foreign.tenantId] })
  }
  for (const attempt of attempts) {
    if (await writes(client, attempt, 'rolled back')) {
      return [`The table ${name} takes what a tenant writes to another's rows.`]
    }
  }
  return []
}

/** Whether the statement affected a row. False if it was denied; any other error is thrown. */
async function writes(
  client: pg.Client,
  statement: Statement,
  afterwards: 'kept' | 'rolled back',
): Promise<boolean> {
  await client.query('SAVEPOINT attempt')
  const touched = await client.query(statement).then(
    ({ rowCount }) => rowCount !== 0,
    (error) => {
      if (!(error instanceof pg.DatabaseError)) throw error
      if (error.code === denied) return false
      // Constraints (SQLSTATE class 23) are checked after the policy has accepted the row.
      if (afterwards === 'rolled back' && error.code?.startsWith('23')) return true
      throw error
    },
  )
  const keep = touched && afterwards === 'kept'
  await client.query(`${keep ? 'RELEASE' : 'ROLLBACK TO'} SAVEPOINT attempt`)
  return touched
}

// PostgreSQL's code for a missing privilege and for a row that a policy rejects.
const denied = '42501'

function quote(name: string): string {
  return pg.escapeIdentifier(name)
}

/** Every relation with tenant rows, and what the role may do with it. */
const tenantTables = `
  SELECT c.relname AS name, tenant.attname AS "tenantColumn",
    has_table_privilege(c.oid, 'DELETE') AS deletable,
    (SELECT a.attname FROM pg_attribute a
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       AND a.attgenerated = '' AND a.attidentity = ''
       AND has_column_privilege(c.oid, a.attnum, 'UPDATE')
       AND has_column_privilege(c.oid, a.attnum, 'SELECT')
     ORDER BY a.attnum LIMIT 1) AS changeable
  FROM pg_class c
  JOIN pg_attribute tenant ON tenant.attrelid = c.oid AND NOT tenant.attisdropped
    AND tenant.attname = CASE c.relname WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
    AND c.relname <> ALL ($1) AND has_column_privilege(c.oid, tenant.attnum, 'SELECT')
  ORDER BY c.relname`
