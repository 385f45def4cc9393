import pg from 'pg'
import { randomKey, randomToken } from '#src/crypto/hash.ts'
import { type Finding, migrateRemedy } from '../finding.ts'
import { appendOnly, identityTables, serviceTables } from '../tables.ts'
import { type IsolationTenant, insertTenant, isolationRows } from './isolation-rows.ts'

/** A table with tenant rows, and what the role that is logged in may do to it. */
type TenantTable = {
  name: string
  tenantColumn: string
  deletable: boolean
  insertable: boolean
  /** A column that it may change; null if there is none. */
  changeable: string | null
}

type Statement = { text: string; values?: unknown[] }

/**
 * Tries row-level security: creates two tenants, lets each read and write the rows of the other, and
 * rolls everything back, so no other transaction sees them. This finds policies that look right in
 * the catalogue and do not work.
 * @param client logged in as the web role, in a transaction
 * @param concerns which tables are tried
 * @param isOfNewer the database is of a newer release, which may have dropped or closed tables that this
 *   release does not use
 * @returns a finding for each table that shows a tenant foreign rows, accepts writes to them, or hides
 *   the tenant's own
 */
export async function verifyIsolation(
  client: pg.Client,
  concerns: Concerns = () => true,
  isOfNewer = false,
): Promise<Finding[]> {
  return runAndRollBack(client, '', concerns, async (tables) => [
    ...(await lookWithoutScope(client, tables)),
    ...(await compareTenants(client, tables, isOfNewer)),
  ])
}

/**
 * The part of `verifyIsolation` that writes nothing: without a scope no tenant table shows a row.
 * @param client logged in as the web role, in a transaction
 */
export async function verifyWithoutScope(
  client: pg.Client,
  concerns: Concerns = () => true,
): Promise<Finding[]> {
  return runAndRollBack(client, 'SET LOCAL transaction_read_only = on;', concerns, (tables) =>
    lookWithoutScope(client, tables),
  )
}

type Concerns = (table: string) => boolean

async function runAndRollBack(
  client: pg.Client,
  settings: string,
  concerns: Concerns,
  work: (tables: readonly TenantTable[]) => Promise<string[]>,
): Promise<Finding[]> {
  await client.query('SAVEPOINT isolation')
  try {
    // A table may be large; a test tenant has few rows, which an index finds. That makes plans look so
    // expensive that PostgreSQL would compile each; behind a pooler the connection has no setting.
    await client.query(`${settings} SET LOCAL enable_seqscan = off; SET LOCAL jit = off`)
    // Tenants are read by functions before a scope exists, and are separate for everybody else.
    const others = [...identityTables, ...serviceTables].filter((name) => name !== 'tenants')
    const { rows } = await client.query<TenantTable>(tenantTables, [others])
    const problems = await work(rows.filter(({ name }) => concerns(name)))
    return [...new Set(problems)].map((problem) => ({ problem, remedy: migrateRemedy }))
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT isolation')
  }
}

async function lookWithoutScope(
  client: pg.Client,
  tables: readonly TenantTable[],
): Promise<string[]> {
  const problems: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query(`SELECT EXISTS (SELECT 1 FROM ${quote(name)}) AS shown`)
    if (rows[0].shown) problems.push(`The table ${name} shows rows without a scope.`)
  }
  return problems
}

async function compareTenants(
  client: pg.Client,
  tables: readonly TenantTable[],
  isOfNewer: boolean,
): Promise<string[]> {
  const isOpen = (table: string) => tables.find(({ name }) => name === table)?.insertable === true
  const isFilled = (table: string) =>
    Object.hasOwn(isolationRows, table) && (!isOfNewer || isOpen(table))
  const one = await makeIsolationTenant(client)
  const other = await makeIsolationTenant(client)
  if (one === null || other === null) return ["The table tenants refuses a tenant's own row."]
  const problems: string[] = []
  for (const member of [one, other]) {
    await enter(client, member)
    for (const [name, insert] of Object.entries(isolationRows)) {
      if (isFilled(name) && !(await writes(client, insert(member), 'kept'))) {
        problems.push(`The table ${name} refuses a tenant's own row.`)
      }
    }
  }
  for (const [self, foreign] of [[one, other] as const, [other, one] as const]) {
    await enter(client, self)
    for (const table of tables) {
      problems.push(...(await look(client, table, self, isFilled(table.name))))
      problems.push(...(await trespass(client, table, self, foreign)))
    }
    problems.push(...(await lookAtPeople(client, self, foreign)))
  }
  await enter(client, null)
  return [...problems, ...(await lookWithoutScope(client, tables))]
}

/**
 * A tenant with one member, created by the functions of a first sign-in. Null if they are refused.
 */
