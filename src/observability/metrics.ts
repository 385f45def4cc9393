import type pg from 'pg'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '#src/runtime/assets.ts'

/** Every number of the program; of one process, never global, so that a test has its own. */
export type Metrics = {
  registry: Registry
  http: HttpMetrics
  identity: IdentityMetrics
  billing: BillingMetrics
  outbound: OutboundMetrics
  queues: QueueMetrics
  pools: PoolMetrics
  /** 1 when what is read from the database is of this scrape, 0 when it is of an earlier one. */
  measured: Gauge
}

/** @param of `process`: also those of Node itself (memory, event loop, garbage collection) */
export function createMetrics(of: { process?: boolean } = {}): Metrics {
  const registry = new Registry()
  if (of.process) collectDefaultMetrics({ register: registry })
  return {
    registry,
    http: createHttpMetrics(registry),
    identity: createIdentityMetrics(registry),
    billing: createBillingMetrics(registry),
    outbound: createOutboundMetrics(registry),
    queues: createQueueMetrics(registry),
    pools: createPoolMetrics(registry),
    measured: new Gauge({
      name: 'gatehouse_database_measured',
      help: '1: the numbers of queues and backlogs are of this scrape; 0: the database did not give them, they are of an earlier one',
      registers: [registry],
    }),
  }
}

/** What kind of process this is, and whether the tenant lock is proven where it is watched. */
export function describeProcess(
  { registry }: Metrics,
  role: string,
  lockHolds: (() => boolean) | null,
) {
  const registers = [registry]
  new Gauge({
    name: 'gatehouse_info',
    help: 'Always 1; the labels say which version this is and what it does',
    labelNames: ['version', 'role'],
    registers,
  }).set({ version, role }, 1)
  if (lockHolds === null) return
  new Gauge({
    name: 'gatehouse_tenant_lock_proven',
    help: '1 while the last proof of the tenant lock has passed; 0: what is under the lock is not served',
    registers,
    collect() {
      this.set(lockHolds() ? 1 : 0)
    },
  })
}

type HttpMetrics = ReturnType<typeof createHttpMetrics>

// From an answer out of memory to the 15 s after which a request is cut off.
const secondsBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The numbers of requests on the public listener. */
function createHttpMetrics(registry: Registry) {
  const registers = [registry]
  return {
    requests: new Histogram({
      name: 'gatehouse_http_request_duration_seconds',
      help: 'Requests answered and their seconds, by method, route template and status',
      labelNames: ['method', 'route', 'status'],
      buckets: secondsBuckets,
      registers,
    }),
    refusals: new Counter({
      name: 'gatehouse_refusals_total',
      help: 'Requests refused by a rule, by the code of the answer; the reason says which limit or which rule of the policy, where there are several',
      labelNames: ['code', 'reason'],
      registers,
    }),
  }
}

/** What a stranger can choose is cut down to a few words: a label is a series, kept for good. */
export function requestLabels(method: string, route: string | undefined, status: number) {
  return {
    method: methods.has(method) ? method : 'other',
    route: route ?? 'unknown',
    status,
  }
}

/** What can become of one request to the webhook route. */
export type WebhookOutcome =
  | 'recorded'
  | 'ignored'
  | 'duplicate'
  | 'duplicate_different_body'
  | 'bad_signature'
  | 'outside_tolerance'
  | 'malformed'
  | 'encoded'
  | 'too_large'
  | 'rate_limited'
  | 'unavailable'
  | 'failed'

export type BillingMetrics = ReturnType<typeof createBillingMetrics>

const outcomes: readonly WebhookOutcome[] = [
  'recorded',
  'ignored',
  'duplicate',
  'duplicate_different_body',
  'bad_signature',
  'outside_tolerance',
  'malformed',
  'encoded',
  'too_large',
  'rate_limited',
  'unavailable',
  'failed',
]
const workOutcomes = [
  'processed',
  'stale',
  'gone',
  'ignored',
  'already-processed',
  'missing',
  'failed',
  'dead',
] as const
// From a hundredth of a millisecond (one digest) to the 2 s of the contract and a slow refetch.
const billingSecondsBuckets = [
  0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10,
]

