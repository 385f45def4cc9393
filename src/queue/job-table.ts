import type { Job, PgBoss } from 'pg-boss'
import { Prisma } from '#src/db/generated/client.ts'
import { composeOnce } from '#src/db/sql.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { JobGone, jobEntry } from './enter-jobs.ts'
import { groupedQueues, type Jobs, ungroupedQueues } from './queue.ts'

/*
 * All that this program knows of pg-boss's own tables and statements, each with the reason why no
 * function of pg-boss serves. test/queue/job-table.test.ts fails if an update of pg-boss changes them.
 * Functions of the database also read `pgboss.job` or `pgboss.job_common`: `enter_job` (which tenant an
 * active job has), `purge_tenant` (deletes the jobs of a tenant), `turn_waits` (whether an endpoint has a
 * job that waits) and `check_deliveries` (each pending delivery has a job).
 */

/** A job as it was fetched: another try of it has another count. */
export type Claim = Pick<Job, 'name' | 'id' | 'retryCount'>
export type Try = Omit<Claim, 'name'>

/**
 * As `enterJobs`, for work of several transactions: a worker that was paused while another took its jobs over does
 * not enter with them. `enter_job` knows jobs only by their ids.
 */
export function enterTries(queue: keyof Jobs, tries: readonly Try[]): ReturnType<typeof jobEntry> {
  const ids = tries.map(({ id }) => id)
  const counts = tries.map(({ retryCount }) => retryCount)
  return jobEntry(queue, () => enter(queue, ids, counts, queue, ids))
}

// Queue and ids have two parameters each, as composeOnce asks. The ids alone are there so that the index finds the jobs.
const enter = composeOnce(
  (
    queue: keyof Jobs,
    own: readonly string[],
    counts: readonly number[],
    name: keyof Jobs,
    ids: readonly string[],
  ) => Prisma.sql`
    SELECT tenant_id FROM enter_job(${queue}, VARIADIC ARRAY(
      SELECT j.id FROM pgboss.job_common j
      JOIN unnest(${own}::uuid[], ${counts}::int[]) AS own (id, retry_count)
        ON j.name = ${name} AND j.id = ANY (${ids}::uuid[]) AND j.id = own.id
          AND j.retry_count = own.retry_count))`,
)

const loneTurn = 'app.lone_turn'

/**
 * pg-boss's statement that fetches turns of endpoints. If it finds one alone, the statements after it in the
 * transaction know this job: `enterLoneTurn` and `loneTurnColumns`.
 * @param text as pg-boss composes it
 */
export function notingLoneTurn(text: string): string {
  return `
    WITH fetched AS (${text})
    SELECT *, set_config('${loneTurn}', CASE count(*) OVER () WHEN 1
      THEN concat_ws(' ', id, data->>'tenantId', data->>'endpointId') ELSE '' END, true) AS lone
    FROM fetched`
}

/** Enters the tenant of the lone turn, and none without it. */
export const enterLoneTurn = Prisma.sql`
  SELECT tenant_id FROM enter_job('endpoint-turn', VARIADIC ARRAY[
    nullif(split_part(current_setting('${Prisma.raw(loneTurn)}', true), ' ', 1), '')::uuid])`

/** A row with tenant_id and endpoint_id of the lone turn; none without it. Follows FROM. */
export const loneTurnColumns = Prisma.sql`(
  SELECT split_part(turn, ' ', 2)::uuid AS tenant_id, split_part(turn, ' ', 3)::uuid AS endpoint_id
  FROM current_setting('${Prisma.raw(loneTurn)}', true) AS turn WHERE turn <> '') AS lone`

/** What a job has, by pg-boss's names, each an SQL expression. Without it pg-boss's default counts. */
type JobColumns = { readonly data: string } & {
  /** `startAfter`: an interval. */
  readonly [name in
    | 'id'
    | 'priority'
    | 'groupId'
    | 'singletonKey'
    | 'startAfter'
    | 'retryLimit']?: string
}

/**
 * A statement that inserts jobs into a queue, to be part of another statement: the rows that the jobs are
 * about and the jobs then need one round trip, which `send` cannot do. The jobs are those that `send`
 * inserts. Its own statement reads them from JSON, checks each member for a default and each job for a
 * conflict, which costs PostgreSQL twice as much.
 * @returns the statement for a source, which is what follows FROM: a row for each job
 */