async function makeIsolationTenant(client: pg.Client): Promise<TestMember | null> {
  const [browser, state, ticket, credential] = [randomKey(), randomKey(), randomKey(), randomKey()]
  await client.query({
    text: `SELECT start_attempt($1, $2, 'sign-in', 'isolation-test', '', '', NULL, NULL, 60)`,
    values: [browser, state],
  })
  await client.query({
    text: 'SELECT take_attempt($1, $2, $3)',
    values: [browser, state, ticket],
  })
  await client.query({ text: 'SELECT enter_attempt($1)', values: [ticket] })
  await client.query('SAVEPOINT first_sign_in')
  try {
    const subject = randomToken()
    const { rows } = await client.query<{ id: string }>({
      text: `SELECT create_user($1, 'isolation test', NULL, 'isolation test') AS id`,
      values: [subject],
    })
    const begun = await client.query<{ tenant_id: string }>({
      text: 'SELECT tenant_id FROM start_session($1, $2, NULL, NULL, NULL, 60, NULL)',
      values: [credential, subject],
    })
    const tenantId = begun.rows[0]?.tenant_id
    if (tenantId === undefined) return null
    return { tenantId, userId: Number(rows[0]?.id), credential }
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== refused) throw error
    await client.query('ROLLBACK TO SAVEPOINT first_sign_in')
    return null
  }
}

type TestMember = IsolationTenant & { readonly credential: Buffer }

/** Sets the scope of the member with their session; null clears it. */
async function enter(client: pg.Client, member: TestMember | null): Promise<void> {
  await client.query(
    member === null
      ? `SELECT set_config('app.scope', '', true)`
      : { text: 'SELECT enter_session($1, 60, false)', values: [member.credential] },
  )
}

async function look(
  client: pg.Client,
  table: TenantTable,
  self: IsolationTenant,
  isFilled: boolean,
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
  if (seen?.foreign) problems.push(`The table ${table.name} shows a tenant the rows of another.`)
  if (!seen?.own && isFilled) {
    problems.push(`The table ${table.name} hides a tenant's own rows.`)
  }
  return problems
}

/** Identity tables by the column that names the person, and whether the web role may delete rows. */
const peopleTables = {
  users: { column: 'id', deletable: false },
  memberships: { column: 'user_id', deletable: true },
  oauth_identities: { column: 'user_id', deletable: true },
  sessions: { column: 'user_id', deletable: true },
} as const

/** A person sees their own rows of identity tables and none of a person in another tenant. */
async function lookAtPeople(
  client: pg.Client,
  self: IsolationTenant,
  foreign: IsolationTenant,
): Promise<string[]> {
  const problems: string[] = []
  for (const [name, { column, deletable }] of Object.entries(peopleTables)) {
    const { rows } = await client.query<{ own: boolean; foreign: boolean }>({
      text: `SELECT EXISTS (SELECT FROM ${name} WHERE ${column} = $1) AS own,
                    EXISTS (SELECT FROM ${name} WHERE ${column} = $2) AS foreign`,
      values: [self.userId, foreign.userId],
    })
    const [seen] = rows
    const change = { text: `DELETE FROM ${name} WHERE ${column} = $1`, values: [foreign.userId] }
    const changed = deletable && (await writes(client, change, 'rolled back'))
    if (seen?.foreign || changed)
      problems.push(`The table ${name} shows a person the rows of another.`)
    if (!seen?.own) problems.push(`The table ${name} hides a person's own rows.`)
  }
  return problems
}

/** Tries every kind of write to the other tenant's rows; each is rolled back. */
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
      return [`The table ${name} accepts what a tenant writes to the rows of another.`]
    }
  }
  return []
}

/** Whether the statement wrote a row. False if it was refused; other failures are thrown. */
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
      if (error.code === refused) return false
      // Constraints (class 23) are checked after the policy has accepted the row.
      if (afterwards === 'rolled back' && error.code?.startsWith('23')) return true
      throw error
    },
  )
  const keep = touched && afterwards === 'kept'
  await client.query(`${keep ? 'RELEASE' : 'ROLLBACK TO'} SAVEPOINT attempt`)
  return touched
}

// insufficient_privilege: a missing privilege, or a new row that violates a policy.
const refused = '42501'

function quote(name: string): string {
  return pg.escapeIdentifier(name)
}

/** Tables and views with tenant rows; only what the role has privileges for is tried. */
const tenantTables = `
  SELECT c.relname AS name, tenant.attname AS "tenantColumn",
    has_table_privilege(c.oid, 'DELETE') AS deletable,
    has_any_column_privilege(c.oid, 'INSERT') AS insertable,
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
