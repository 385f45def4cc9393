import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { startGatehouse } from './contender.ts'
import { watchCpu } from './cpu-time.ts'
import type { Load, Publish } from './load.ts'
import { placeOrders } from './orders.ts'
import { onDatabase, type Place } from './place.ts'
import { runLoad, type Server } from './processes.ts'
import type { Effort, Section } from './section.ts'

const connections = 64
const batch = 100
const batchConnections = 8 // more have to wait for longer than a request may
const warmUpSeconds = 1
const ticksPerSecond = 100 // of /proc, on every Linux

const note = `CPU time per request or event of the program and PostgreSQL together, with ${connections} connections (batches: ${batchConnections}): other
work on the machine changes it less than the rate. One server makes all of them in turns. A change is PATCH
/orders/:id with an event and one delivery; publishing is POST /tenants/:id/events with an app token, of a type
without a schema, with one delivery for each event.`

/** What an app beside this program asks of it, by CPU time. */
export async function measureBeside(place: Place, effort: Effort): Promise<Section> {
  const placed = await placeOrders(place, connections)
  await onDatabase(place.superuserUrl, [anEndpointEach])
  const publishes = await prepareApp(place)
  const gets = (path: string) => ({ reads: placed.map(({ cookie }) => ({ path, cookie })) })
  const kinds: Record<string, { requests: Load['requests']; each?: number; over?: number }> = {
    'GET /me': { requests: gets('/me') },
    'GET /auth/verify': { requests: gets('/auth/verify') },
    change: { requests: { changes: placed } },
    publish: { requests: { publishes, eventsEach: 1 } },
    'publish, in batches': {
      requests: { publishes, eventsEach: batch },
      each: batch,
      over: batchConnections,
    },
  }
  const costs = new Map(Object.keys(kinds).map((name) => [name, [] as number[]]))
  const server = await startGatehouse(place)
  try {
    // Rows for the statistics: PostgreSQL plans empty tables otherwise.
    const filling = { connections, seconds: warmUpSeconds, requests: { changes: placed } }
    await runLoad({ url: server.url, ...filling })
    await onDatabase(place.superuserUrl, ['ANALYZE'])
    const databaseCpu = await watchCpu(place.superuserUrl)
    const cpu = async () => (await databaseCpu()) + (await secondsOf(server))
    for (let run = 0; run < effort.runs; run++) {
      for (const [name, { requests, each = 1, over = connections }] of Object.entries(kinds)) {
        const load = { url: server.url, connections: over, requests }
        await runLoad({ ...load, seconds: warmUpSeconds })
        const before = await cpu()
        const { count, failed } = await runLoad({ ...load, seconds: effort.seconds })
        if (failed > 0) throw new Error(`${failed} requests of ${name} failed`)
        const microseconds = ((await cpu()) - before) * 1_000_000
        costs.get(name)?.push(microseconds / count / each)
        console.log(`${name.padEnd(24)} ${(microseconds / count / each).toFixed(0)} µs`)
      }
    }
  } finally {
    await server.stop()
  }
  const cost = (name: string) => medianOf(costs.get(name) ?? [])
  const ratio = (a: string, b: string) => (cost(a) / cost(b)).toFixed(2)
  return {
    title: 'Beside an app',
    ratios: [
      {
        measure: 'GET /me ÷ GET /auth/verify',
        value: ratio('GET /me', 'GET /auth/verify'),
        goal: '≥ 0.9',
      },
      {
        measure: 'a change with an event ÷ publishing an event by API',
        value: ratio('change', 'publish'),
        goal: '≥ 0.8',
      },
      {
        measure: `publishing an event ÷ one of a batch of ${batch}`,
        value: ratio('publish', 'publish, in batches'),
        goal: '≥ 10',
      },
    ],
    measures: [
      ['CPU time', 'µs'],
      ...Object.keys(kinds).map((name) => [name, cost(name).toFixed(0)]),
    ],
    note,
  }
}

/** CPU seconds of the process so far (proc_pid_stat(5)). */
async function secondsOf({ pid }: Server): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/** An app token with a registered type; resolves to the requests in the tenants that have an endpoint. */
async function prepareApp({ superuserUrl }: Place): Promise<Publish[]> {
  const token = randomApiToken('app')
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  try {
    await client.query(aType)
    await client.query(aToken, [sha256(sha256(token))])
    const { rows } = await client.query('SELECT DISTINCT tenant_id AS id FROM webhook_endpoints')
    return rows.map(({ id }) => ({ path: `/tenants/${id}/events`, token }))
  } finally {
    await client.end()
  }
}

const aType = `
  INSERT INTO app_event_types (name, description, created_at, updated_at)
  VALUES ('bench.happened', 'Something happened', now(), now())`

const aToken = `
  INSERT INTO app_tokens (last_four, hash, name, permissions, expires_at)
  VALUES ('test', $1, 'bench', '{event:publish}', now() + interval '1 day')`

const anEndpointEach = `
  WITH endpoint AS (
    INSERT INTO webhook_endpoints (tenant_id, url, signature, secret)
    SELECT tenant_id, 'https://receiver.example', 'spec', ''
    FROM (SELECT tenant_id FROM orders ORDER BY id DESC LIMIT ${connections}) newest
    RETURNING tenant_id, id)
  INSERT INTO endpoint_states (tenant_id, id) SELECT tenant_id, id FROM endpoint`