/** The numbers of inbound webhooks, from the first byte to what came of the work. */
function createBillingMetrics(registry: Registry) {
  const registers = [registry]
  const requests = new Counter({
    name: 'gatehouse_webhook_requests_total',
    help: 'Inbound webhook requests by what became of them',
    labelNames: ['outcome'],
    registers,
  })
  // A counter that is there at zero can be alerted on before it first moves.
  for (const outcome of outcomes) requests.inc({ outcome }, 0)
  const worked = new Counter({
    name: 'gatehouse_billing_events_worked_total',
    help: 'Attempts at recorded events by outcome',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of workOutcomes) worked.inc({ outcome }, 0)
  return {
    requests,
    stages: new Histogram({
      name: 'gatehouse_webhook_stage_seconds',
      help: 'Seconds of each stage: verify (signature), record (until committed), process (the work)',
      labelNames: ['stage'],
      buckets: billingSecondsBuckets,
      registers,
    }),
    batches: new Histogram({
      name: 'gatehouse_webhook_batch_events',
      help: 'Events that shared one commit',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    commits: new Histogram({
      name: 'gatehouse_webhook_commit_seconds',
      help: 'Seconds of one shared commit',
      buckets: billingSecondsBuckets,
      registers,
    }),
    worked,
    purged: new Counter({
      name: 'gatehouse_billing_bodies_purged_total',
      help: 'Raw bodies let go of after their time of keeping',
      registers,
    }),
    inboxEvents: new Gauge({
      name: 'gatehouse_webhook_inbox_events',
      help: 'Events that wait for a commit in this process',
      registers,
    }),
    inboxAge: new Gauge({
      name: 'gatehouse_webhook_inbox_age_seconds',
      help: 'How long the oldest of them has waited',
      registers,
    }),
    backlogEvents: new Gauge({
      name: 'gatehouse_billing_backlog_events',
      help: 'Recorded events by state, those that wait for work or for a person',
      labelNames: ['status'],
      registers,
    }),
    backlogAge: new Gauge({
      name: 'gatehouse_billing_backlog_age_seconds',
      help: 'How long the oldest event that waits for its first attempt has waited',
      registers,
    }),
  }
}

type IdentityMetrics = ReturnType<typeof createIdentityMetrics>

/** The numbers of sign-ins and of the sessions they lead to. */
function createIdentityMetrics(registry: Registry) {
  const registers = [registry]
  const sessionsEnded = new Counter({
    name: 'gatehouse_sessions_ended_total',
    help: 'Sessions ended by what somebody did, by reason; those that ran out are not among them',
    labelNames: ['reason'],
    registers,
  })
  // A counter that is there at zero can be alerted on before it first moves.
  for (const reason of endReasons) sessionsEnded.inc({ reason }, 0)
  return {
    sessionsEnded,
    signIns: new Counter({
      name: 'gatehouse_sign_ins_total',
      help: 'Sign-ins, links and re-authentications by configured provider, outcome (done, refused, unavailable, failed) and the reason code of the audit log',
      labelNames: ['provider', 'purpose', 'outcome', 'reason'],
      registers,
    }),
  }
}

const endReasons = ['sign-out', 'own-request', 'others-ended', 'provider-request'] as const

export type OutboundMetrics = ReturnType<typeof createOutboundMetrics>

const deliverySecondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const lagBuckets = [...deliverySecondsBuckets, 60, 300, 1_800]

/** The numbers of outbound webhooks, from the commit of an event to the end of its deliveries. */
function createOutboundMetrics(registry: Registry) {
  const registers = [registry]
  const attempts = new Counter({
    name: 'gatehouse_delivery_attempts_total',
    help: 'Attempts at deliveries by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const deliveries = new Counter({
    name: 'gatehouse_deliveries_total',
    help: 'Deliveries that came to their end, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  // A counter that is there at zero can be alerted on before it first moves.
  for (const outcome of ['succeeded', 'failed']) attempts.inc({ outcome }, 0)
  for (const outcome of ['succeeded', 'exhausted']) deliveries.inc({ outcome }, 0)
  return {
    attempts,
    deliveries,
    seconds: new Histogram({
      name: 'gatehouse_delivery_attempt_seconds',
      help: 'Seconds of one attempt, from connect to the last byte',
      buckets: deliverySecondsBuckets,
      registers,
    }),
    lag: new Histogram({
      name: 'gatehouse_delivery_lag_seconds',
      help: 'Seconds from an event to the first attempt at each of its deliveries',
      buckets: lagBuckets,
      registers,
    }),
    purged: new Counter({
      name: 'gatehouse_outbound_events_purged_total',
      help: 'Events let go of after their time of keeping, with all their deliveries',
      registers,
    }),
  }
}

/** Hears of one pool: once when it is opened, then of each connection that was asked for. */
export type PoolWatch = {
  opened(pool: pg.Pool): void
  /** @param seconds how long it was waited for; `failed`: in vain */
  acquired(seconds: number, failed: boolean): void
}

type PoolMetrics = {
  /** @param name what the pool is for; one of a handful */
  watch(name: string): PoolWatch
}

// An idle connection costs next to nothing; after 0.8 s the pool gives up (src/db/pool-options.ts).
const poolSecondsBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1]

/** The numbers of the database pools of this process, looked at when they are asked for. */
function createPoolMetrics(registry: Registry): PoolMetrics {
  const registers = [registry]
  const pools = new Map<string, pg.Pool>()
  const gauge = (name: string, help: string, look: (pool: pg.Pool) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [name, pool] of pools) this.set({ pool: name }, look(pool))
      },
    })
  gauge('gatehouse_database_pool_max_connections', 'Connections a pool may open', (pool) => {
    return pool.options.max ?? 0
  })
  gauge('gatehouse_database_pool_connections', 'Connections open', (pool) => pool.totalCount)
  gauge('gatehouse_database_pool_idle_connections', 'Connections nobody uses', (pool) => {
    return pool.idleCount
  })
  gauge('gatehouse_database_pool_waiting', 'Work that waits for a connection', (pool) => {
    return pool.waitingCount
  })
  const acquire = new Histogram({
    name: 'gatehouse_database_pool_acquire_seconds',
    help: 'Seconds until a connection was had, or given up on',
    labelNames: ['pool'],
    buckets: poolSecondsBuckets,
    registers,
  })
  const failures = new Counter({
    name: 'gatehouse_database_pool_acquire_failures_total',
    help: 'Connections that were not had: the pool was used up, or the database away',
    labelNames: ['pool'],
    registers,
  })
  return {
    watch(pool) {
      const labels = { pool }
      failures.inc(labels, 0)
      return {
        opened: (opened) => void pools.set(pool, opened),
        acquired(seconds, failed) {
          acquire.observe(labels, seconds)
          if (failed) failures.inc(labels)
        },
      }
    },
  }
}

/** The program's own metrics as a Markdown table, from the registry that serves them. */
export async function metricsTable(): Promise<string> {
  const rows = (await describedMetrics()).map(({ name, type, labels, help }) => {
    const named = labels.map((label) => `\`${label}\``).join(', ') || '–'
    return `| \`${name}\` | ${type} | ${named} | ${help} |`
  })
  return `| Metric | Type | Labels | What it counts |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

export type DescribedMetric = {
  name: string
  type: string
  labels: readonly string[]
  help: string
}

/** Every metric there can be, by name; those of Node and of the process are not among them. */
export async function describedMetrics(): Promise<DescribedMetric[]> {
  const metrics = createMetrics()
  describeProcess(metrics, 'all', () => true)
  const all = await metrics.registry.getMetricsAsJSON()
  return all.map(({ name, help, type }) => {
    const metric = metrics.registry.getSingleMetric(name)
    // The library keeps them there; its types do not say so.
    const labels = metric !== undefined && 'labelNames' in metric ? metric.labelNames : []
    return { name, help, type: String(type), labels: Array.isArray(labels) ? labels : [] }
  })
}

export type QueueMetrics = ReturnType<typeof createQueueMetrics>

/** The numbers of the job queues, dead letters included. */
export function createQueueMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = ['queue'] as const
  return {
    due: new Gauge({
      name: 'gatehouse_queue_due_jobs',
      help: 'Jobs whose time has come and that nobody has begun, counted to 100,000',
      labelNames,
      registers,
    }),
    scheduled: new Gauge({
      name: 'gatehouse_queue_scheduled_jobs',
      help: 'Jobs for later, retries among them, counted to 100,000',
      labelNames,
      registers,
    }),
    oldestAge: new Gauge({
      name: 'gatehouse_queue_oldest_due_age_seconds',
      help: 'How long the oldest of the due jobs has waited since its time came',
      labelNames,
      registers,
    }),
  }
}
