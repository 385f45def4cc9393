import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { createMetrics, describedMetrics, metricsTable } from '#src/observability/metrics.ts'

const read = (path: string) => readFile(new URL(`../../docs/${path}`, import.meta.url), 'utf8')

t.test('the table of metrics matches the registry (npm run generate)', async (t) => {
  t.ok((await read('observability.md')).includes(await metricsTable()))
})

t.test('names follow the conventions: one prefix, base units, _total for counters', async (t) => {
  for (const { name, type, labels, help } of await describedMetrics()) {
    t.match(name, /^gatehouse_[a-z_]+$/)
    t.equal(name.endsWith('_total'), type === 'counter', name)
    t.notMatch(name, /_(ms|milliseconds|minutes|kb|percent)(_|$)/)
    for (const label of labels) t.match(label, /^[a-z_]+$/, name)
    t.match(help, /^[^|]+$/, `${name}: fits a table`)
  }
})

t.test('every metric and label used by the dashboard and the alerts exists', async (t) => {
  const dashboard = JSON.parse(await read('grafana/gatehouse.json'))
  const targets = dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
    (panel.targets ?? []).map(({ expr }) => expr),
  )
  const rules = [...(await read('grafana/alerts.yml')).matchAll(/^ +expr: (.+)$/gm)]
  const alerts = rules.map(([, expr = '']) => expr)
  t.ok(targets.length > 30 && alerts.length > 10)
  const known = await knownSeries()
  for (const expression of [...targets, ...alerts]) checkExpression(t, expression, known)
})

/** Scraped names, with the labels of each. */
async function knownSeries(): Promise<Map<string, ReadonlySet<string>>> {
  const node = await createMetrics({ process: true }).registry.getMetricsAsJSON()
  const all = [
    ...node.map(({ name, type }) => ({ name, type: String(type), labels: [] })),
    ...(await describedMetrics()),
  ]
  const ofPrometheus = [['up', new Set(['job', 'instance'])]] as const
  return new Map<string, ReadonlySet<string>>([
    ...ofPrometheus,
    ...all.flatMap(({ name, type, labels }) => {
      const own = new Set([...labels, 'instance'])
      if (type !== 'histogram') return [[name, own] as const]
      return [
        [`${name}_bucket`, new Set([...own, 'le'])] as const,
        [`${name}_count`, own] as const,
        [`${name}_sum`, own] as const,
      ]
    }),
  ])
}

function checkExpression(
  t: Test,
  expression: string,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  // `up` is Prometheus' own.
  const asked = [...expression.matchAll(/\b((?:gatehouse|nodejs|process)_\w+|up)(?:\{([^}]*)\})?/g)]
  t.ok(asked.length > 0, expression)
  for (const [, name = '', selector = ''] of asked) {
    const labels = known.get(name)
    t.ok(labels, `${name} exists`)
    for (const [, label = ''] of selector.matchAll(/(\w+)(?:=|!)/g)) {
      t.ok(labels?.has(label), `${name} has ${label}`)
    }
    for (const [, list = ''] of expression.matchAll(/by \(([^)]*)\)/g)) {
      for (const label of list.split(', ')) t.ok(labels?.has(label), `${name} has ${label}`)
    }
  }
}
