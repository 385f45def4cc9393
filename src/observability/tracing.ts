import type { TracingConfig } from '#src/config/parse.ts'
import type { JobLog } from './logger.ts'

/** Span attributes: ids, counts and outcomes. Attributes that are not on the list are removed. */
export type Facts = Readonly<Record<string, string | number | boolean>>

export type Work<T> = (setAttributes: (facts: Facts) => void) => Promise<T>

/** Creates spans around work. Tracing failures never affect the work or its result. */
export type Tracing = {
  readonly on: boolean
  /**
   * Starts a span, as a child of the active span or as a new trace.
   * @param cause the trace context of what caused the work, in another process or at another time; the
   *   span is linked to it
   */
  span<T>(name: string, facts: Facts, work: Work<T>, cause?: string | null): Promise<T>
  /** Starts a span only as a child of an active span. */
  step<T>(name: string, facts: Facts, work: Work<T>): Promise<T>
  /** The trace context of the active span, to be stored with what it causes; null if it has none. */
  traceparent(): string | null
  /** Exports the remaining spans; takes two seconds at most. */
  stop(): Promise<void>
}

/** Tracing that is off. */
export const untraced: Tracing = {
  on: false,
  span: (_name, _facts, work) => work(() => {}),
  step: (_name, _facts, work) => work(() => {}),
  traceparent: () => null,
  async stop() {},
}

/** Where tracing reports outages of the collector. */
export type TracingLog = Pick<JobLog, 'info' | 'warn'>

/** Starts tracing for this process, if it is configured. */
export async function startTracing(
  config: TracingConfig | null,
  role: string,
  log: TracingLog,
): Promise<Tracing> {
  if (config === null) return untraced
  const { startSdk } = await import('./tracing-sdk.ts') // loads OpenTelemetry only if tracing is on
  return startSdk(config, role, log)
}
