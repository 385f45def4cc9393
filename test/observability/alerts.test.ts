import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { build } from '#test/support/app/app.ts'
import { findProgram } from '#test/support/processes/find-program.ts'

type Rule = { alert: string; expr: string }
type UnitTest = { alert_rule_test: { alertname: string; exp_alerts?: object[] }[] }

const docs = new URL('../../docs/', import.meta.url)
const read = (path: string) => readFile(new URL(path, docs), 'utf8')
const rules: Rule[] = parse(await read('grafana/alerts.yml')).groups[0].rules
const unitTests: UnitTest[] = parse(await read('grafana/alerts_test.yml')).tests

const promtool = findProgram('promtool')
const noPromtool =
  promtool === null &&
  'promtool (of Prometheus) is not installed here and no npm package carries it'

t.test('the unit tests of the alerts pass', { skip: noPromtool }, async (t) => {
  const cwd = fileURLToPath(new URL('grafana', docs))
  const { status, stdout, stderr } = spawnSync(
    promtool ?? '',
    ['test', 'rules', 'alerts_test.yml'],
    { cwd, encoding: 'utf8' },
  )
  t.equal(status, 0, `${stdout}${stderr}`)
})

t.test('each alert fires in a unit test', async (t) => {
  const fired = unitTests
    .flatMap(({ alert_rule_test }) => alert_rule_test)
    .filter(({ exp_alerts = [] }) => exp_alerts.length > 0)
    .map(({ alertname }) => alertname)
  t.ok(rules.length > 15)
  for (const { alert } of rules) t.ok(fired.includes(alert), alert)
})

t.test('each alert has a line in the runbook', async (t) => {
  const page = await read('operations.md')
  for (const { alert } of rules) t.match(page, new RegExp(`^\\| \`${alert}\` \\| .{20,} \\|$`, 'm'))
})

t.test('every counter that an alert reads exists before it counts', async (t) => {
  const { app } = await build(t)
  const samples = (await app.metrics.registry.metrics()).split('\n')
  const counters = rules.flatMap(({ expr }) => [...expr.matchAll(/(\w+_total)(?:\{([^}]*)\})?/g)])
  t.ok(counters.length > 10)
  for (const [text, name = '', selector = ''] of counters) {
    const started = samples.filter(
      (line) =>
        /[{ ]/.test(line[name.length] ?? '') && line.startsWith(name) && line.endsWith(' 0'),
    )
    const [, label, operator, value = ''] = /^(\w+)(=~|!=|=)"([^"]*)"$/.exec(selector) ?? []
    const wanted = operator === '!=' || label === undefined ? [''] : value.split('|')
    for (const one of wanted) {
      const pair = label === undefined || one === '' ? '' : `${label}="${one}"`
      t.ok(
        started.some((line) => line.includes(pair)),
        `${text} ${one}`,
      )
    }
  }
})
