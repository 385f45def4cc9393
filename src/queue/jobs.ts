import type { PgBoss } from 'pg-boss'
import type { Queryable } from '#src/db/system-database.ts'
import type { Jobs } from './queue.ts'

/** NOTIFY on this channel means that jobs were added (`announceJob`). */
export const jobsChannel = 'gatehouse_jobs'

/**
 * Wakes the workers for a queue once the transaction of `connection` is committed. Without it they find a
 * job within three seconds.
 * @param detail for the consumer; no space
 */
export function announceJob(
  { notify }: Pick<Queryable, 'notify'>,
  name: keyof Jobs,
  detail = '',
): void {
  notify(jobsChannel, `${name} ${detail}`.trimEnd())
}

/**
 * Adds a job in the transaction of `connection`: it exists once that is committed. Every job, here
 * and by `jobInsert` (job-table.ts), is as pg-boss's own statement inserts it.
 * @param options `group`: a consumer may limit the jobs in progress of one group; `singletonKey`: in a
 *   queue with the policy `short`, at most one job with this key waits; `startAfter`: seconds
 */
export async function addJob<Name extends keyof Jobs>(
  queue: PgBoss,
  connection: Queryable,
  name: Name,
  data: Jobs[Name],
  options: { id?: string; group?: { id: string }; singletonKey?: string; startAfter?: number } = {},
): Promise<void> {
  await queue.send(name, data, { ...options, db: transactionOf(connection) })
  announceJob(connection, name)
}

/** For the option `db` of pg-boss: its statement runs in the transaction of `connection`. */
export function transactionOf({ sql }: Pick<Queryable, 'sql'>) {
  return {
    async executeSql(text: string, values: readonly unknown[] = []) {
      return { rows: await sql({ text, values }) }
    },
  }
}
