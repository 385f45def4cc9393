import fc from 'fast-check'
import t from 'tap'
import { noClientInfo } from '#src/audit/audit.ts'
import { changeEndpoint, enableEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { startReplay } from '#src/webhooks/history/replays.ts'
import { miscountedDeliveries } from '#test/support/receiver/delivery.ts'
import {
  createDeliveryWorker,
  type DeliveryWorker,
  fail,
  succeed,
} from '#test/support/receiver/delivery-worker.ts'

const schedule = [0, 5, 30]

/** What the test knows without asking the program. */
type Model = { published: number; isUp: boolean }

/** One step, and what holds after each of them. */
class Step implements fc.AsyncCommand<Model, DeliveryWorker> {
  readonly name: string
  readonly act: (worker: DeliveryWorker, model: Model) => Promise<unknown>

  constructor(name: string, act: Step['act']) {
    this.name = name
    this.act = act
  }

  check() {
    return true
  }

  async run(model: Model, worker: DeliveryWorker) {
    await this.act(worker, model)
    await checkInvariants(worker, model)
  }

  toString() {
    return this.name
  }
}

const one = (name: string, act: Step['act']) => fc.constant(new Step(name, act))

const steps = [
  fc.integer({ min: 1, max: 6 }).map(
    (events) =>
      new Step(`publish ${events}`, async ({ outbox }, model) => {
        for (let n = 0; n < events; n++) await outbox.publish()
        model.published += events
      }),
  ),
  fc
    .constantFrom(1, 5, 30, 61, 300, 3_600, 21_600, 90_000)
    .map((seconds) => new Step(`pass ${seconds} s`, ({ moveTo }) => moveTo(seconds))),
  one('work through the schedule', async (worker) => {
    for (const seconds of schedule) {
      await worker.moveTo(seconds)
      await workAll(worker)
    }
  }),
  one('up', async ({ receiver }, model) => {
    receiver.respond(succeed)
    model.isUp = true
  }),
  one('down', async ({ receiver }, model) => {
    receiver.respond(fail)
    model.isUp = false
  }),
  one('work', workAll),
  one('work', workAll),
  one('work with two workers, a replay and a trial at once', atOnce),
  one('enable', enable),
  fc
    .constantFrom(null, { perSecond: 1, burst: 2 }, { perSecond: 20, burst: 1 })
    .map((rateLimit) => new Step(`limit ${JSON.stringify(rateLimit)}`, limit(rateLimit))),
]

t.test('counters and states hold, whatever happens at once', async (t) => {
  const worker = await createDeliveryWorker(t, succeed, schedule)
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 40, size: 'max' }), async (commands) => {
      await worker.reset()
      const model: Model = { published: 0, isUp: true }
      await fc.asyncModelRun(() => ({ model, real: worker }), commands)
      await settle(worker, model)
    }),
    { numRuns: 12 },
  )
})

async function workAll({ workDue, workTrials, workDrains }: DeliveryWorker): Promise<void> {
  await workTrials()
  await workDrains()
  await workDue()
}

async function atOnce(worker: DeliveryWorker): Promise<void> {
  const { workDue, workTrials, workDrains, outbox, clock } = worker
  const ids = (await outbox.deliveries()).map(({ id }) => id).toSorted()
  const replay = outbox.db.write(outbox.entry, (tx) =>
    startReplay(tx, outbox.tenant, ids.slice(0, 3), clock.now()),
  )
  await Promise.all([workTrials(), workDue(0), replay, workDue(1), workDrains()])
}

async function enable({ outbox, endpointId, clock }: DeliveryWorker): Promise<void> {
  const by = { ...outbox.tenant, clientInfo: noClientInfo }
  await outbox.db.write(outbox.entry, (tx) => enableEndpoint(tx, by, endpointId, clock.now()))
}

function limit(rateLimit: { perSecond: number; burst: number } | null): Step['act'] {
  return async ({ outbox, endpointId, clock }) => {
    const by = { ...outbox.tenant, clientInfo: noClientInfo }
    await outbox.db.write(outbox.entry, (tx) =>
      changeEndpoint(tx, by, endpointId, { rateLimit }, clock.now()),
    )
  }
}

type Facts = {
  deliveries: number
  unscheduled: number
  due: number
  miscounted: number
  mismarked: number
  trials: number
  status: string
  is_consistent: boolean
  waiting: number
  /** In ms since 1970. */
  trial_at: string | null
}

