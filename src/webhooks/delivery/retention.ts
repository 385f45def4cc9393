import type { Queryable } from '#src/db/system-database.ts'

const batchRows = 500
const beforeAll = '00000000-0000-0000-0000-000000000000'

/**
 * Deletes events created before `before`, with their deliveries and attempts, in small commits,
 * tenant by tenant.
 * @returns the number of deleted events
 */
export async function purgeEvents(systemDb: Queryable, before: Date): Promise<number> {
  let events = 0
  let tenantAfter = beforeAll
  for (;;) {
    const { rows } = await systemDb.query<{ tenant_id: string; purged: number }>({
      name: 'purge-outbound-events',
      text: 'SELECT tenant_id, purged FROM purge_outbound_events($1, $2, $3)',
      values: [tenantAfter, before, batchRows],
    })
    const [row] = rows
    if (row === undefined) return events
    events += row.purged
    // A full batch: the same tenant may have more.
    if (row.purged < batchRows) tenantAfter = row.tenant_id
  }
}
