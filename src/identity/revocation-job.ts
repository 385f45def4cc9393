import type { JobResult, JobWithMetadata } from 'pg-boss'
import type { JobLog } from '#src/job-log.ts'
import type { Jobs } from '#src/jobs.ts'
import { type RevocationDependencies, revokeGrant } from './revoke-grant.ts'

type RevocationJob = JobWithMetadata<Jobs['revoke-grant']>

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
