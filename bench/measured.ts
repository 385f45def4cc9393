/** What one contender did in one run, or the median of its runs. */
export type Measured = { perSecond: number; p50Ms: number; p99Ms: number; failed: number }

/** The rate and the percentiles of single answers, in ms. */
export function summarize(times: readonly number[], seconds: number, failed: number): Measured {
  const sorted = Float64Array.from(times).sort()
  const percentile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const perSecond = (times.length - failed) / seconds
  return { perSecond, p50Ms: percentile(0.5), p99Ms: percentile(0.99), failed }
}

/** The run in the middle, by its rate; failures of all runs count. */
export function medianOf(runs: readonly Measured[]): Measured {
  const sorted = runs.toSorted((a, b) => a.perSecond - b.perSecond)
  const median = sorted[sorted.length >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  return { ...median, failed: runs.reduce((sum, { failed }) => sum + failed, 0) }
}

/** One row of a table of measures; the head to it is `measuredHead`. */
export function measuredRow(name: string, measured: Measured): string[] {
  const { perSecond, p50Ms, p99Ms, failed } = measured
  return [name, perSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(1), String(failed)]
}

export function measuredHead(unit: string): string[] {
  return ['Contender, connections', unit, 'p50 ms', 'p99 ms', 'Failed']
}

/** How often `b` goes into `a`; “not measured” where one of them is missing. */
export function ratioOf(
  a: Measured | undefined,
  b: Measured | undefined,
  figure: 'perSecond' | 'p50Ms',
): string {
  return a && b ? (a[figure] / b[figure]).toFixed(2) : 'not measured'
}
