import { context, propagation, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node'
import type { TracingConfig } from '#src/config/parse.ts'
import { version } from '#src/runtime/assets.ts'
import { endsWithin } from '#src/runtime/timeout.ts'
import type { JobLog } from './logger.ts'

/** What a span says of its work: ids, counts and outcomes; names that are not known are cut out. */
export type Facts = Readonly<Record<string, string | number | boolean>>

type Work<T> = (note: (facts: Facts) => void) => Promise<T>

/** Spans around work. Whatever becomes of them, the work runs and its result is its own. */
export type Tracing = {
  readonly on: boolean
  /** Begins a trace, or a part of the one that is under way. */
  span<T>(name: string, facts: Facts, work: Work<T>): Promise<T>
  /** Only ever a part of a trace that is under way. */
  step<T>(name: string, facts: Facts, work: Work<T>): Promise<T>
  /** Sends what is left, for two seconds at most. */
  stop(): Promise<void>
}

/** Where nothing is traced, nothing of it is loaded. */
export const untraced: Tracing = {
  on: false,
  span: (_name, _facts, work) => work(ignore),
  step: (_name, _facts, work) => work(ignore),
  async stop() {},
}

/** Starts the tracing of this process; one at a time. */
export async function startTracing(
  setup: TracingConfig | null,
  role: string,
  log: Pick<JobLog, 'info' | 'warn'>,
): Promise<Tracing> {
  if (setup === null) return untraced
  const { startSdk } = await import('./tracing.ts')
  return startSdk(setup, role, log)
}

function ignore(): void {}

type Log = Pick<JobLog, 'info' | 'warn'>

const exportMs = 5_000
const stopMs = 2_000
// What waits for a collector that is away; past it spans are dropped, some two megabytes.
const queuedSpans = 2_048

// Whatever else a library writes into a span may hold a query, an address or a person.
const shownFacts = new Set([
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'url.path',
  'db.system.name',
  'db.operation.name',
  'db.query.summary',
  'error.type',
  'hook.callback.name',
  'gatehouse.request_id',
  'gatehouse.event_id',
  'gatehouse.delivery_id',
  'gatehouse.attempt',
  'gatehouse.outcome',
])

/** OpenTelemetry, spans only: sent in batches, as OTLP over HTTP in JSON, beside the work. */
export function startSdk(setup: TracingConfig, role: string, log: Log): Tracing {
  const { url, headers, serviceName, ratio } = setup
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: exportMs })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': version,
      'gatehouse.role': role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      cutDown,
      new BatchSpanProcessor(tellOfOutages(exporter, log), {
        maxQueueSize: queuedSpans,
        exportTimeoutMillis: exportMs,
      }),
    ],
  })
  provider.register()
  const tracer = trace.getTracer('gatehouse', version)

  async function span<T>(name: string, facts: Facts, work: (note: Note) => Promise<T>): Promise<T> {
    return tracer.startActiveSpan(name, { attributes: facts }, async (span) => {
      try {
        return await work((more) => void span.setAttributes(more))
      } catch (error) {
        markFailed(span, error)
        throw error
      } finally {
        span.end()
      }
    })
  }

  return {
    on: true,
    span,
    step: (name, facts, work) =>
      trace.getActiveSpan() === undefined ? work(() => {}) : span(name, facts, work),
    async stop() {
      await endsWithin(stopMs, provider.shutdown()).catch(() => false)
      trace.disable()
      context.disable()
      propagation.disable()
    },
  }
}

type Note = (facts: Facts) => void

function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
}

/** Before a span leaves: only known facts, and no words of an error. */
const cutDown: SpanProcessor = {
  onStart() {},
  onEnding(span) {
    for (const name of Object.keys(span.attributes)) {
      if (!shownFacts.has(name)) delete span.attributes[name]
    }
    span.events.length = 0
    if (span.status.message !== undefined) span.setStatus({ code: span.status.code })
  },
  onEnd() {},
  async forceFlush() {},
  async shutdown() {},
}

/** Says once that the collector is away, and once that it is back. */
function tellOfOutages(exporter: SpanExporter, log: Log): SpanExporter {
  let away = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0
        if (failed && !away) log.warn({ err: result.error }, 'traces cannot be delivered')
        if (!failed && away) log.info({}, 'traces are delivered again')
        away = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}
