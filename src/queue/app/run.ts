import type { Tx } from '#src/db/database.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { JobRun, Publish } from '#src/resources/define-job.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { enqueueIn } from './enqueue.ts'

/** What runs of jobs and hooks of the app need. */
export type RunDeps = {
  readonly clock: Clock
  /** Those of the app. */
  readonly settings: object
  readonly logger: JobLog
  /** Publishes events of the app's resources in a transaction of a tenant. */
  publishIn(tx: Tx, tenantId: string, now: Date): Publish
}

/** What a job or hook of the app gets, in a transaction of its tenant. */
export function runOf<Input>(
  { clock, settings, logger, publishIn }: RunDeps,
  { name, tenantId, tx, input }: { name: string; tenantId: string; tx: Tx; input: Input },
): JobRun<Input> {
  const now = clock.now()
  return {
    ...{ tx, tenant: { id: tenantId }, input, now, settings },
    log: withFacts(logger, { job: name, tenantId }),
    enqueue: enqueueIn(tx),
    publish: publishIn(tx, tenantId, now),
  }
}

/** A log whose lines have these facts too. */
function withFacts(log: JobLog, more: object): JobLog {
  const at = (level: keyof JobLog) => (facts: object, message: string) =>
    log[level]({ ...facts, ...more }, message)
  return { info: at('info'), warn: at('warn'), error: at('error') }
}
