import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { type RevocationDependencies, revokeGrant } from '#src/auth/provider-tokens/revoke.ts'
import type { JobLog } from '#src/job-log.ts'
import type { Jobs } from '#src/queue/queue.ts'

type RevocationJob = JobWithMetadata<Jobs['revoke-grant']>

const pollSeconds = 0.5
const batchSize = 5 // few at once: each waits for a provider

/** Starts working on revocations. */
export async function workRevocations(
  queue: PgBoss,
  deps: RevocationDependencies,
  log: JobLog,
): Promise<void> {
  const work = createRevocationJob(deps, log)
  await queue.work(
    'revoke-grant',
    { batchSize, pollingIntervalSeconds: pollSeconds, perJobResults: true, includeMetadata: true },
    (jobs: RevocationJob[]) => Promise.all(jobs.map((job) => work(job))),
  )
}

/** Works on one revocation and says whether it has to be tried again. */
export function createRevocationJob(
  deps: RevocationDependencies,
  log: JobLog,
): (job: RevocationJob) => Promise<JobResult> {
  return async function workRevocation(job) {
    const { revocationId } = job.data
    const isLast = job.retryCount >= job.retryLimit
    try {
      const outcome = await revokeGrant(deps, revocationId, isLast)
      const level = outcome === 'failed' ? 'error' : 'info'
      log[level]({ revocationId, outcome }, 'provider token revocation worked on')
      return { id: job.id, status: outcome === 'again' ? 'failed' : 'completed' }
    } catch (error) {
      log.error({ revocationId, err: error }, 'provider token revocation broke off')
      return { id: job.id, status: 'failed' }
    }
  }
}
