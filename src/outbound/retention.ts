import type { Database } from '#src/db/database.ts'
import type { IdentityPlane } from '#src/db/identity-plane.ts'

const batchRows = 500

/**
 * Lets go of events made before `before`, in small commits, tenant by tenant: with an event go its
 * deliveries and their attempts.
 * @returns how many events there were
 */
export async function purgeEvents(
  db: Database,
  plane: IdentityPlane,
  before: Date,
): Promise<number> {
  let events = 0
  for await (const tenantId of listTenants(plane)) {
    let purged: number
    do {
      purged = await purgeBatch(db, { tenantId }, before)
      events += purged
    } while (purged === batchRows)
  }
  return events
}

/** Every tenant with a member; the tenants themselves are only seen from inside. */
async function* listTenants(plane: IdentityPlane): AsyncGenerator<string> {
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const { rows } = await plane.query<{ tenant_id: string }>({
      name: 'next-tenant',
      text: 'SELECT tenant_id FROM memberships WHERE tenant_id > $1 ORDER BY tenant_id LIMIT 1',
      values: [after],
    })
    const [row] = rows
    if (row === undefined) return
    after = row.tenant_id
    yield after
  }
}

function purgeBatch(
  db: Database,
  scope: { readonly tenantId: string },
  before: Date,
): Promise<number> {
  return db.write(
    scope,
    (tx) => tx.$executeRaw`
      DELETE FROM outbound_events WHERE tenant_id = ${scope.tenantId}::uuid AND id IN (
        SELECT id FROM outbound_events
        WHERE tenant_id = ${scope.tenantId}::uuid AND created_at < ${before}
        ORDER BY created_at LIMIT ${batchRows})`,
  )
}
