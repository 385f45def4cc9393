import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { type Instance, startInstance, troublesOf } from '#test/reliability/instance.ts'
import { startLoad } from '#test/reliability/load.ts'
import { startOwnServer } from '#test/reliability/own-server.ts'
import { unaccounted } from '#test/support/database/ledger.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { chartsOf, round, type Series } from './chart.ts'
import { type Point, type Trend, trendOf } from './trend.ts'

/*
 * `npm run soak`, or `npm run soak -- --minutes 10`: one process under a steady load of requests,
 * pages, changes, events and deliveries. Samples its memory and file handles and the size of every
 * table; writes soak.svg and soak.md, and exits with 1 if something grows that should not, a request
 * failed or the ledger does not account for something.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '360' },
    /** Seconds between two samples. */
    every: { type: 'string', default: '30' },
    /** Where the results are written. */
    folder: { type: 'string', default: 'dist' },
  },
})
const minutes = Number(values.minutes)
const everyMs = Number(values.every) * 1_000
const mebibyte = 1_048_576
const hourMs = 3_600_000
/** Tables up to this size are not judged: the first pages of a small table are most of it. */
const smallKiB = 1_024
/** A table with so many times its rows at the end keeps a history: its bytes per row are judged. */
const historyGrowth = 1.5

const processMetrics = {
  process_resident_memory_bytes: ['resident memory', 'MiB', mebibyte],
  nodejs_heap_size_used_bytes: ['heap in use', 'MiB', mebibyte],
  nodejs_external_memory_bytes: ['memory outside the heap', 'MiB', mebibyte],
  process_open_fds: ['file handles', '', 1],
} as const

const teardowns: (() => unknown)[] = []
const scope = { teardown: (work: () => unknown) => void teardowns.unshift(work) }
try {
  process.exitCode = await soak()
} finally {
  for (const work of teardowns) await work()
}

async function soak(): Promise<number> {
  const database = await startOwnServer(scope)
  const { address, url } = await startTaker()
  const settings = { OUTBOUND_ALLOW: address }
  const instance = await startInstance(scope, database, settings)
  // The only process gets requests also while it is busy and not ready; a 503 is no fault then.
  const load = await startLoad(scope, database, [{ ...instance, admin: null }])
  await createEndpoint(database, load.user, { url })

  const samples: Sample[] = []
  const begun = performance.now()
  while (performance.now() - begun < minutes * 60_000) {
    await wait(everyMs)
    samples.push(await takeSample(instance, database.admin, (performance.now() - begun) / hourMs))
  }
  await load.stop()
  const faults = [
    ...load.failures,
    ...troublesOf([instance], load),
    ...(await unaccounted(database)),
  ]
  const judged = judge(samples)
  const growing = judged.filter(({ verdict }) => verdict === 'grows')
  const text = report(judged, { requests: load.answered(), faults })
  await mkdir(values.folder, { recursive: true })
  await writeFile(join(values.folder, 'soak.svg'), chartsOf(judged))
  await writeFile(join(values.folder, 'soak.md'), text)
  console.log(text)
  return growing.length + faults.length === 0 ? 0 : 1
}

/** Takes every delivery and keeps nothing of it. */
async function startTaker(): Promise<{ address: string; url: string }> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('no port')
  const address = `127.0.0.1:${bound.port}`
  return { address, url: `http://${address}` }
}

type Sample = { hours: number; process: Map<string, number>; tables: Map<string, Table> }
type Table = { bytes: number; rows: number }

async function takeSample({ admin }: Instance, pool: pg.Pool, hours: number): Promise<Sample> {
  const metrics = await (await fetch(`${admin}/metrics`)).text()
  const read = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics)?.[1])
  const { rows } = await pool.query<Table & { name: string }>(
    `SELECT schemaname || '.' || relname AS name, pg_total_relation_size(relid)::float8 AS bytes,
       n_live_tup::float8 AS rows FROM pg_stat_user_tables`,
  )
  return {
    hours,
    process: new Map(Object.keys(processMetrics).map((name) => [name, read(name)])),
    tables: new Map(rows.map(({ name, ...table }) => [name, table])),
  }
}

type Verdict = 'steady' | 'grows' | 'small'
type Judged = Series & { trend: Trend; verdict: Verdict }

/** The series of the process, then those of the tables by size. */
function judge(samples: readonly Sample[]): Judged[] {
  const ofProcess = Object.entries(processMetrics).map(([metric, [name, unit, divisor]]) =>
    judgeOne(name, unit, samples, ({ process }) => (process.get(metric) ?? 0) / divisor),
  )
  const tables = [...(samples.at(-1)?.tables ?? [])].toSorted(([, a], [, b]) => b.bytes - a.bytes)
  const ofTables = tables.map(([name, last]) => {
    const early = samples[Math.floor(samples.length / 4)]?.tables.get(name)?.rows ?? 0
    const at = ({ tables }: Sample) => tables.get(name) ?? { bytes: 0, rows: 0 }
    if (last.rows > historyGrowth * Math.max(early, 1_000)) {
      return judgeOne(`${name}, per row`, 'bytes', samples, (sample) => {
        const { bytes, rows } = at(sample)
        return bytes / Math.max(rows, 1)
      })
    }
    const judged = judgeOne(name, 'KiB', samples, (sample) => at(sample).bytes / 1_024)
    return judged.trend.last > smallKiB ? judged : { ...judged, verdict: 'small' as const }
  })
  return [...ofProcess, ...ofTables]
}

function judgeOne(
  name: string,
  unit: string,
  samples: readonly Sample[],
  read: (sample: Sample) => number,
): Judged {
  const points: Point[] = samples.map((one) => ({ hours: one.hours, value: read(one) }))
  const trend = trendOf(points)
  return { name, unit, points, trend, verdict: trend.grows ? 'grows' : 'steady' }
}

function report(
  judged: readonly Judged[],
  { requests, faults }: { requests: number; faults: readonly string[] },
): string {
  const rows = judged.map(
    ({ name, unit, trend: { first, last, perHour }, verdict }) =>
      `| ${name} | ${unit} | ${round(first)} | ${round(last)} | ${round(perHour)} | ${verdict} |`,
  )
  return `# Soak

${minutes} minutes, ${requests} requests, ${faults.length} faults. The first quarter is not judged; in less than an hour
a new process still warms up in the rest, and memory grows. A series grows
if its line of least squares rises by more than 5 % and by more than noise explains. Tables that keep
a history are judged by their bytes per row, and small ones, up to 1 MiB, not at all.

| Series | Unit | After a quarter | At the end | Per hour | Verdict |
|---|---|---|---|---|---|
${rows.join('\n')}
${faults.map((fault) => `\n- ${fault}`).join('')}
`
}
