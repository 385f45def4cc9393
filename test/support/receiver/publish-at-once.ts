import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { insertEvent, type NewEvent } from '#src/webhooks/events/publish.ts'

/** Publishes an event with the next statement instead of with COMMIT; resolves to its id. */
export async function publishAtOnce(
  tx: Tx,
  tenant: TenantScope,
  event: NewEvent,
  now: Date,
): Promise<string> {
  const { eventId, sql } = await insertEvent(tenant, event, now)
  await tx.sql(sql)
  return eventId
}