export function jobInsert(
  name: keyof Jobs,
  {
    id = 'gen_random_uuid()',
    data,
    priority = '0',
    groupId = 'NULL',
    singletonKey = 'NULL',
    startAfter = 'NULL',
    retryLimit = 'NULL',
  }: JobColumns,
): (source: Prisma.Sql) => Prisma.Sql {
  const start = Prisma.raw(`
    INSERT INTO pgboss.job_common (
      name, id, data, priority, group_id, singleton_key, created_on, start_after, keep_until,
      policy, expire_seconds, deletion_seconds, retry_limit, retry_delay, retry_backoff,
      retry_delay_max, dead_letter, heartbeat_seconds)
    SELECT
      q.name, job.id, data, priority, group_id, singleton_key, pgboss.job_now(), job.start_after,
      job.start_after + q.retention_seconds * interval '1 s', q.policy, q.expire_seconds,
      q.deletion_seconds, coalesce(job.retry_limit, q.retry_limit), q.retry_delay, q.retry_backoff, q.retry_delay_max,
      q.dead_letter, q.heartbeat_seconds
    FROM (
      SELECT (${id})::uuid AS id, (${data})::jsonb AS data, (${priority})::int AS priority,
        (${groupId})::text AS group_id, (${singletonKey})::text AS singleton_key,
        (${retryLimit})::int AS retry_limit,
        pgboss.job_now() + coalesce((${startAfter})::interval, '0') AS start_after
      FROM `)
  const end = Prisma.raw(`) AS job JOIN pgboss.queue q ON q.name = '${name}'`)
  return (source) => Prisma.sql`${start}${source}${end}`
}

/** pg-boss reports how many jobs still were of this try, but does not declare it. */
export function requireOne({ name }: Claim, response: object): void {
  if (!('affected' in response && response.affected === 1)) throw new JobGone(name)
}

/**
 * Returns a job that was not tried. It keeps its place among those of its group and all its tries,
 * which pg-boss has no function for.
 * @param data in place of what it has
 * @throws JobGone if another worker has it
 */
export async function postponeJob(
  connection: Queryable,
  { name, id, retryCount }: Claim,
  seconds: number,
  data?: object,
): Promise<void> {
  const changed = data === undefined ? null : JSON.stringify(data)
  const postponed = await connection.sql`
    UPDATE pgboss.job_common SET state = 'created', started_on = NULL, heartbeat_on = NULL,
      data = coalesce(${changed}::text::jsonb, data),
      start_after = pgboss.job_now() + make_interval(secs => ${seconds})
    WHERE name = ${name} AND id = ${id} AND state = 'active' AND retry_count = ${retryCount}
    RETURNING id`
  if (postponed.length === 0) throw new JobGone(name)
}

/** Whether a worker has a job with this member of its data. pg-boss finds jobs only by their id. */
export async function isJobActive(
  connection: Queryable,
  name: keyof Jobs,
  member: string,
  value: string,
): Promise<boolean> {
  const active = await connection.sql`
    SELECT FROM pgboss.job_common
    WHERE name = ${name} AND state = 'active' AND data->>${member} = ${value}`
  return active.length > 0
}

/**
 * The statement that completes jobs in progress, to be part of another statement, which pg-boss's own cannot be.
 * Leaves jobs alone that another worker has taken over.
 * @param ids the jobs that may be among them; found by the index, whatever the planner knows of the source
 * @param source id and retry_count of the jobs
 */
export function jobCompletion(
  name: keyof Jobs,
  ids: readonly string[],
  source: Prisma.Sql,
): Prisma.Sql {
  return Prisma.sql`
    UPDATE pgboss.job_common j SET state = 'completed', completed_on = pgboss.job_now()
    FROM (${source}) AS own
    WHERE j.name = ${name} AND j.id = ANY (${[...ids]}::uuid[]) AND j.id = own.id
      AND j.state = 'active' AND j.retry_count = own.retry_count`
}

/**
 * Completes a job in the transaction of its work.
 * @throws JobGone if another worker has it
 */
