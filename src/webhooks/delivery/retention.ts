import type { Database, TenantScope } from '#src/db/database.ts'
import { listTenantIds } from '#src/db/key-rotation.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'

const batchRows = 500

/**
 * Deletes events created before `before`, with their deliveries and attempts, in small commits,
 * tenant by tenant.
 * @returns the number of deleted events
 */
export async function purgeEvents(
  db: Database,
  systemDb: SystemDatabase,
  before: Date,
): Promise<number> {
  let events = 0
  for await (const tenantId of listTenantIds(systemDb)) {
    let purged: number
    do {
      purged = await purgeBatch(db, { tenantId }, before)
      events += purged
    } while (purged === batchRows)
  }
  return events
}

function purgeBatch(db: Database, scope: TenantScope, before: Date): Promise<number> {
  return db.write(
    scope,
    (tx) => tx.$executeRaw`
      DELETE FROM outbound_events WHERE tenant_id = ${scope.tenantId}::uuid AND id IN (
        SELECT id FROM outbound_events
        WHERE tenant_id = ${scope.tenantId}::uuid AND created_at < ${before}
        ORDER BY created_at LIMIT ${batchRows})`,
  )
}
