import {
  context,
  type Link,
  propagation,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
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
import { readTraceparent, traceparentOf } from './traceparent.ts'
import type { Facts, Tracing, TracingLog, Work } from './tracing.ts'

const exportTimeoutMs = 5_000
const stopTimeoutMs = 2_000
// Spans queued while the collector is unavailable, about 2 MB; further ones are dropped.
const maxQueuedSpans = 2_048

// Other attributes that a library sets may contain queries, addresses or personal data.
const exportedAttributes = new Set([
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

/** The OpenTelemetry SDK, traces only: exports batches in the background, as OTLP over HTTP in JSON. */
export function startSdk(config: TracingConfig, role: string, log: TracingLog): Tracing {
  const { url, headers, serviceName, ratio } = config
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: exportTimeoutMs })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': version,
      'gatehouse.role': role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      redactSpans,
      new BatchSpanProcessor(logOutages(exporter, log), {
        maxQueueSize: maxQueuedSpans,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  })
  provider.register()
  const tracer = trace.getTracer('gatehouse', version)

  async function span<T>(
    name: string,
    facts: Facts,
    work: Work<T>,
    cause: string | null = null,
  ): Promise<T> {
    return tracer.startActiveSpan(
      name,
      { attributes: facts, links: linksTo(cause) },
      async (span) => {
        try {
          return await work((more) => void span.setAttributes(more))
        } catch (error) {
          markFailed(span, error)
          throw error
        } finally {
          span.end()
        }
      },
    )
  }

  return {
    on: true,
    span,
    step: (name, facts, work) =>
      trace.getActiveSpan() === undefined ? work(() => {}) : span(name, facts, work),
    traceparent() {
      const active = trace.getActiveSpan()
      return active === undefined ? null : traceparentOf(active.spanContext())
    },
    async stop() {
      await endsWithin(stopTimeoutMs, provider.shutdown()).catch(() => false)
      trace.disable()
      context.disable()
      propagation.disable()
    },
  }
}

/** A link to the span of a stored trace context. */
function linksTo(traceparent: string | null): Link[] {
  const context = traceparent === null ? null : readTraceparent(traceparent)
  return context === null ? [] : [{ context: { ...context, isRemote: true } }]
}

function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
}

/** Removes unlisted attributes, events and error messages before a span is exported. */
const redactSpans: SpanProcessor = {
  onStart() {},
  onEnding(span) {
    for (const name of Object.keys(span.attributes)) {
      if (!exportedAttributes.has(name)) delete span.attributes[name]
    }
    span.events.length = 0
    if (span.status.message !== undefined) span.setStatus({ code: span.status.code })
  },
  onEnd() {},
  async forceFlush() {},
  async shutdown() {},
}

/** Logs once when the collector becomes unavailable, and once when it is available again. */
function logOutages(exporter: SpanExporter, log: TracingLog): SpanExporter {
  let isUnavailable = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0
        if (failed && !isUnavailable) log.warn({ err: result.error }, 'traces cannot be exported')
        if (!failed && isUnavailable) log.info({}, 'traces are exported again')
        isUnavailable = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}