export async function endJob(
  { sql }: Pick<Queryable, 'sql'>,
  { name, id, retryCount }: Claim,
): Promise<void> {
  const queue = name as keyof Jobs // it was fetched from it
  const own = Prisma.sql`SELECT ${id}::uuid AS id, ${retryCount}::int AS retry_count`
  const ended = await sql(Prisma.sql`${jobCompletion(queue, [id], own)} RETURNING j.id`)
  if (ended.length === 0) throw new JobGone(name)
}

export type EndedJob = {
  id: string
  /** `created`: no worker took it in time; null: it was deleted. */
  state: 'created' | 'completed' | 'failed' | 'cancelled' | null
  output: unknown
}

/**
 * Those of the jobs that have ended, or that no worker has taken within `takenSeconds`. Both this and
 * `isTimely` go by the clock of the database: a job that is `created` here is not timely there. pg-boss
 * finds jobs one by one.
 */
export async function findEnded(
  connection: Queryable,
  name: keyof Jobs,
  ids: readonly string[],
  takenSeconds: number,
): Promise<EndedJob[]> {
  return connection.sql<EndedJob>`
    SELECT asked.id, j.state::text AS state, j.output
    FROM unnest(${ids}::uuid[]) AS asked (id)
    LEFT JOIN pgboss.job_common j ON j.name = ${name} AND j.id = asked.id
    WHERE j.id IS NULL OR j.state > 'active'
      OR j.state < 'active' AND j.created_on < pgboss.job_now() - make_interval(secs => ${takenSeconds})`
}

/** Whether this worker has the job, and took it within `takenSeconds`. */
export async function isTimely(
  connection: Queryable,
  { name, id, retryCount }: Claim,
  takenSeconds: number,
): Promise<boolean> {
  const timely = await connection.sql`
    SELECT FROM pgboss.job_common
    WHERE name = ${name} AND id = ${id} AND state = 'active' AND retry_count = ${retryCount}
      AND created_on >= pgboss.job_now() - make_interval(secs => ${takenSeconds})`
  return timely.length > 0
}

export type LookAtJobs = {
  /** Those of the watched queues that have a job which could be fetched now. */
  due: string[]
  /** If none has: milliseconds until the next one could be; null without one. */
  nextMs: number | null
  /** Whether a job of any queue is in progress. */
  isActive: boolean
  /** Jobs in progress whose worker has sent no heartbeat for `lapseMs`. */
  lapsed: Claim[]
}

/**
 * pg-boss can only fetch a job. Its own supervision allows no less than 10 s between a heartbeat and the
 * end of a job, and counts all jobs each time. Active jobs are few among many: those with a group are
 * found by an index, the queues without groups by their name.
 * @param lapseMs null: jobs in progress are not looked at
 */
export async function lookAtJobs(
  queue: Pick<PgBoss, 'getDb'>,
  watched: readonly string[],
  lapseMs: number | null,
): Promise<LookAtJobs> {
  const [grouped, ungrouped] = lapseMs === null ? [[], []] : [groupedQueues, ungroupedQueues]
  const { rows } = await queue.getDb().executeSql(
    `WITH active AS MATERIALIZED (
       SELECT name, id, retry_count, ${lapsed} AS is_lapsed FROM pgboss.job_common
       WHERE name = ANY ($2::text[]) AND group_id IS NOT NULL AND state = 'active'
       UNION ALL
       SELECT name, id, retry_count, ${lapsed} FROM pgboss.job_common
       WHERE name = ANY ($3::text[]) AND state = 'active'
     ), due AS MATERIALIZED (
       SELECT watched.name FROM unnest($1::text[]) AS watched (name)
       WHERE EXISTS (
         SELECT FROM pgboss.job_common j
         WHERE j.name = watched.name AND ${waits} AND j.start_after <= pgboss.job_now())
     )
     SELECT ARRAY(SELECT name FROM due) AS due,
       EXISTS (SELECT FROM active) AS "isActive",
       (SELECT coalesce(json_agg(json_build_object(
          'name', name, 'id', id, 'retryCount', retry_count)), '[]')
        FROM active WHERE is_lapsed) AS lapsed,
       (SELECT CASE WHEN count(*) < $5::int
          THEN extract(epoch FROM min(start_after) - pgboss.job_now())::float8 * 1000 ELSE 0 END
        FROM (
          SELECT start_after FROM pgboss.job_common j
          WHERE j.name = ANY ($1::text[]) AND ${waits} AND NOT EXISTS (SELECT FROM due)
          LIMIT $5::int) AS later) AS "nextMs"`,
    [watched, grouped, ungrouped, lapseMs, maxLater],
  )
  return rows[0]
}

