import { Counter, Histogram, type Registry } from 'prom-client'

export type OutboundMetrics = ReturnType<typeof createOutboundMetrics>

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const lagBuckets = [...secondsBuckets, 60, 300, 1_800]

/** The numbers of outbound webhooks, from the commit of an event to the end of its deliveries. */
export function createOutboundMetrics(registry: Registry) {
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
      buckets: secondsBuckets,
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
