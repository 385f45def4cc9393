import type { JobLog } from '#src/job-log.ts'
import type { TracingSetup } from '#src/tracing-settings.ts'

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
  setup: TracingSetup | null,
  role: string,
  log: Pick<JobLog, 'info' | 'warn'>,
): Promise<Tracing> {
  if (setup === null) return untraced
  const { startSdk } = await import('#src/tracing-sdk.ts')
  return startSdk(setup, role, log)
}

function ignore(): void {}