const waits = `j.state < 'active' AND NOT j.blocked`
// The worker of a job without `heartbeat_seconds` sends no heartbeats.
const lapsed = `heartbeat_seconds IS NOT NULL
  AND heartbeat_on < pgboss.job_now() - make_interval(secs => $4::float8 / 1000)`
/** If more jobs wait for later, the next one is not looked for. */
const maxLater = 1_000

export type QueueSize = {
  queue: string
  /** Jobs that are due and not started. */
  due: number
  /** Jobs for later, retries included. */
  scheduled: number
  /** Seconds since the oldest was due; null without one. */
  age: number | null
}

/** The sizes of queues, up to `max` jobs each. pg-boss counts all jobs, and has no age. */
export async function measureJobs(
  systemDb: Queryable,
  names: readonly string[],
  max: number,
): Promise<QueueSize[]> {
  return systemDb.sql<QueueSize>`
    SELECT queue, due.jobs AS due, due.age, later.jobs AS scheduled
    FROM unnest(${names}::text[]) AS queue
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS jobs,
        extract(epoch FROM pgboss.job_now() - min(start_after))::float8 AS age
      FROM (
        SELECT start_after FROM pgboss.job_common
        WHERE name = queue AND state < 'active' AND NOT blocked
          AND start_after <= pgboss.job_now()
        ORDER BY priority DESC, created_on LIMIT ${max}) AS counted) AS due
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS jobs FROM (
        SELECT FROM pgboss.job_common
        WHERE name = queue AND state < 'active' AND NOT blocked
          AND start_after > pgboss.job_now() LIMIT ${max}) AS counted) AS later`
}

/** A statement: the ids and groups of the jobs that have not ended. */
export function openJobs(name: keyof Jobs): Prisma.Sql {
  return Prisma.sql`
    SELECT j.id, j.group_id FROM pgboss.job_common j
    WHERE j.name = ${name} AND j.state < 'completed'`
}

/** A statement: the ids of the received events that have a job that has not ended. */
export function eventsWithJob(): Prisma.Sql {
  const queues: (keyof Jobs)[] = ['billing-event', 'billing-event-dead']
  return Prisma.sql`
    SELECT j.data->>'eventId' FROM pgboss.job_common j
    WHERE j.name = ANY (${queues}) AND j.state < 'completed'`
}

export type AppJobSize = Omit<QueueSize, 'queue'> & { job: string; dead: number }

/** The sizes of the app's jobs by their names, which pg-boss does not know; up to `max` each in all. */
export async function measureAppJobs(
  systemDb: Queryable,
  names: readonly string[],
  max: number,
): Promise<AppJobSize[]> {
  const [live, dead]: (keyof Jobs)[] = ['app-job', 'app-job-dead']
  return systemDb.sql<AppJobSize>`
    WITH live AS MATERIALIZED (
      SELECT data->>'job' AS job, start_after, start_after <= pgboss.job_now() AS is_due
      FROM pgboss.job_common WHERE name = ${live} AND state < 'active' LIMIT ${max}
    ), dead AS MATERIALIZED (
      SELECT data->>'job' AS job FROM pgboss.job_common
      WHERE name = ${dead} AND state < 'active' LIMIT ${max}
    )
    SELECT job,
      (SELECT count(*)::int FROM live WHERE live.job = named.job AND is_due) AS due,
      (SELECT count(*)::int FROM live WHERE live.job = named.job AND NOT is_due) AS scheduled,
      (SELECT extract(epoch FROM pgboss.job_now() - min(start_after))::float8
       FROM live WHERE live.job = named.job AND is_due) AS age,
      (SELECT count(*)::int FROM dead WHERE dead.job = named.job) AS dead
    FROM unnest(${names}::text[]) AS named (job)`
}
