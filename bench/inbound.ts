import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { runProgram, runScript, type Server, startServer } from './processes.ts'

export type Place = { url: string; superuserUrl: string }
export type Measured = { perSecond: number; p50Ms: number; p99Ms: number | null; failed: number }
type Contender = 'gatehouse' | 'usual recipe' | 'pgbench'
export type Inbound = Map<string, Measured>

const secret = 'whsec_bench_secret_bench'
const contenders: readonly Contender[] = ['gatehouse', 'usual recipe', 'pgbench']
export const connectionCounts = [1, 16, 64] as const

export function key(contender: Contender, connections: number): string {
  return `${contender}, ${connections}`
}

/** The contenders take turns, so that what slows the machine slows all of them. */
export async function measureInbound(
  place: Place,
  { runs, seconds }: { runs: number; seconds: number },
): Promise<Inbound> {
  const all = new Map<string, Measured[]>()
  await clear(place)
  for (let turn = 0; turn < runs; turn++) {
    for (const connections of connectionCounts) {
      for (const contender of contenders) {
        const measured = await measure(place, contender, connections, seconds)
        if (measured === null) continue
        const name = key(contender, connections)
        all.set(name, [...(all.get(name) ?? []), measured])
        console.log(`${name.padEnd(18)} ${measured.perSecond.toFixed(0).padStart(7)}/s`)
        await clear(place)
      }
    }
  }
  return new Map([...all].map(([name, measures]) => [name, medianOf(measures)]))
}

/** Our own events per second with as many rows as the tables hold now. */
export async function measureOnly(
  place: Place,
  connections: number,
  { runs, seconds }: { runs: number; seconds: number },
): Promise<Measured> {
  const measures: Measured[] = []
  for (let turn = 0; turn < runs; turn++) {
    const measured = await measure(place, 'gatehouse', connections, seconds)
    if (measured !== null) measures.push(measured)
  }
  return medianOf(measures)
}

async function measure(
  place: Place,
  contender: Contender,
  connections: number,
  seconds: number,
): Promise<Measured | null> {
  if (contender === 'pgbench') return runPgbench(place, connections, seconds)
  const server = await startContender(place, contender)
  try {
    const load = (time: number) =>
      runScript('./load.ts', [server.url, secret, String(connections), String(time)])
    await load(1) // code gets compiled, statements prepared, connections made
    return JSON.parse(await load(seconds))
  } finally {
    await server.stop()
  }
}

function startContender(place: Place, contender: Contender): Promise<Server> {
  if (contender === 'usual recipe') {
    return startServer('./baselines/inbound-usual-recipe.ts', {
      DATABASE_URL: place.url,
      WEBHOOK_SECRET: secret,
      POOL_SIZE: '20',
    })
  }
  return startServer('./gatehouse.ts', {
    BASE_URL: 'http://localhost:3000',
    DATABASE_URL: place.url,
    SESSION_SECRETS: 'a session secret that is long enough for a bench',
    BILLING_WEBHOOK_SECRETS: secret,
    ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
    OIDC_PROVIDERS: 'demo',
    OIDC_DEMO_ISSUER: 'http://127.0.0.1:9',
    OIDC_DEMO_CLIENT_ID: 'bench',
    OIDC_DEMO_CLIENT_SECRET: 'bench',
    RATE_LIMIT_WEBHOOKS: 'off',
    LOG_LEVEL: 'silent',
  })
}

/** One event and one job in one statement and one commit: as fast as one commit per event can be. */
const pgbenchScript = `
\\set n random(1, 9000000000000000000)
WITH event AS (
  INSERT INTO processed_events (event_id) VALUES ('evt_' || :n) RETURNING event_id
)
INSERT INTO pgboss.job (name, data)
SELECT 'billing-event', json_build_object('eventId', event_id) FROM event;
`

async function runPgbench(
  { superuserUrl }: Place,
  connections: number,
  seconds: number,
): Promise<Measured | null> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'))
  try {
    const file = join(folder, 'one-commit.sql')
    await writeFile(file, pgbenchScript)
    const clients = String(connections)
    const jobs = String(Math.min(2, connections))
    const out = await runProgram('pgbench', [
      ...['-n', '-M', 'prepared', '-c', clients, '-j', jobs, '-T', String(seconds), '-f', file],
      superuserUrl,
    ])
    if (out === null) {
      console.log('pgbench is not installed, so its rows are left out')
      return null
    }
    const perSecond = Number(/tps = ([\d.]+)/.exec(out)?.[1])
    const p50Ms = Number(/latency average = ([\d.]+)/.exec(out)?.[1])
    return { perSecond, p50Ms, p99Ms: null, failed: 0 }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function clear({ superuserUrl }: Place): Promise<void> {
  await onDatabase(superuserUrl, [
    'TRUNCATE processed_events, received_events, pgboss.job',
    'CHECKPOINT',
  ])
}

/** Fills the event tables up to `rows`, as if that many had been received and worked on. */
export async function fill({ superuserUrl }: Place, rows: number): Promise<void> {
  await onDatabase(superuserUrl, [
    'TRUNCATE processed_events, received_events, pgboss.job',
    `INSERT INTO processed_events (event_id)
     SELECT 'evt_' || md5(n::text) FROM generate_series(1, ${rows}) n`,
    `INSERT INTO received_events (event_id, type, body, secret_index, status, received_at)
     SELECT 'evt_' || md5(n::text), 'charge.succeeded', '{}', 0, 'processed',
            now() - make_interval(secs => ${rows} - n)
     FROM generate_series(1, ${rows}) n`,
    'VACUUM (ANALYZE, FREEZE) processed_events, received_events',
    'CHECKPOINT',
  ])
}

async function onDatabase(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

function medianOf(measures: readonly Measured[]): Measured {
  const sorted = measures.toSorted((a, b) => a.perSecond - b.perSecond)
  const median = sorted[sorted.length >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  return { ...median, failed: measures.reduce((sum, { failed }) => sum + failed, 0) }
}
