import type { FastifyBaseLogger, FastifyInstance, FastifyPluginAsync } from 'fastify'
import { countByStatus, measureBacklog } from '#src/billing/events.ts'
import { measureReconciliation } from '#src/billing/reconciliation.ts'
import { measureLedger } from '#src/ledger/last-check.ts'
import { createHistory } from '#src/observability/measured.ts'
import { listRunningProcesses } from '#src/operations/running-processes.ts'
import {
  type AppJobFigures,
  type Counted,
  countersPage,
  operationsPage,
  workPage,
} from '#src/pages/operations/operations.ts'
import { measureQueues } from '#src/queue/backlog.ts'
import { jobs } from '#src/resources/running-app.ts'
import type { Repeated } from '#src/runtime/repeat.ts'

const maxShown = 8

/** The overview for operators. */
const operations: FastifyPluginAsync = async function operations(app) {
  const { billing, queues, registry } = app.metrics
  const history = createHistory(
    registry,
    () => Promise.all([measureBacklog(app.systemDb, billing), measureQueues(app.systemDb, queues)]),
    () => [...app.providers.values()].filter(({ client }) => client.wasDown()).length,
  )
  let samples: Repeated | null = null
  app.addHook('onListen', async function startHistory() {
    samples = history.start((error) => app.log.warn({ err: error }, 'measuring the history failed'))
  })
  app.addHook('onClose', async function stopHistory() {
    await samples?.stop()
  })
  app.get('/app/operations', read, async (request, reply) => {
    const { billing, ledger } = app.metrics
    const counts = await app.db.read(request.entry, (tx) => countByStatus(tx))
    // `db.read` has already refused everyone but operators.
    const processes = await measureNow(app, request.log)
    const countOf = (status: string) => counts.find((one) => one.status === status)?.events ?? 0
    return reply.sendPage(
      operationsPage({
        viewer: request.viewer,
        isMeasured: processes !== null,
        billing: {
          waiting: countOf('recorded'),
          dead: countOf('dead'),
          oldestWaiting: await gaugeOf(billing.backlogAge),
          oldestRetrying: await gaugeOf(billing.retryingAge),
          missed: await gaugeOf(billing.missedEvents),
        },
        unaccounted: await gaugeOf(ledger.unaccounted),
        history: {
          events: history.valuesOf('events'),
          backlog: history.valuesOf('backlog'),
          queues: history.valuesOf('queues'),
          signIns: history.valuesOf('signIns'),
          refusals: history.valuesOf('refusals'),
          providersDown: history.valuesOf('providersDown'),
          attempts: history.valuesOf('attempts'),
          poolWaiting: history.valuesOf('poolWaiting'),
          poolFailures: history.valuesOf('poolFailures'),
        },
      }),
    )
  })
  app.get('/app/operations/work', read, async (request, reply) => {
    // Refuses everyone but operators.
    await app.db.read(request.entry)
    const processes = await measureNow(app, request.log)
    const { queues } = app.metrics
    return reply.sendPage(
      workPage({
        viewer: request.viewer,
        isMeasured: processes !== null,
        queues: await queueFigures(queues),
        jobs: await jobFigures(queues),
        providers: app.signInChoices(request.cookies),
        processes: processes ?? [],
      }),
    )
  })
  app.get('/app/operations/counters', read, async (request, reply) => {
    // Refuses everyone but operators.
    await app.db.read(request.entry)
    const { http, identity, outbound } = app.metrics
    return reply.sendPage(
      countersPage({
        viewer: request.viewer,
        responses: await countsOf(http.responses, ['class']),
        signIns: await countsOf(identity.outcomes, ['provider', 'outcome']),
        refusals: await countsOf(http.refusals, ['code', 'reason']),
        attempts: await countsOf(outbound.attempts, ['outcome']),
      }),
    )
  })
}

const read = {
  config: { access: { resource: 'operation', action: 'read' } },
  schema: { hide: true },
} as const

/**
 * Measures what a scrape of the metrics measures.
 * @returns the running processes; null if the database cannot be measured
 */
async function measureNow({ systemDb, metrics }: FastifyInstance, log: FastifyBaseLogger) {
  const { billing, queues, ledger } = metrics
  try {
    const [processes] = await Promise.all([
      listRunningProcesses(systemDb),
      measureBacklog(systemDb, billing),
      measureReconciliation(systemDb, billing),
      measureLedger(systemDb, ledger),
      measureQueues(systemDb, queues),
    ])
    return processes
  } catch (error) {
    log.warn({ err: error }, 'measuring the backlog failed')
    return null
  }
}

type Metric = {
  get(): Promise<{
    values: { labels: Partial<Record<string, string | number>>; value: number }[]
  }>
}

async function valuesOf(metric: Metric) {
  return (await metric.get()).values
}

async function gaugeOf(metric: Metric): Promise<number> {
  return (await valuesOf(metric))[0]?.value ?? 0
}

/** What was counted at least once, the most frequent first. */
async function countsOf(metric: Metric, labels: readonly string[]): Promise<Counted[]> {
  const values = await valuesOf(metric)
  return values
    .filter(({ value }) => value > 0)
    .map(({ labels: given, value }) => ({
      name: labels
        .map((label) => given[label] ?? '')
        .filter(Boolean)
        .join(', '),
      count: value,
    }))
    .sort((a, b) => b.count - a.count)
    .slice(0, maxShown)
}

async function jobFigures({
  appJobs,
  appJobAge,
}: Record<'appJobs' | 'appJobAge', Metric>): Promise<AppJobFigures[]> {
  const [sizes, ages] = await Promise.all([valuesOf(appJobs), valuesOf(appJobAge)])
  return jobs.map(({ name, schedule = null }) => {
    const own = ages.find(({ labels }) => labels.job === name)
    const size = (state: string) =>
      sizes.find(({ labels }) => labels.job === name && labels.state === state)?.value ?? 0
    return {
      ...{ job: name, schedule, oldestAge: own?.value ?? 0 },
      ...{ due: size('due'), scheduled: size('scheduled'), dead: size('dead') },
    }
  })
}

async function queueFigures({
  due,
  scheduled,
  oldestAge,
}: Record<'due' | 'scheduled' | 'oldestAge', Metric>) {
  const [dues, later, ages] = await Promise.all([due, scheduled, oldestAge].map(valuesOf))
  const find = (values: typeof dues, queue: unknown) =>
    values?.find(({ labels }) => labels.queue === queue)?.value ?? 0
  return (dues ?? []).map(({ labels, value }) => ({
    queue: String(labels.queue),
    due: value,
    scheduled: find(later, labels.queue),
    oldestAge: find(ages, labels.queue),
  }))
}

export default operations
