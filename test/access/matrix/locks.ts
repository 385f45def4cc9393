import type { FastifyInstance } from 'fastify'
import { scopeTenantId, scopeUserId } from '#src/access/scope.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { TestApp } from '#test/support/app/app.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

/** Which of the two locks are on. */
export type Locks = { queryScope: boolean; rowLevelSecurity: boolean }

export async function switchLocks({ app, database }: TestApp, locks: Locks): Promise<void> {
  if (!locks.queryScope) {
    switchOffQueryScope(app)
    await switchOffFunctionScope(database)
  }
  if (!locks.rowLevelSecurity) await switchOffRowLevelSecurity(database)
}

/** The columns of the scope. For a team member the user is the requested object. */
const scopeColumns = ['userId', 'tenantId']
const scopeColumnsOf: Readonly<Record<string, readonly string[]>> = { teamMember: ['tenantId'] }

/**
 * Disables the query scope in this server: removes owner and tenant from the conditions of every
 * statement of its domain functions. The entry still sets the scope of row-level security.
 */
function switchOffQueryScope(app: FastifyInstance): void {
  // In place, because a route may have kept a reference when it was registered.
  const db: Database = { ...app.db }
  const unlocked: Omit<Database, 'close' | 'enter'> = {
    readRows: (entry, statement) => db.readRows(entry, withoutScopeClauses(statement, [])),
    writeRows: (entry, statement) => db.writeRows(entry, withoutScopeClauses(statement, [])),
    read: (entry, work) => db.read(entry, (tx, facts) => work(withoutScope(tx), facts)),
    write: (entry, work) => db.write(entry, (tx, facts) => work(withoutScope(tx), facts)),
    transaction: (entry, work) =>
      db.transaction(entry, (connection, facts) => work(withoutScopeParameters(connection), facts)),
  }
  Object.assign(app.db, unlocked)
}

/** The same for the functions that find a row by its id. */
async function switchOffFunctionScope({ admin }: TestDatabase): Promise<void> {
  const { rows } = await admin.query<{ name: string; definition: string }>(
    `SELECT proname AS name, pg_get_functiondef(oid) AS definition FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND proname = ANY ($1)`,
    [readFunctions],
  )
  if (rows.length !== readFunctions.length) throw new Error('A function that reads is missing.')
  for (const { definition } of rows) {
    await admin.query(definition.replaceAll(readFunctionScope, 'true'))
  }
}

/** Disables row-level security in the database of the test. */
async function switchOffRowLevelSecurity({ admin }: TestDatabase): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relrowsecurity AND relnamespace = 'public'::regnamespace`,
  )
  for (const { name } of rows) await admin.query(`ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`)
  const views = await admin.query<{ name: string; definition: string }>(
    `SELECT oid::regclass::text AS name, pg_get_viewdef(oid) AS definition FROM pg_class
     WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace`,
  )
  for (const { name, definition } of views.rows) {
    const open = definition.replace(/\sWHERE [\s\S]*current_tenant_id\(\)[\s\S]*$/, '')
    await admin.query(`CREATE OR REPLACE VIEW ${name} WITH (security_invoker = true) AS ${open}`)
  }
}

function withoutScope(tx: Tx): Tx {
  return new Proxy(tx, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property)
      if (property === '$queryRaw' || property === '$executeRaw') {
        return (statement: Prisma.Sql | TemplateStringsArray, ...values: unknown[]) =>
          Reflect.apply(target[property], target, [withoutScopeClauses(statement, values)])
      }
      if (typeof value === 'function') return value.bind(target)
      if (typeof property === 'symbol' || !isModel(value)) return value
      const columns = scopeColumnsOf[property] ?? scopeColumns
      return new Proxy(value, { get: (model, method) => unscopedMethod(model, method, columns) })
    },
  })
}

function unscopedMethod(
  model: object,
  method: string | symbol,
  columns: readonly string[],
): unknown {
  const run: unknown = Reflect.get(model, method)
  if (typeof run !== 'function') return run
  return (args: unknown) => {
    if (!isObject(args) || !('where' in args)) return run.call(model, args)
    return run.call(model, { ...args, where: without(args.where, columns) })
  }
}

function without(where: unknown, columns: readonly string[]): unknown {
  if (!isObject(where)) return where
  const kept = Object.entries(where).filter(([column]) => !columns.includes(column))
  return Object.fromEntries(kept)
}

/** Called by statements that leave together with their entry; owner and tenant come from the scope. */
export const readFunctions = ['find_post', 'find_invoice', 'find_document', 'find_order']
export const readFunctionScope = /\b\w+\.(tenant_id = tenant|user_id = person)\b/g

const scopeClause = /((?:\w+\.)?(?:tenant_id|user_id)) *= *$/

/** What belongs to one person; elsewhere `user_id` is the requested member. */
const personTables =
  /\b(?:FROM|UPDATE) (?:sessions|api_tokens|oauth_identities|provider_grants|token_revocations)\b/

/** In statements of `transaction` the scope is `tenant_id = $1` or `user_id = $1`. Makes it always true. */
function withoutScopeParameters({ query }: Queryable): Queryable {
  return {
    query: (statement) => {
      const isPersonal = personTables.test(statement.text)
      const columns = isPersonal ? 'tenant_id|user_id' : 'tenant_id'
      const condition = `(?<=\\b(?:WHERE|AND|OR) )(?:\\w+\\.)?(?:${columns}) = \\$\\d+`
      // Kept in the text, so that the parameter keeps its type.
      const text = statement.text.replace(new RegExp(condition, 'g'), '($& OR true)')
      // Not under its name, which a connection keeps for the whole text.
      return query({ text, ...(statement.values && { values: statement.values }) })
    },
  }
}

/** Where a statement leaves together with its entry, owner and tenant come from the scope. */
const fromScope = [scopeUserId, scopeTenantId].map(({ sql }) => RegExp.escape(sql)).join('|')
const ownClause = new RegExp(`((?:\\w+\\.)?(?:tenant_id|user_id)) = (?:${fromScope})`, 'g')

/** In hand-written SQL the scope is `tenant_id = ${…}` or `user_id = ${…}`. Makes it always true. */
function withoutScopeClauses(
  statement: Prisma.Sql | TemplateStringsArray,
  given: readonly unknown[],
): Prisma.Sql {
  const { strings, values } = 'sql' in statement ? statement : Prisma.sql(statement, ...given)
  const [first = '', ...rest] = strings.map((text) => text.replace(ownClause, '$1 = $1'))
  const texts = [first]
  const kept: unknown[] = []
  for (const [index, text] of rest.entries()) {
    const before = texts.at(-1) ?? ''
    const column = scopeClause.exec(before)?.[1]
    if (column === undefined) {
      texts.push(text)
      kept.push(values[index])
    } else {
      texts[texts.length - 1] = `${before}${column}${text.replace(/^::\w+/, '')}`
    }
  }
  return Prisma.sql(texts, ...kept)
}

function isModel(value: unknown): value is object {
  return isObject(value) && 'findFirst' in value
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
