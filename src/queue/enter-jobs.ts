import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { composeOnce } from '#src/db/sql.ts'
import type { Jobs } from './queue.ts'

/**
 * Opens a transaction in the tenant of jobs that this worker has fetched. The scope has no person.
 * @param ids active jobs of one tenant
 */
export function enterJobs(queue: keyof Jobs, ids: readonly string[]): JobEntry {
  return jobEntry(queue, () => enter(queue, ids))
}

type JobEntry = Entry<{ readonly tenantId: string }> & { readonly decidesInDatabase: true }

/** @param statement calls `enter_job` */
export function jobEntry(queue: keyof Jobs, statement: () => Prisma.Sql): JobEntry {
  return {
    decidesInDatabase: true,
    replacesScope: true,
    statement,
    admit(rows) {
      const [row] = rows as { tenant_id: string }[]
      if (row === undefined) throw new JobGone(queue)
      return { tenantId: row.tenant_id }
    },
  }
}

const enter = composeOnce(
  (queue: keyof Jobs, ids: readonly string[]) =>
    Prisma.sql`SELECT tenant_id FROM enter_job(${queue}, VARIADIC ${ids}::uuid[])`,
)

/** None of the jobs is active any more: another worker has them, or they were deleted. */
export class JobGone extends Error {
  constructor(queue: string) {
    super(`no job of the queue ${queue} is active any more`)
    this.name = 'JobGone'
  }
}
