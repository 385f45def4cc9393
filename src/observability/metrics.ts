import type pg from 'pg'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '#src/runtime/assets.ts'

/** All metrics of one process. Not global, so that every test has its own. */
export type Metrics = {
  registry: Registry
  http: HttpMetrics
  identity: IdentityMetrics
  billing: BillingMetrics
  outbound: OutboundMetrics
  ledger: LedgerMetrics
  queues: QueueMetrics
  transactions: TransactionMetrics
  quotas: QuotaMetrics
  pools: PoolMetrics
  /** 1 if the values read from the database are current, 0 if they are from an earlier scrape. */
  measured: Gauge
}

// Each look at the delay of the event loop wakes an idle process.
const loopPrecisionMs = 100

/** @param options `process`: also Node's own metrics (memory, event loop, garbage collection) */
export function createMetrics(options: { process?: boolean } = {}): Metrics {
  const registry = new Registry()
  if (options.process) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopPrecisionMs })
  }
  return {
    registry,
    http: createHttpMetrics(registry),
    identity: createIdentityMetrics(registry),
    billing: createBillingMetrics(registry),
    outbound: createOutboundMetrics(registry),
    ledger: createLedgerMetrics(registry),
    queues: createQueueMetrics(registry),
    quotas: createQuotaMetrics(registry),
    pools: createPoolMetrics(registry),
    transactions: createTransactionMetrics(registry),
    measured: new Gauge({
      name: 'gatehouse_database_measured',
      help: '1: queue and backlog metrics are current; 0: the database was unavailable and they are from an earlier scrape',
      registers: [registry],
    }),
  }
}

/** The states of a process that metrics show; null where the process has no such part. */
type ProcessState = { lockHolds: (() => boolean) | null; inQuarantine: (() => boolean) | null }

/** Adds version and role, the state of the isolation check, and whether the worker is in quarantine. */
export function describeProcess(
  { registry }: Metrics,
  role: string,
  { lockHolds, inQuarantine }: ProcessState,
) {
  const registers = [registry]
  new Gauge({
    name: 'gatehouse_info',
    help: 'Always 1; the labels hold the version and the role of the process',
    labelNames: ['version', 'role'],
    registers,
  }).set({ version, role }, 1)
  const addState = (name: string, help: string, holds: (() => boolean) | null) => {
    if (holds === null) return
    const gauge = {
      ...{ name, help, registers },
      collect(this: Gauge) {
        this.set(holds() ? 1 : 0)
      },
    }
    new Gauge(gauge)
  }
  addState(
    'gatehouse_tenant_lock_proven',
    '1: the last verification of tenant isolation passed; 0: it failed, and tenant data is not served',
    lockHolds,
  )
  addState(
    'gatehouse_quarantine',
    '1: the database is in quarantine, and this worker does no job until `gatehouse adopt`',
    inQuarantine,
  )
}

type HttpMetrics = ReturnType<typeof createHttpMetrics>

// From a response without a query to the 15 s after which a request is aborted.
const secondsBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Metrics of requests on the public listener. */
function createHttpMetrics(registry: Registry) {
  const registers = [registry]
  const responses = new Counter({
    name: 'gatehouse_http_responses_total',
    help: 'Responses by class of their status',
    labelNames: ['class'],
    registers,
  })
  // Counters start at 0, so that alerts work before the first increment.
  for (const statusClass of ['2xx', '3xx', '4xx', '5xx']) responses.inc({ class: statusClass }, 0)
  const sharedLimits = new Gauge({
    name: 'gatehouse_rate_limits_shared',
    help: '1: rate limits are counted in Redis; 0: Redis is unavailable and this process counts by itself; absent without REDIS_URL',
    registers,
  })
  sharedLimits.remove() // prom-client would export 0
  return {
    responses,
    sharedLimits,
    requests: new Histogram({
      name: 'gatehouse_http_request_duration_seconds',
      help: 'Duration of requests in seconds, by method, route template and status',
      labelNames: ['method', 'route', 'status'],
      buckets: secondsBuckets,
      registers,
    }),
    connectionsRefused: new Counter({
      name: 'gatehouse_connections_refused_total',
      help: 'Connections refused because too many are open, by limit: address or process',
      labelNames: ['limit'],
      registers,
    }),
    refusals: new Counter({
      name: 'gatehouse_refusals_total',
      help: 'Requests refused by a rule, by problem code; the reason names the rate limit or the policy rule',
      labelNames: ['code', 'reason'],
      registers,
    }),
  }
}

