import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrate } from '#src/db/migrate.ts'
import { createOwnerAndDatabase } from '#src/demo/demo.ts'
import { removePostgres, startPostgres } from '#src/demo/embedded-postgres.ts'
import {
  connectionCounts,
  fill,
  type Inbound,
  key,
  type Measured,
  measureInbound,
  measureOnly,
} from './inbound.ts'

/*
 * The program behind `npm run bench`: everything side by side in one run on one embedded
 * PostgreSQL that writes to disk as in production; ratios count, absolute numbers are this
 * machine's. Prints a table and writes bench/RESULTS.md.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    rows: { type: 'string', default: '10000000' },
  },
})
const effort = { runs: Number(values.runs), seconds: Number(values.seconds) }
const manyRows = Number(values.rows)
const fewRows = 10_000

const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'))
await chmod(folder, 0o711)
const dataDir = join(folder, 'postgres')
const postgres = await startPostgres({
  dataDir,
  settings: { max_connections: '200', max_wal_size: '8GB' },
})
try {
  const owner = { name: 'gatehouse_owner', password: 'owner' }
  await createOwnerAndDatabase(postgres.url('postgres'), owner)
  const url = postgres.url('gatehouse', { name: 'gatehouse_app', password: 'app' })
  await migrate({ ownerUrl: postgres.url('gatehouse', owner), url, workerUrl: url })
  const place = { url, superuserUrl: postgres.url('gatehouse') }

  const inbound = await measureInbound(place, effort)
  await fill(place, fewRows)
  const few = await measureOnly(place, 64, effort)
  await fill(place, manyRows)
  const many = await measureOnly(place, 64, effort)
  const text = report(inbound, few, many)
  console.log(text)
  await writeFile(new URL('./RESULTS.md', import.meta.url), text)
} finally {
  await postgres.stop()
  await removePostgres(dataDir)
  await rm(folder, { recursive: true, force: true })
}

function report(inbound: Inbound, few: Measured, many: Measured): string {
  const rows = [...inbound].map(([name, { perSecond, p50Ms, p99Ms, failed }]) => [
    name,
    perSecond.toFixed(0),
    p50Ms.toFixed(2),
    p99Ms?.toFixed(1) ?? '–',
    String(failed),
  ])
  const at = (contender: Parameters<typeof key>[0], connections: number) =>
    inbound.get(key(contender, connections))
  const [alone, , together] = connectionCounts
  const ours = at('gatehouse', together)
  const cost = few.perSecond / many.perSecond
  const ratios = [
    ['events/s ÷ usual recipe, 64 connections', over(ours, at('usual recipe', together)), '≥ 5'],
    ['events/s ÷ one commit per event (pgbench), 64', over(ours, at('pgbench', together)), '≥ 1.0'],
    ['p50 ÷ one commit, 1 connection', slower(at('gatehouse', alone), at('pgbench', alone)), '≤ 2'],
    [`cost at ${manyRows} rows ÷ at ${fewRows} rows`, cost.toFixed(2), '≤ 1.15'],
  ]
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`
  return `# Results

${machine}. Median of ${effort.runs} runs of ${effort.seconds} s each, the contenders in turns, the
load generator in a process of its own, PostgreSQL ${'18'} with its ordinary durability on the same machine.

## Inbound webhooks

${table(['Measure', 'Ratio', 'Goal'], ratios)}
${table(['Contender, connections', 'Events/s', 'p50 ms', 'p99 ms', 'Failed'], rows)}`
}

function over(a: Measured | undefined, b: Measured | undefined): string {
  return a && b ? (a.perSecond / b.perSecond).toFixed(2) : 'not measured'
}

function slower(a: Measured | undefined, b: Measured | undefined): string {
  return a && b ? (a.p50Ms / b.p50Ms).toFixed(2) : 'not measured'
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}
