import type { Registry } from 'prom-client'
import { type Repeated, repeat } from '#src/runtime/repeat.ts'

/** A number behind `/metrics`: what a counter grew by, or the highest value of a gauge. */
const measures = {
  events: { metric: 'gatehouse_webhook_requests_total', kind: 'counter' },
  backlog: { metric: 'gatehouse_billing_backlog_events', kind: 'gauge' },
  queues: { metric: 'gatehouse_queue_due_jobs', kind: 'gauge' },
  signIns: { metric: 'gatehouse_sign_in_outcomes_total', kind: 'counter' },
  refusals: { metric: 'gatehouse_refusals_total', kind: 'counter' },
  attempts: { metric: 'gatehouse_delivery_attempts_total', kind: 'counter' },
  poolWaiting: { metric: 'gatehouse_database_pool_waiting', kind: 'gauge' },
  poolFailures: { metric: 'gatehouse_database_pool_acquire_failures_total', kind: 'counter' },
} as const

export type Measure = keyof typeof measures | 'providersDown'

type Sample = Readonly<Record<Measure, number>>

const sampleMs = 300_000
const kept = 288 // a day of samples
export const historyPeriods = 12
const samplesOfPeriod = kept / historyPeriods

export type History = {
  /** Takes a sample. The first one is what counters grow from. */
  sample(): Promise<void>
  /** Two hours each, oldest first, the last one up to now; null before the first sample. */
  valuesOf(measure: Measure): readonly (number | null)[]
  /** Samples now and every five minutes. */
  start(onError: (error: unknown) => void): Repeated
}

/**
 * The numbers of this process over the last 24 hours, for the overview of operators: at most 288
 * samples of nine numbers in memory (about 40 KB). A restart begins again.
 * @param refresh sets the gauges that are measured in the database
 */
export function createHistory(
  registry: Registry,
  refresh: () => Promise<unknown>,
  countProvidersDown: () => number,
): History {
  const samples: Sample[] = []
  let before: Readonly<Record<string, number>> | null = null

  async function sample(): Promise<void> {
    await refresh()
    const now: Record<string, number> = {}
    for (const [name, { metric }] of Object.entries(measures)) {
      now[name] = await sumOf(registry, metric)
    }
    const grown = (name: keyof typeof measures) => {
      const value = now[name] ?? 0
      return measures[name].kind === 'gauge' ? value : value - (before?.[name] ?? value)
    }
    samples.push({
      events: grown('events'),
      backlog: grown('backlog'),
      queues: grown('queues'),
      signIns: grown('signIns'),
      refusals: grown('refusals'),
      attempts: grown('attempts'),
      poolWaiting: grown('poolWaiting'),
      poolFailures: grown('poolFailures'),
      providersDown: countProvidersDown(),
    })
    if (samples.length > kept) samples.shift()
    before = now
  }

  return {
    sample,
    valuesOf(measure) {
      return Array.from({ length: historyPeriods }, (_, index) => {
        const end = samples.length - (historyPeriods - 1 - index) * samplesOfPeriod
        const values = samples
          .slice(Math.max(0, end - samplesOfPeriod), Math.max(0, end))
          .map((one) => one[measure])
        if (values.length === 0) return null
        return isCounter(measure) ? values.reduce((sum, one) => sum + one, 0) : Math.max(...values)
      })
    },
    start: (onError) => repeat(sample, { everyMs: sampleMs, atOnce: true, onError }),
  }
}

function isCounter(measure: Measure): boolean {
  return measure !== 'providersDown' && measures[measure].kind === 'counter'
}

async function sumOf(registry: Registry, name: string): Promise<number> {
  const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] }
  return values.reduce((sum, { value }) => sum + value, 0)
}