/** Bounds label cardinality: unknown methods become `other`, unmatched routes `unknown`. */
export function requestLabels(method: string, route: string | undefined, status: number) {
  return {
    method: methods.has(method) ? method : 'other',
    route: route ?? 'unknown',
    status,
  }
}

/** The outcome of one request to the webhook route. */
export type WebhookOutcome = (typeof outcomes)[number]

export type BillingMetrics = ReturnType<typeof createBillingMetrics>

const outcomes = [
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
  'over_budget',
  'unavailable',
  'failed',
] as const
const workOutcomes = [
  'processed',
  'stale',
  'gone',
  'ignored',
  'already-processed',
  'missing',
  'unlinked',
  'failed',
  'dead',
  'postponed',
] as const
// From 10 µs (one digest) to the 2 s limit of the contract and a slow fetch from the provider.
const billingSecondsBuckets = [
  0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10,
]

/** Metrics of inbound webhooks, from receiving to processing. */
function createBillingMetrics(registry: Registry) {
  const registers = [registry]
  const requests = new Counter({
    name: 'gatehouse_webhook_requests_total',
    help: 'Inbound webhook requests by outcome',
    labelNames: ['outcome'],
    registers,
  })
  // Counters start at 0, so that alerts work before the first increment.
  for (const outcome of outcomes) requests.inc({ outcome }, 0)
  const worked = new Counter({
    name: 'gatehouse_billing_events_worked_total',
    help: 'Processing attempts of recorded events by outcome',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of workOutcomes) worked.inc({ outcome }, 0)
  const forwards = new Counter({
    name: 'gatehouse_billing_forwards_total',
    help: 'Attempts to post processed events to the app by outcome: delivered, retried, failed (the last attempt)',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of ['delivered', 'retried', 'failed']) forwards.inc({ outcome }, 0)
  return {
    requests,
    stages: new Histogram({
      name: 'gatehouse_webhook_stage_seconds',
      help: 'Duration in seconds by stage: verify (signature), record (until commit), process',
      labelNames: ['stage'],
      buckets: billingSecondsBuckets,
      registers,
    }),
    unverifiedBytes: createReadGauge({
      name: 'gatehouse_webhook_unverified_bytes',
      help: 'Bytes of webhook bodies in memory whose signature is not verified yet',
      registers,
    }),
    batches: new Histogram({
      name: 'gatehouse_webhook_batch_events',
      help: 'Events per commit',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    commits: new Histogram({
      name: 'gatehouse_webhook_commit_seconds',
      help: 'Duration of a commit in seconds',
      buckets: billingSecondsBuckets,
      registers,
    }),
    worked,
    forwards,
    purged: new Counter({
      name: 'gatehouse_billing_bodies_purged_total',
      help: 'Raw event bodies deleted after their retention period',
      registers,
    }),
    inboxEvents: createReadGauge({
      name: 'gatehouse_webhook_inbox_events',
      help: 'Events waiting for a commit in this process',
      registers,
    }),
    inboxAge: createReadGauge({
      name: 'gatehouse_webhook_inbox_age_seconds',
      help: 'Seconds the oldest event has been waiting for a commit',
      registers,
    }),
    ...createBillingGauges(registers),
  }
}

/** What is read from the database when metrics are scraped. */
function createBillingGauges(registers: Registry[]) {
  return {
    backlogEvents: new Gauge({
      name: 'gatehouse_billing_backlog_events',
      help: 'Recorded events by status that are waiting to be processed or replayed',
      labelNames: ['status'],
      registers,
    }),
    backlogAge: new Gauge({
      name: 'gatehouse_billing_backlog_age_seconds',
      help: 'Seconds the oldest event has been waiting for its first attempt',
      registers,
    }),
    paidTwice: new Gauge({
      name: 'gatehouse_billing_paid_twice',
      help: 'People who pay twice, by kind: a second customer (its events wait) or a second subscription',
      labelNames: ['by'],
      registers,
    }),
    missedEvents: new Gauge({
      name: 'gatehouse_billing_missed_events',
      help: 'Events of the last day whose webhook never arrived, found in the list of the provider',
      registers,
    }),
    reconciledAge: new Gauge({
      name: 'gatehouse_billing_reconciled_age_seconds',
      help: 'Seconds up to which the events of the provider have been compared; 0 if never',
      registers,
    }),
    retryingAge: new Gauge({
      name: 'gatehouse_billing_retrying_age_seconds',
      help: 'Seconds since the oldest event was received that has failed and is retried; 0 if there is none',
      registers,
    }),
  }
}

/** A gauge whose value is read at each scrape: 0 until it is known where from. */
function createReadGauge(options: { name: string; help: string; registers: Registry[] }) {
  let read = () => 0
  const gauge = new Gauge({
    ...options,
    collect() {
      this.set(read())
    },
  })
  return Object.assign(gauge, {
    readFrom(source: () => number): void {
      read = source
    },
  })
}

export type LedgerMetrics = ReturnType<typeof createLedgerMetrics>

/** Metrics of the ledger, as the last check stored them. */
function createLedgerMetrics(registry: Registry) {
  const registers = [registry]
  return {
    unaccounted: new Gauge({
      name: 'gatehouse_unaccounted',
      help: 'Events and deliveries that the last check did not account for; see `gatehouse ledger verify`',
      registers,
    }),
    checkedAge: new Gauge({
      name: 'gatehouse_ledger_checked_age_seconds',
      help: 'Seconds since the last check whether all is accounted for; 0 if never',
      registers,
    }),
  }
}

export type IdentityMetrics = ReturnType<typeof createIdentityMetrics>

/** Metrics of sign-ins and sessions. */
function createIdentityMetrics(registry: Registry) {
  const registers = [registry]
  const sessionsEnded = new Counter({
    name: 'gatehouse_sessions_ended_total',
    help: 'Sessions ended by a user or provider, by reason; expired sessions are not counted',
    labelNames: ['reason'],
    registers,
  })
  // Counters start at 0, so that alerts work before the first increment.
  for (const reason of endReasons) sessionsEnded.inc({ reason }, 0)
  const signIns = new Counter({
    name: 'gatehouse_sign_ins_total',
    help: 'Sign-ins, links and re-authentications by configured provider, outcome (done, refused, unavailable, failed) and the reason code of the audit log',
    labelNames: ['provider', 'purpose', 'outcome', 'reason'],
    registers,
  })
  const outcomes = new Counter({
    name: 'gatehouse_sign_in_outcomes_total',
    help: 'The same by provider and outcome alone, from 0, for alerts; without callbacks of unknown state',
    labelNames: ['provider', 'outcome'],
    registers,
  })
  const erasures = new Counter({
    name: 'gatehouse_erasures_total',
    help: 'Data of deleted users and tenants: finished, or failed and tried again after 30 s',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of ['finished', 'failed']) erasures.inc({ outcome }, 0)
  return {
    sessionsEnded,
    erasuresOpen: new Gauge({
      name: 'gatehouse_erasures_open',
      help: 'What has ended and has rows to delete in batches, by kind: tenant, person, events, member, endpoint',
      labelNames: ['kind'],
      registers,
    }),
    erasureAge: new Gauge({
      name: 'gatehouse_erasure_oldest_age_seconds',
      help: 'Seconds since the oldest open one of a kind has ended',
      labelNames: ['kind'],
      registers,
    }),
    revocationsPostponed: new Counter({
      name: 'gatehouse_token_revocations_postponed_total',
      help: 'Token revocations that did not count as tried, because no key of this process decrypts the token',
      registers,
    }),
    logoutRefusals: new Counter({
      name: 'gatehouse_provider_logouts_refused_total',
      help: 'Back-channel logouts refused, by configured provider and the reason code of the audit log',
      labelNames: ['provider', 'reason'],
      registers,
    }),
    erasures,
    outcomes,
    /** Starts the counts of the configured providers at 0. */
    startSignIns(providers: readonly string[]): void {
      for (const provider of providers) {
        for (const outcome of signInOutcomes) outcomes.inc({ provider, outcome }, 0)
      }
    },
    /** @param provider a configured one, or `unknown` */
    countSignIn(labels: { provider: string; purpose: string; outcome: string; reason: string }) {
      const { provider, outcome } = labels
      signIns.inc(labels)
      if (provider !== 'unknown') outcomes.inc({ provider, outcome })
    },
  }
}

const signInOutcomes = ['done', 'refused', 'unavailable', 'failed'] as const

const endReasons = [
  'sign-out',
  'own-request',
  'others-ended',
  'provider-request',
  'account-deleted',
  'tenant-deleted',
] as const

/**
 * What keeps us from a delivery attempt, whatever the endpoint does: `secret`: it cannot be signed
 * with the keys of this process; `resources`: out of sockets, files or memory; `name-servers`: none of
 * ours can be reached; `internal`: any other fault of ours; `address-busy`: enough attempts at this
 * address are in progress; `stopped`: this process is ending.
 */
export type Postponement = (typeof postponements)[number]

const postponements = [
  'secret',
  'resources',
  'name-servers',
  'internal',
  'address-busy',
  'stopped',
] as const

export type OutboundMetrics = ReturnType<typeof createOutboundMetrics>

const deliverySecondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const lagBuckets = [...deliverySecondsBuckets, 60, 300, 1_800]

/** Metrics of outbound webhooks, from the commit of an event to the end of its deliveries. */
function createOutboundMetrics(registry: Registry) {
  const registers = [registry]
  const attempts = new Counter({
    name: 'gatehouse_delivery_attempts_total',
    help: 'Delivery attempts by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const deliveries = new Counter({
    name: 'gatehouse_deliveries_total',
    help: 'Finished deliveries by outcome',
    labelNames: ['outcome'],
    registers,
  })
  // Counters start at 0, so that alerts work before the first increment.
  for (const outcome of ['succeeded', 'failed']) attempts.inc({ outcome }, 0)
  for (const outcome of ['succeeded', 'exhausted']) deliveries.inc({ outcome }, 0)
  const postponed = new Counter({
    name: 'gatehouse_delivery_attempts_postponed_total',
    help: 'Delivery attempts that we could not make and that did not count, by reason: secret (no key to decrypt it), resources (sockets, files, memory), name-servers, internal, address-busy (many attempts at one address, or many requests to one host), stopped',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of postponements) postponed.inc({ reason }, 0)
  return {
    attempts,
    deliveries,
    endpoints: new Gauge({
      name: 'gatehouse_webhook_endpoints',
      help: 'Endpoints by the state of their health: healthy, retrying, failing, recovering, disabled, paused; counted up to 100,000, by workers',
      labelNames: ['state'],
      registers,
    }),
    postponed,
    seconds: new Histogram({
      name: 'gatehouse_delivery_attempt_seconds',
      help: 'Duration of a delivery attempt in seconds, from connect to the last byte',
      buckets: deliverySecondsBuckets,
      registers,
    }),
    lag: new Histogram({
      name: 'gatehouse_delivery_lag_seconds',
      help: 'Seconds from an event to the first attempt of each of its deliveries',
      buckets: lagBuckets,
      registers,
    }),
    purged: new Counter({
      name: 'gatehouse_outbound_events_purged_total',
      help: 'Events deleted after their retention period, with all their deliveries',
      registers,
    }),
  }
}

/** `callers`: how many wait for a connection. */
type ObservedPool = pg.Pool & { readonly callers: number; readonly free: number }

/** Observes one pool: its opening, and every request for a connection. */
export type PoolWatch = {
  opened(pool: ObservedPool): void
  /** @param seconds time until a connection was acquired or the attempt failed */
  acquired(seconds: number, failed: boolean): void
}

type PoolMetrics = {
  /** @param name purpose of the pool; a metric label, so one of a few words */
  watch(name: string): PoolWatch
}

// From an idle connection to the acquire timeout of 0.8 s (src/db/connections/pool-options.ts).
const poolSecondsBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1]

/** Metrics of the database pools of this process, collected at each scrape. */
function createPoolMetrics(registry: Registry): PoolMetrics {
  const registers = [registry]
  const pools = new Map<string, ObservedPool>()
  const gauge = (name: string, help: string, measure: (pool: ObservedPool) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [name, pool] of pools) this.set({ pool: name }, measure(pool))
      },
    })
  gauge('gatehouse_database_pool_max_connections', 'Maximum number of connections', (pool) => {
    return pool.options.max ?? 0
  })
  gauge('gatehouse_database_pool_connections', 'Open connections', (pool) => pool.totalCount)
  gauge('gatehouse_database_pool_idle_connections', 'Idle connections', (pool) => {
    return pool.free
  })
  gauge('gatehouse_database_pool_waiting', 'Requests waiting for a connection', (pool) => {
    return pool.callers
  })
  const acquire = new Histogram({
    name: 'gatehouse_database_pool_acquire_seconds',
    help: 'Seconds until a connection was acquired or the attempt failed',
    labelNames: ['pool'],
    buckets: poolSecondsBuckets,
    registers,
  })
  const failures = new Counter({
    name: 'gatehouse_database_pool_acquire_failures_total',
    help: 'Failed attempts to acquire a connection: pool exhausted or database unavailable',
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

/** The program's own metrics as a Markdown table. */
export async function metricsTable(): Promise<string> {
  const rows = (await describedMetrics()).map(({ name, type, labels, help }) => {
    const named = labels.map((label) => `\`${label}\``).join(', ') || '–'
    return `| \`${name}\` | ${type} | ${named} | ${help} |`
  })
  return `| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

export type DescribedMetric = {
  name: string
  type: string
  labels: readonly string[]
  help: string
}

/** Every metric of the program, without those of Node and of the process. */
export async function describedMetrics(): Promise<DescribedMetric[]> {
  const metrics = createMetrics()
  describeProcess(metrics, 'all', { lockHolds: () => true, inQuarantine: () => false })
  const all = await metrics.registry.getMetricsAsJSON()
  return all.map(({ name, help, type }) => {
    const metric = metrics.registry.getSingleMetric(name)
    // prom-client keeps the labels there, but its types do not declare them.
    const labels = metric !== undefined && 'labelNames' in metric ? metric.labelNames : []
    return { name, help, type: String(type), labels: Array.isArray(labels) ? labels : [] }
  })
}

export type QuotaMetrics = ReturnType<typeof createQuotaMetrics>

/** Metrics of what tenants store. */
function createQuotaMetrics(registry: Registry) {
  return {
    near: new Gauge({
      name: 'gatehouse_tenants_near_quota',
      help: 'Tenants that have used at least 90 % of their rows or bytes of resources or of events; in a process with a worker; `gatehouse usage list` names them',
      labelNames: ['budget'],
      registers: [registry],
    }),
  }
}

export type TransactionMetrics = ReturnType<typeof createTransactionMetrics>

/** Metrics of transactions that stay open, and of what VACUUM cannot remove meanwhile. */
function createTransactionMetrics(registry: Registry) {
  const registers = [registry]
  return {
    oldest: new Gauge({
      name: 'gatehouse_oldest_transaction_seconds',
      help: 'Seconds that the oldest transaction with an id has been open at least, in any database of the server; the event feed waits for it',
      registers,
    }),
    deadRows: new Gauge({
      name: 'gatehouse_dead_rows',
      help: 'Rows that VACUUM has not removed yet, by table, as PostgreSQL estimates them',
      labelNames: ['table'],
      registers,
    }),
  }
}

export type QueueMetrics = ReturnType<typeof createQueueMetrics>

/** Metrics of the job queues, including dead-letter queues. */
export function createQueueMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = ['queue'] as const
  return {
    due: new Gauge({
      name: 'gatehouse_queue_due_jobs',
      help: 'Jobs that are due and not started, counted up to 100,000',
      labelNames,
      registers,
    }),
    scheduled: new Gauge({
      name: 'gatehouse_queue_scheduled_jobs',
      help: 'Jobs scheduled for later, including retries, counted up to 100,000',
      labelNames,
      registers,
    }),
    oldestAge: new Gauge({
      name: 'gatehouse_queue_oldest_due_age_seconds',
      help: 'Seconds the oldest due job has been waiting since it became due',
      labelNames,
      registers,
    }),
    appJobs: new Gauge({
      name: 'gatehouse_app_jobs',
      help: 'Jobs of the app by name and state: due, scheduled (for later, including retries), dead (after the last try); counted up to 100,000',
      labelNames: ['job', 'state'],
      registers,
    }),
    appJobAge: new Gauge({
      name: 'gatehouse_app_job_oldest_due_age_seconds',
      help: 'Seconds the oldest due job of the app has been waiting since it became due',
      labelNames: ['job'],
      registers,
    }),
    appJobRuns: new Counter({
      name: 'gatehouse_app_job_runs_total',
      help: 'Runs of jobs of the app by outcome: done, failed (it is tried again), dead (the last try)',
      labelNames: ['job', 'outcome'],
      registers,
    }),
  }
}
