import { Prisma } from '#src/db/generated/client.ts'
import { jobInsert } from '#src/queue/jobs.ts'

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
