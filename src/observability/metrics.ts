import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { type BillingMetrics, createBillingMetrics } from '#src/billing/metrics.ts'
import { createPoolMetrics, type PoolMetrics } from '#src/db/metrics.ts'
import { createHttpMetrics, type HttpMetrics } from '#src/http-metrics.ts'
import { createIdentityMetrics, type IdentityMetrics } from '#src/identity/metrics.ts'
import { createOutboundMetrics, type OutboundMetrics } from '#src/outbound/metrics.ts'
import { createQueueMetrics, type QueueMetrics } from '#src/queue/backlog.ts'
import type { ProofWatch } from '#src/schema/verify-monitor.ts'
import { version } from '#src/version.ts'

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
export function describeProcess({ registry }: Metrics, role: string, proof: ProofWatch | null) {
  const registers = [registry]
  new Gauge({
    name: 'gatehouse_info',
    help: 'Always 1; the labels say which version this is and what it does',
    labelNames: ['version', 'role'],
    registers,
  }).set({ version, role }, 1)
  if (proof === null) return
  new Gauge({
    name: 'gatehouse_tenant_lock_proven',
    help: '1 while the last proof of the tenant lock has passed; 0: what is under the lock is not served',
    registers,
    collect() {
      this.set(isProven(proof) ? 1 : 0)
    },
  })
}

function isProven(proof: ProofWatch): boolean {
  try {
    proof.requireProof()
    return true
  } catch {
    return false
  }
}
