import { createMetrics, describeProcess } from '#src/observability/metrics.ts'
import { unwatched } from '#src/schema/verify-monitor.ts'

/** The program's own metrics as a Markdown table, from the registry that serves them. */
export async function metricsTable(): Promise<string> {
  const rows = (await describedMetrics()).map(({ name, type, labels, help }) => {
    const named = labels.map((label) => `\`${label}\``).join(', ') || '–'
    return `| \`${name}\` | ${type} | ${named} | ${help} |`
  })
  return `| Metric | Type | Labels | What it counts |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

export type DescribedMetric = {
  name: string
  type: string
  labels: readonly string[]
  help: string
}

/** Every metric there can be, by name; those of Node and of the process are not among them. */
export async function describedMetrics(): Promise<DescribedMetric[]> {
  const metrics = createMetrics()
  describeProcess(metrics, 'all', unwatched)
  const all = await metrics.registry.getMetricsAsJSON()
  return all.map(({ name, help, type }) => {
    const metric = metrics.registry.getSingleMetric(name)
    // The library keeps them there; its types do not say so.
    const labels = metric !== undefined && 'labelNames' in metric ? metric.labelNames : []
    return { name, help, type: String(type), labels: Array.isArray(labels) ? labels : [] }
  })
}
