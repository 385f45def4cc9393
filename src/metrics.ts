import { collectDefaultMetrics, Registry } from 'prom-client'
import { type BillingMetrics, createBillingMetrics } from './billing/metrics.ts'
import { createOutboundMetrics, type OutboundMetrics } from './outbound/metrics.ts'

/** Every number of the program; of one process, never global, so that a test has its own. */
export type Metrics = { registry: Registry; billing: BillingMetrics; outbound: OutboundMetrics }

/** @param of `process`: also those of Node itself (memory, event loop, garbage collection) */
export function createMetrics(of: { process?: boolean } = {}): Metrics {
  const registry = new Registry()
  if (of.process) collectDefaultMetrics({ register: registry })
  return {
    registry,
    billing: createBillingMetrics(registry),
    outbound: createOutboundMetrics(registry),
  }
}
