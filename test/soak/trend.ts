export type Point = { hours: number; value: number }

/** How a series moved after its first quarter, in which caches fill and code is compiled. */
export type Trend = {
  first: number
  last: number
  /** Slope of the line of least squares. */
  perHour: number
  /** True if the line rises by more than a twentieth of the mean, and by more than noise explains. */
  grows: boolean
}

const warmUpShare = 0.25
const leastPoints = 8
/** Standard errors of the slope. Neighbouring samples depend on each other, so more than the usual two. */
const leastErrors = 4
const leastRise = 0.05

/** @throws if there are too few points to tell */
export function trendOf(points: readonly Point[]): Trend {
  const settled = points.slice(Math.floor(points.length * warmUpShare))
  const [first, last] = [settled[0], settled.at(-1)]
  if (first === undefined || last === undefined || settled.length < leastPoints) {
    throw new Error(`${points.length} samples are too few for a trend`)
  }
  const mean = (of: (point: Point) => number) =>
    settled.reduce((sum, point) => sum + of(point), 0) / settled.length
  const [meanHours, meanValue] = [mean(({ hours }) => hours), mean(({ value }) => value)]
  const spread = mean(({ hours }) => (hours - meanHours) ** 2)
  const perHour =
    mean(({ hours, value }) => (hours - meanHours) * (value - meanValue)) / (spread || 1)
  const rest = mean(({ hours, value }) => (value - meanValue - perHour * (hours - meanHours)) ** 2)
  const error = Math.sqrt(rest / ((settled.length - 2) * (spread || 1)))
  const rise = perHour * (last.hours - first.hours)
  const grows = perHour > leastErrors * error && rise > leastRise * Math.abs(meanValue)
  return { first: first.value, last: last.value, perHour, grows }
}
