import type { Point } from './trend.ts'

export type Series = { name: string; unit: string; points: readonly Point[] }

const [columns, width, height, margin] = [3, 340, 150, 28] as const
const plot = { width: width - 2 * margin, height: height - 2 * margin }

/** One small line chart for each series, from zero, as SVG. */
export function chartsOf(all: readonly Series[]): string {
  const rows = Math.ceil(all.length / columns)
  const charts = all.map((series, n) => {
    const x = (n % columns) * width
    const y = Math.floor(n / columns) * height
    return `<g transform="translate(${x} ${y})">${chart(series)}</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${columns * width}" height="${rows * height}"
  font-family="sans-serif" font-size="11" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
${charts.join('\n')}
</svg>
`
}

function chart({ name, unit, points }: Series): string {
  const hours = Math.max(...points.map((point) => point.hours), 1e-9)
  const top = Math.max(...points.map((point) => point.value), 1e-9)
  const line = points.map(
    (point) =>
      `${(margin + (point.hours / hours) * plot.width).toFixed(1)},${(margin + plot.height - (point.value / top) * plot.height).toFixed(1)}`,
  )
  return `<text x="${margin}" y="18" font-weight="bold">${name}</text>
<path d="M${margin} ${margin}v${plot.height}h${plot.width}" fill="none" stroke="#999"/>
<polyline points="${line.join(' ')}" fill="none" stroke="#0b62d6" stroke-width="1.5"/>
<text x="${width - margin}" y="18" text-anchor="end">max ${round(top)} ${unit}</text>
<text x="${width - margin}" y="${height - 12}" text-anchor="end">${hours.toFixed(2)} h</text>`
}

/** Three figures, or whole numbers above a thousand. */
export function round(value: number): string {
  return Math.abs(value) >= 1_000 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}
