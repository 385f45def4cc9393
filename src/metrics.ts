import { Registry } from 'prom-client'
import { type BillingMetrics, createBillingMetrics } from './billing/metrics.ts'

/** Every number of the program; of one process, never global, so that a test has its own. */
export type Metrics = { registry: Registry; billing: BillingMetrics }

export function createMetrics(): Metrics {
  const registry = new Registry()
  return { registry, billing: createBillingMetrics(registry) }
}
