import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

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
const secondsBuckets = [
  0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10,
]

/** The numbers of inbound webhooks, from the first byte to what came of the work. */
export function createBillingMetrics(registry: Registry) {
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
      buckets: secondsBuckets,
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
      buckets: secondsBuckets,
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
