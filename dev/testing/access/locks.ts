import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance } from 'fastify'
import { scopeKind, scopeTenantId, scopeUserId } from '#src/access/scope.ts'
import type { Statement } from '#src/db/connections/one-trip.ts'
import type { Database, ShortWork, Tx, Work } from '#src/db/database.ts'
import { sqlOver } from '#src/db/sql.ts'
import { personKinds } from '#src/resources/kit/visible.ts'
import type { Running } from './world.ts'

/** Which of the two locks are on. */
export type Locks = { queryScope: boolean; rowLevelSecurity: boolean }

/** The owner, the tenant or both. Null: no one's. */
export type Scope = { readonly userId?: number | null; readonly tenantId?: string | null }

/** @returns what switches both locks on again */
export async function switchLocks(
  { app, database }: Running,
  locks: Locks,
): Promise<() => Promise<void>> {
  const closeScope = locks.queryScope ? null : switchOffQueryScope(app)
  const closeRows = locks.rowLevelSecurity ? null : await switchOffRowLevelSecurity(database)
  return async () => {
    closeScope?.()
    await closeRows?.()
  }
}

const scopeOfRequest = new AsyncLocalStorage<Scope>()

/**
 * Runs a request whose statements are given this scope instead of the caller's, while the query scope is
 * off. With the scope of the requested object, whatever the statement looks like, its conditions no
 * longer hide the object.
 */
export function withScope<T>(scope: Scope | null, request: () => Promise<T>): Promise<T> {
  return scope === null ? request() : scopeOfRequest.run(scope, request)
}

/**
 * Takes the first lock away where every statement gets it: the owner and the tenant that the domain
 * functions of this server are given, and the expressions that statements have which leave together with
 * their entry. The entry itself, its decision and the scope of row-level security stay the caller's.
 */
function switchOffQueryScope(app: FastifyInstance): () => void {
  // In place, because a route may have kept a reference when it was registered.
  const db: Database = { ...app.db }
  const unlocked: Omit<Database, 'close'> = {
    read: (entry, work) => db.read(entry, work && unlock(work)),
    write: (entry, work) => db.write(entry, unlockWrite(work)),
  }
  Object.assign(app.db, unlocked)
  return () => void Object.assign(app.db, { read: db.read, write: db.write })
}

function unlockWrite<Facts, T>(work: Work<Facts, T> | ShortWork<Facts, T>) {
  if (typeof work === 'function' || !('whole' in work)) return unlock(work)
  const { short, whole } = work
  return {
    async short(facts: Facts) {
      const one = await short(inScope(facts))
      // The whole work follows, whose statements can be changed.
      return one?.statement.text.includes(unseen) ? null : one
    },
    whole: (tx: Tx, facts: Facts) => whole(showingAll(tx), inScope(facts)),
  }
}

function unlock<Facts, T>(work: Work<Facts, T>): Work<Facts, T> {
  if (typeof work === 'function') return (tx, facts) => work(showingAll(tx), inScope(facts))
  return { ...work, statement: withoutScopeExpressions(work.statement) }
}

/** The facts with the scope of the request. A service has no user. */
function inScope<Facts>(facts: Facts): Facts {
  const scope = scopeOfRequest.getStore()
  if (scope === undefined || typeof facts !== 'object' || facts === null) return facts
  const isPerson = 'userId' in facts && facts.userId !== null
  const { userId, ...tenant } = scope
  return { ...facts, ...tenant, ...(isPerson && userId !== undefined && { userId }) }
}

/** How the first lock begins on rows that some members see only. */
const unseen = `${scopeKind.text} NOT IN ${personKinds}`

/** The transaction, whose statements show every member all rows of their tenant. */
function showingAll(tx: Tx): Tx {
  const sql = sqlOver((given) => tx.sql({ ...rowOf(given), text: withAllSeen(given.text) }))
  return Object.assign(Object.create(tx), { sql })
}

const rowOf = ({ values = [], row }: Statement) => ({ values, ...(row && { row }) })
const withAllSeen = (text: string) => text.replaceAll(unseen, 'true')

/** The statement with the scope of the request in place of the expressions that read it. */
function withoutScopeExpressions(given: Statement): Statement {
  const { userId, tenantId } = scopeOfRequest.getStore() ?? {}
  const ofUser = userId === undefined ? scopeUserId.text : `${userId}::bigint`
  const tenant = tenantId === null ? 'NULL' : `'${tenantId}'`
  const ofTenant = tenantId === undefined ? scopeTenantId.text : `${tenant}::uuid`
  const open = withAllSeen(given.text)
    .replaceAll(scopeUserId.text, ofUser)
    .replaceAll(scopeTenantId.text, ofTenant)
  return { ...rowOf(given), text: open }
}

/** Disables row-level security in the database of the test. */
async function switchOffRowLevelSecurity({
  admin,
}: Running['database']): Promise<() => Promise<void>> {
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
  return async () => {
    for (const { name } of rows) await admin.query(`ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`)
    for (const { name, definition } of views.rows) {
      await admin.query(
        `CREATE OR REPLACE VIEW ${name} WITH (security_invoker = true) AS ${definition}`,
      )
    }
  }
}
