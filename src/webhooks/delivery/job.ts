import { Prisma } from '#src/db/generated/client.ts'

export const deliverQueue = 'deliver'

/** NOTIFY on this channel means that a job is due. */
export const deliverChannel = 'gatehouse_deliver'

/**
 * An INSERT of one job for every row of `source`, to be used inside the statement that writes the
 * deliveries, so that both commit together. pg-boss's own `insert` cannot be part of another
 * statement; a test compares the rows of both.
 *
 * The id is derived from delivery, series and number, so that no attempt is queued twice.
 * @param source tenant_id, delivery_id, series, number, endpoint_id, wait_seconds, priority
 */
export function insertDeliverJobs(source: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO pgboss.job_common (
      id, name, data, priority, start_after, created_on, group_id, expire_seconds,
      deletion_seconds, keep_until, retry_limit, retry_delay, retry_backoff, retry_delay_max, policy,
      heartbeat_seconds
    )
    SELECT md5(concat_ws(':', j.delivery_id, j.series, j.number))::uuid, q.name,
      jsonb_build_object('tenantId', j.tenant_id, 'deliveryId', j.delivery_id,
                         'series', j.series, 'number', j.number),
      j.priority, j.start_after, pgboss.job_now(), j.endpoint_id::text, q.expire_seconds,
      q.deletion_seconds, j.start_after + make_interval(secs => q.retention_seconds),
      q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max, q.policy,
      q.heartbeat_seconds
    FROM (
      SELECT *, pgboss.job_now() + make_interval(secs => wait_seconds) AS start_after
      FROM (${source}) AS due
    ) AS j
    JOIN pgboss.queue q ON q.name = ${deliverQueue}
    ON CONFLICT DO NOTHING
    RETURNING id`
}