async function checkInvariants({ outbox }: DeliveryWorker, model: Model): Promise<void> {
  const { database } = outbox
  const { rows } = await database.admin.query<Facts>(
    `SELECT
       count(d.id)::int AS deliveries,
       count(*) FILTER (WHERE d.status = 'pending' AND d.held_for IS NULL
         AND NOT EXISTS (SELECT FROM due_attempts a WHERE a.tenant_id = d.tenant_id
           AND a.delivery_id = d.id AND a.series = d.series AND a.number = d.attempts + 1)
       )::int AS unscheduled,
       count(*) FILTER (WHERE d.status = 'pending' AND d.held_for IS NULL)::int AS due,
       count(*) FILTER (WHERE d.attempts <> (SELECT count(*) FROM delivery_attempts a
         WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id AND a.series = d.series)
       )::int AS miscounted,
       count(*) FILTER (WHERE CASE d.status
         WHEN 'exhausted' THEN d.held_for IS DISTINCT FROM 'recovery'
         WHEN 'pending' THEN d.held_for = 'recovery'
         ELSE d.held_for IS NOT NULL END)::int AS mismarked,
       count(*) FILTER (
         WHERE d.status = 'pending' AND d.attempts >= ${schedule.length})::int AS trials,
       count(*) FILTER (WHERE d.held_for = 'rate'
         OR e.recovery_step > 0 AND d.held_for = 'recovery' AND d.finished_at > e.enabled_at
       )::int AS waiting,
       e.status, round(extract(epoch FROM e.trial_at) * 1000)::text AS trial_at,
       (e.status = 'failing') = (e.failing_since IS NOT NULL)
         AND (e.recovery_step > 0) = (e.recovering_since IS NOT NULL)
         AND (e.recovery_step = 0 OR e.status = 'active')
         AND (e.outage_since IS NOT NULL) = (e.status = 'failing' OR e.recovery_step > 0)
         AND (e.retrying_since IS NOT NULL OR e.status = 'active')
         AND (e.retrying_since IS NOT NULL) = (e.failure_status IS NOT NULL)
         AND (e.status <> 'failing' OR e.trial_at IS NOT NULL)
         AND (e.status = 'failing' OR e.trial_delivery_id IS NULL) AS is_consistent
     FROM endpoint_states e
     LEFT JOIN deliveries d ON d.tenant_id = e.tenant_id AND d.endpoint_id = e.id
     WHERE e.tenant_id = $1 GROUP BY e.tenant_id, e.id`,
    [outbox.tenant.tenantId],
  )
  const [facts] = rows
  const jobs = await openJobs(database)
  const isRight =
    facts !== undefined &&
    facts.deliveries === model.published &&
    facts.unscheduled + facts.miscounted + facts.mismarked === 0 &&
    (facts.due === 0 || jobs.some(({ name }) => name === 'endpoint-turn')) &&
    facts.trials <= 1 &&
    facts.is_consistent &&
    (facts.status !== 'failing' ||
      jobs.some(({ name, at }) => name === 'endpoint-trial' && at === facts.trial_at)) &&
    (facts.waiting === 0 || jobs.some(({ name }) => name === 'endpoint-drain'))
  if (!isRight) throw new Error(JSON.stringify({ facts, jobs }))
  const wrong = await miscountedDeliveries(database)
  if (wrong.length > 0) throw new Error(`stored attempts are counted wrong: ${wrong}`)
}

async function openJobs({ admin }: DeliveryWorker['outbox']['database']) {
  const { rows } = await admin.query<{ name: string; at: string | null }>(
    `SELECT name, data ->> 'at' AS at FROM pgboss.job WHERE state < 'completed'`,
  )
  return rows
}

/**
 * With a receiver that is up again, everything arrives that is not left to a replay, and the endpoint is healthy. If
 * only deliveries failed that are too old for a trial, it is healthy with the next event.
 */
async function settle(worker: DeliveryWorker, model: Model): Promise<void> {
  const { outbox, receiver } = worker
  receiver.respond(succeed)
  await workUntilIdle(worker)
  const { rows } = await outbox.database.admin.query<{ isOld: boolean }>(
    `SELECT d.created_at < e.enabled_at - interval '1 day' AS "isOld"
     FROM deliveries d
     JOIN endpoint_states e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
     WHERE d.status <> 'succeeded' AND NOT (d.status = 'exhausted' AND d.finished_at <= e.enabled_at)`,
  )
  if (rows.length > 0 && rows.every(({ isOld }) => isOld)) {
    await outbox.publish()
    model.published += 1
    await workUntilIdle(worker)
  }
  await checkInvariants(worker, model)
  const { health } = await worker.endpoint()
  if (health.state !== 'healthy' || rows.some(({ isOld }) => !isOld))
    throw new Error(JSON.stringify({ health, rows }))
}

async function workUntilIdle(worker: DeliveryWorker): Promise<void> {
  for (let round = 0; round < 400; round++) {
    await workAll(worker)
    const seconds = await worker.nextDue()
    if (seconds === null) return
    await worker.moveTo(Math.max(seconds, 0.5))
  }
}
