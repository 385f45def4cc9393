import { Prisma } from '#src/db/generated/client.ts'
import { selectRows } from '#src/db/select-rows.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { jobInsert } from '#src/queue/jobs.ts'
import type { DeliverJob } from '#src/queue/queue.ts'

export const deliverQueue = 'deliver'

/** NOTIFY on this channel means that a job is due. */
export const deliverChannel = 'gatehouse_deliver'

/**
 * An INSERT of one job for every row of `source`, to be used inside the statement that writes the
 * deliveries, so that both commit together. The id is derived from delivery, series and number, so
 * that no attempt is queued twice.
 * @param source tenant_id, delivery_id, series, number, endpoint_id, wait_seconds, priority
 * @param options `released`: they are within the rate limit of their endpoint
 */
export async function insertDeliverJobs(
  source: Prisma.Sql,
  { released = false } = {},
): Promise<Prisma.Sql> {
  const [before, after] = await jobInsert(deliverQueue)
  return Prisma.sql`${Prisma.raw(before)}(
    SELECT coalesce(json_agg(json_build_object(
      'id', md5(concat_ws(':', delivery_id, series, number))::uuid,
      'data', json_build_object('tenantId', tenant_id, 'deliveryId', delivery_id,
                                'series', series, 'number', number${released ? releasedMember : Prisma.empty}),
      'priority', priority,
      'groupId', endpoint_id,
      'startAfter', make_interval(secs => wait_seconds))), '[]')
    FROM (${source}) AS due
  )${Prisma.raw(after)}`
}

const releasedMember = Prisma.sql`, 'released', true`
/** An attempt that is due and has no job. */
export type LostAttempt = DeliverJob & { endpointId: string }

/** Adds the jobs of attempts that have none. @returns their number */
export async function addDeliverJobs(
  connection: Queryable,
  attempts: readonly LostAttempt[],
): Promise<number> {
  const source = Prisma.sql`
    SELECT tenant_id, delivery_id, series, number, endpoint_id, 0 AS wait_seconds, 0 AS priority
    FROM json_to_recordset(${JSON.stringify(attempts.map(toRow))}::text::json) AS lost (
      tenant_id uuid, delivery_id uuid, series int, number int, endpoint_id uuid)`
  return (await selectRows(connection, await insertDeliverJobs(source))).length
}

function toRow({ tenantId, deliveryId, series, number, endpointId }: LostAttempt) {
  return { tenant_id: tenantId, delivery_id: deliveryId, series, number, endpoint_id: endpointId }
}
