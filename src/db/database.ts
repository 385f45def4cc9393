import { PrismaPg } from '@prisma/adapter-pg'
import type { ContextMode } from '#src/config/config.ts'
import { type Prisma, PrismaClient } from '#src/db/generated/client.ts'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { isPooled, poolOptions, survivesBrokenConnections } from './pool-options.ts'
import { inScope, type Scope, ScopedPool } from './scoped-pool.ts'

export type { Scope } from './scoped-pool.ts'

/** A transaction that carries its scope; every domain function takes one and nothing else does. */
export type Tx = Prisma.TransactionClient

/** The first lock: the tenant of the verified session, or of the job. */
export type TenantScope = { readonly tenantId: string }

export type Database = {
  /** Runs `work` in a READ ONLY transaction under `scope`. */
  read<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Runs one hand-written statement in a READ ONLY transaction of its own under `scope`. For what
   * is read most, one row by its id: opening, statement and COMMIT are one packet.
   */
  readRows<Row extends object>(scope: Scope, statement: Prisma.Sql): Promise<Row[]>
  /** Runs `work` in a transaction under `scope`; it is committed when `work` resolves. */
  write<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const transactionLimits = { maxWait: 2_000, timeout: 10_000 }
const namedStatements = 200 // the code has fewer; a list of values makes one for each length

/**
 * The only way to owned and tenant rows: Prisma over the scoped pool, always inside a transaction
 * with a scope. There is no unscoped variant.
 * @param url connection of the application or worker role
 * @param size connections at most
 */
export function openDatabase(
  url: string,
  size: number,
  mode?: ContextMode,
  watch?: PoolWatch,
): Database {
  const pool = survivesBrokenConnections(new ScopedPool(poolOptions(url, size), mode, watch))
  // Behind a pooler the next transaction may be on another connection, which knows no names.
  const nameOf = isPooled(url) ? () => '' : nameStatements()
  const adapter = new PrismaPg(pool, { statementNameGenerator: nameOf })
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' })
  return {
    read: (scope, work) =>
      inScope(scope, 'read', () => prisma.$transaction(work, transactionLimits)),
    readRows: (scope, { text, values }) =>
      pool.readRows(scope, { name: nameOf({ sql: text }), text, values }),
    write: (scope, work) =>
      inScope(scope, 'write', () => prisma.$transaction(work, transactionLimits)),
    async close() {
      await prisma.$disconnect()
      await pool.end()
    },
  }
}

/**
 * A name for each text, so that a connection has its plan made once: under row-level security that
 * costs more than carrying it out. Texts past the limit have the empty name, which keeps no plan.
 */
function nameStatements(): (statement: { sql: string }) => string {
  const names = new Map<string, string>()
  return ({ sql }) => {
    if (!names.has(sql) && names.size < namedStatements) names.set(sql, `prisma-${names.size}`)
    return names.get(sql) ?? ''
  }
}

/**
 * Runs `work` in the tenant of a row that the transaction found under another lock: an order is
 * its owner's in whichever tenant they are, but what is told of it belongs where it was placed.
 * @param scope of the transaction; afterwards it holds again
 * @param tenantId as the row has it, never as a request does
 */
export async function inTenant<T>(
  tx: Tx,
  scope: Scope,
  tenantId: string,
  work: () => Promise<T>,
): Promise<T> {
  if (scope.tenantId === tenantId) return work()
  await setTenant(tx, tenantId)
  const result = await work()
  await setTenant(tx, scope.tenantId ?? '')
  return result
}

async function setTenant(tx: Tx, tenantId: string): Promise<void> {
  await tx.$queryRaw`SELECT set_config('app.tenant_id', ${tenantId}, true)`
}
