/** The result of a contender's run, or the median of its runs. */
export type Measured = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Requests, or whatever is counted, that did not fail. */
  count: number
  failed: number
}

/** The rate, and percentiles of the response times in ms. */
export function summarize(times: readonly number[], seconds: number, failed: number): Measured {
  const sorted = Float64Array.from(times).sort()
  const percentile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const count = times.length - failed
  const perSecond = count / seconds
  return { perSecond, p50Ms: percentile(0.5), p99Ms: percentile(0.99), count, failed }
}

/** The run with the median rate; with the failures of all runs. */
export function medianOf(runs: readonly Measured[]): Measured {
  const sorted = runs.toSorted((a, b) => a.perSecond - b.perSecond)
  const median = sorted[sorted.length >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  return { ...median, failed: runs.reduce((sum, { failed }) => sum + failed, 0) }
}

/** A row of the table with the head `measuredHead`. */
export function measuredRow(name: string, measured: Measured): string[] {
  const { perSecond, p50Ms, p99Ms, failed } = measured
  return [name, perSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(1), String(failed)]
}

export function measuredHead(unit: string): string[] {
  return ['Contender, connections', unit, 'p50 ms', 'p99 ms', 'Failed']
}

/** `a` divided by `b`, or “not measured” if one of them is missing. */
export function ratioOf(
  a: Measured | undefined,
  b: Measured | undefined,
  figure: 'perSecond' | 'p50Ms' | 'p99Ms',
): string {
  return a && b ? (a[figure] / b[figure]).toFixed(2) : 'not measured'
}

/** The start of a process, in which its code is compiled, is not measured. */
export const warmUpMs = 1_000
