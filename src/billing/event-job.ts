import type { JobResult, JobWithMetadata } from 'pg-boss'
import type { Clock } from '#src/clock.ts'
import type { Database } from '#src/db/database.ts'
import type { IdentityPlane } from '#src/db/identity-plane.ts'
import type { JobLog } from '#src/job-log.ts'
import type { Jobs } from '#src/jobs.ts'
import { applyEvent, noteFailure } from './apply.ts'
import { PoisonEvent } from './effect.ts'

type EventJob = JobWithMetadata<Jobs['billing-event']>

/** Works on one recorded event and says whether it has to be tried again. */
export function createEventJob(
  deps: { db: Database; plane: IdentityPlane; clock: Clock },
  log: JobLog,
): (job: EventJob) => Promise<JobResult> {
  const { db, plane, clock } = deps
  return async function workBillingEvent(job) {
    const { eventId } = job.data
    try {
      const applied = await applyEvent(db, plane, eventId, clock.now())
      log.info({ eventId, applied }, 'billing event worked on')
      return { id: job.id, status: 'completed' }
    } catch (error) {
      const poison = error instanceof PoisonEvent
      const dead = poison || job.retryCount >= job.retryLimit
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ eventId, dead, err: error }, 'billing event failed')
      const noted = await noteFailure(db, eventId, dead ? 'dead' : 'failed', reason).then(
        () => true,
        (error) => {
          log.error({ eventId, err: error }, 'billing event failure not noted')
          return false
        },
      )
      // A noted poison event is settled: another try could not end differently.
      return { id: job.id, status: poison && noted ? 'completed' : 'failed' }
    }
  }
}
