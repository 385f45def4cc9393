import type { TestDatabase } from './database.ts'

/**
 * Makes jobs due now, as when they have expired.
 * @param which a condition on `pgboss.job`
 *
 * Jobs that a process is changing are left out: that process and this statement could hold one job
 * each and wait for the other's. So repeat it until nothing is left.
 */
export async function makeJobsDue(
  { admin }: Pick<TestDatabase, 'admin'>,
  which: string,
): Promise<void> {
  await admin.query(
    `UPDATE pgboss.job SET state = 'retry', start_after = now()
     WHERE id IN (SELECT id FROM pgboss.job WHERE ${which} FOR UPDATE SKIP LOCKED)`,
  )
}
