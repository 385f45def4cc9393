import type { JobWithMetadata } from 'pg-boss'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import type { AnyJob } from '#src/resources/define-job.ts'
import { nextTime } from '#src/resources/schedule.ts'
import { repeat } from '#src/runtime/repeat.ts'
import { type Consumer, startConsumer } from '../consumer.ts'
import { JobGone } from '../enter-jobs.ts'
import { endJob, jobInsert, postponeJob } from '../job-table.ts'
import { announceJob } from '../jobs.ts'
import type { ScheduledJob } from '../queue.ts'
import { appQueue } from './enqueue.ts'
import type { AppJobDeps } from './worker.ts'

const scheduleQueue = 'app-schedule'

type Deps = Pick<AppJobDeps, 'queue' | 'due' | 'clock' | 'logger'> & {
  readonly systemDb: SystemDatabase
}
type Fetched = JobWithMetadata<ScheduledJob>
type Scheduled = AnyJob & { readonly schedule: string }

/** Tenants that get their job in one transaction. The next page waits a second, so that workers keep up. */
const pageSize = 500
const pauseSeconds = 1
/** How often each worker sees to it that the next time of each schedule has a job. */
const ensureMs = 600_000
const firstTenant = '00000000-0000-0000-0000-000000000000'

/**
 * Adds a job for each tenant when a schedule says so. Each time of a schedule is one job, whose id follows from the
 * time, so several workers add it once. If no worker ran at that time, the next one makes up for it, once.
 */
export async function workSchedules(jobs: readonly AnyJob[], deps: Deps): Promise<Consumer> {
  const { queue, due, systemDb, clock, logger } = deps
  const scheduled = jobs.filter((one): one is Scheduled => one.schedule !== undefined)
  await addNext(systemDb, scheduled, clock.now())
  const ensured = repeat(() => addNext(systemDb, scheduled, clock.now()), {
    everyMs: ensureMs,
    onError: (error) => logger.warn({ err: error }, 'schedules could not be looked up'),
  })

  async function run(job: Fetched, abandoned: AbortSignal): Promise<void> {
    try {
      await addPage(systemDb, scheduled, job, clock.now())
    } catch (error) {
      if (abandoned.aborted || error instanceof JobGone) return
      logger.error({ queue: scheduleQueue, job: job.data.job, err: error }, 'job failed')
      // If this fails too, the job returns without its heartbeat.
      await queue.fail(scheduleQueue, job, { message: String(error) }).catch(() => {})
    }
  }

  const consumer = await startConsumer<Fetched>({
    ...{ queue, due, name: scheduleQueue, limits: { inFlight: 4, stopMs: 6_000 }, logger },
    fetch: (batchSize) =>
      queue.fetch<ScheduledJob>(scheduleQueue, { batchSize, includeMetadata: true }),
    run: (fetched, abandoned) => fetched.map((job) => run(job, abandoned)),
  })
  return {
    async stop() {
      await Promise.all([ensured.stop(), consumer.stop()])
    },
  }
}

const insertTime = jobInsert(scheduleQueue, {
  id: `md5(concat_ws(' ', job, schedule, at))::uuid`,
  data: `jsonb_build_object('job', job, 'schedule', schedule, 'at', at, 'after', first)`,
  startAfter: 'at::timestamptz - now()',
})

/** Adds a job for the next time of each schedule, unless there is one. */
async function addNext(
  connection: Queryable,
  scheduled: readonly Scheduled[],
  now: Date,
): Promise<void> {
  if (scheduled.length === 0) return
  const names = scheduled.map(({ name }) => name)
  const schedules = scheduled.map(({ schedule }) => schedule)
  const times = schedules.map((schedule) => nextTime(schedule, now).toISOString())
  const source = Prisma.sql`(
    SELECT *, ${firstTenant}::text AS first
    FROM unnest(${names}::text[], ${schedules}::text[], ${times}::text[]) AS t (job, schedule, at)) AS next`
  await connection.sql(Prisma.sql`${insertTime(source)} ON CONFLICT DO NOTHING`)
  announceJob(connection, scheduleQueue)
}

const insertForTenants = jobInsert(appQueue, {
  data: `jsonb_build_object('tenantId', tenant, 'job', job, 'input', NULL)`,
  groupId: 'tenant',
  retryLimit: 'retries',
})

/** Adds the jobs of a page of tenants; in the same commit the rest is postponed, or the next time added. */
async function addPage(
  systemDb: SystemDatabase,
  scheduled: readonly Scheduled[],
  job: Fetched,
  now: Date,
): Promise<void> {
  const { data } = job
  const declared = scheduled.find(
    ({ name, schedule }) => name === data.job && schedule === data.schedule,
  )
  await systemDb.transaction(
    { statementTimeoutMs: statementTimeoutsMs.connection },
    async (connection) => {
      // The schedule has changed, and its next time has a job of its own.
      if (declared === undefined) return endJob(connection, job)
      const source = Prisma.sql`(
        SELECT t.id::text AS tenant, ${data.job}::text AS job, ${declared.retries}::int AS retries
        FROM list_open_tenants(${data.after}::uuid, ${pageSize}::int) AS t (id)) AS page`
      const added = await connection.sql<{ tenant: string }>(
        Prisma.sql`${insertForTenants(source)} RETURNING group_id AS tenant`,
      )
      announceJob(connection, appQueue)
      const after = added
        .map(({ tenant }) => tenant)
        .toSorted()
        .at(-1)
      if (added.length === pageSize && after !== undefined) {
        return postponeJob(connection, job, pauseSeconds, { ...data, after })
      }
      // The clock of this process may be behind that of the database.
      await addNext(connection, [declared], laterOf(now, new Date(data.at)))
      await endJob(connection, job)
    },
  )
}

function laterOf(one: Date, other: Date): Date {
  return one > other ? one : other
}
