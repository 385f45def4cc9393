import { Counter, Histogram, type Registry } from 'prom-client'

export type HttpMetrics = ReturnType<typeof createHttpMetrics>

// From an answer out of memory to the 15 s after which a request is cut off.
const secondsBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The numbers of requests on the public listener. */
export function createHttpMetrics(registry: Registry) {
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
