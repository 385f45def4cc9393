import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import Type from 'typebox'
import type { Member } from '#src/access/caller.ts'
import { readEncryptionKeys } from '#src/config/parse.ts'
import type { Database } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { eventKind } from '#src/webhooks/events/types.ts'
import { sealEndpointSecret } from '#src/webhooks/signing/secrets.ts'
import { insertSessions, memberEntry } from '../entry.ts'
import { warmUpMs } from '../measured.ts'
import { onDatabase, type Place } from '../place.ts'
import type { Arrival, Order } from './receivers.ts'

export const endpoints = 20
export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const encryptionKey = `bench:${Buffer.alloc(32, 1).toString('base64')}`
// Any body of this size.
const kind = eventKind('order.updated', 'An order was changed', Type.Unknown())
export const change = { id: 7, note: 'a body as long as an order has it '.repeat(10) }

export type Receivers = {
  ports: readonly number[]
  collect(): Promise<Arrival[]>
  hang(endpoint: number | null): Promise<void>
  end(): void
}

export async function startReceivers(): Promise<Receivers> {
  const child = fork(path('./receivers.ts'), [String(endpoints)])
  const [ports] = await once(child, 'message')
  const order = async (what: Order) => {
    child.send(what)
    const [answer] = await once(child, 'message')
    return answer
  }
  return {
    ports,
    collect: () => order({ do: 'collect' }),
    hang: (endpoint) => order({ do: 'hang', endpoint }),
    end: () => void child.kill('SIGKILL'),
  }
}

export async function startConsumer(
  place: Pick<Place, 'url'>,
  ports: readonly number[],
): Promise<ChildProcess> {
  const child = fork(path('./deliverer.ts'), {
    env: {
      PATH: process.env.PATH,
      BASE_URL: 'http://localhost:3000',
      DATABASE_URL: place.url,
      SESSION_SECRETS: 'a session secret that is long enough for a bench',
      BILLING_WEBHOOK_SECRETS: 'whsec_bench_secret_bench',
      ENCRYPTION_KEYS: encryptionKey,
      OIDC_PROVIDERS: 'demo',
      OIDC_DEMO_ISSUER: 'http://127.0.0.1:9',
      OIDC_DEMO_CLIENT_ID: 'bench',
      OIDC_DEMO_CLIENT_SECRET: 'bench',
      OUTBOUND_ALLOW: ports.map((port) => `127.0.0.1:${port}`).join(),
      OUTBOUND_PER_ADDRESS: '1600', // every endpoint is on loopback, and a tenant gets half
      LOG_LEVEL: 'silent',
    },
  })
  await once(child, 'message')
  return child
}

/** Without a stop the next worker would wait until this one is known to be dead. */
export async function stopConsumer(worker: ChildProcess): Promise<void> {
  worker.kill('SIGTERM')
  await once(worker, 'exit')
}

/** Someone who publishes events. */
export type Publisher = Entry<Member>

/** Creates a tenant with a member and an endpoint per port; resolves to what publishes as the member. */
export async function prepareTenant(
  { superuserUrl }: Pick<Place, 'superuserUrl'>,
  ports: readonly number[],
): Promise<{ tenantId: string; endpointIds: string[]; publisher: Publisher }> {
  const tenantId = crypto.randomUUID()
  const keys = readEncryptionKeys(encryptionKey, [])
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  await client.query(`INSERT INTO tenants (id, name) VALUES ($1, 'Bench')`, [tenantId])
  // A trigger has added it, except on a cluster, where the functions that create tenants do.
  await client.query('INSERT INTO tenant_usage (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING', [
    tenantId,
  ])
  const { rows } = await client.query<{ id: string }>(
    'INSERT INTO users (own_tenant_id) VALUES ($1) RETURNING id',
    [tenantId],
  )
  await client.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`,
    [tenantId, rows[0]?.id],
  )
  await client.query(insertSessions, [tenantId])
  const endpointIds: string[] = []
  for (const port of ports) {
    const id = crypto.randomUUID()
    endpointIds.push(id)
    await client.query(
      `WITH endpoint AS (
         INSERT INTO webhook_endpoints (tenant_id, id, url, signature, secret)
         VALUES ($1, $2, $3, 'spec', $4))
       INSERT INTO endpoint_states (tenant_id, id) VALUES ($1, $2)`,
      [
        tenantId,
        id,
        `http://127.0.0.1:${port}/`,
        sealEndpointSecret(keys, { tenantId, id }, secret),
      ],
    )
  }
  await client.end()
  return { tenantId, endpointIds, publisher: memberEntry(Number(rows[0]?.id)) }
}

/** The rate at which events arrive that exist before the worker starts. */
export async function measureDrain(
  place: Place,
  receivers: Receivers,
  db: Database,
  publishers: readonly Publisher[],
  { events, endpoints }: { events: number; endpoints: number },
): Promise<number> {
  await publishMany(db, publishers, events)
  await analyze(place.superuserUrl)
  const worker = await startConsumer(place, receivers.ports)
  const rate = await drained(receivers, events * endpoints)
  await stopConsumer(worker)
  return rate
}

/** What autovacuum does after a while: without statistics a worker of pg-boss delivers about a third less. */
export function analyze(superuserUrl: string): Promise<void> {
  return onDatabase(superuserUrl, ['ANALYZE'])
}

/** Arrivals per second after the warm-up, until this many have arrived. */
export async function drained(receivers: Receivers, count: number): Promise<number> {
  const arrivals: Arrival[] = []
  while (arrivals.length < count) {
    await wait(100)
    arrivals.push(...(await receivers.collect()))
  }
  const times = arrivals.map(({ at }) => at).toSorted((a, b) => a - b)
  const begun = (times[0] ?? 0) + warmUpMs
  const measured = times.filter((at) => at >= begun)
  return (measured.length / ((times.at(-1) ?? 0) - begun)) * 1_000
}

const publishLanes = 8

/** Events of each publisher in turn, as many at the same time as there are lanes. */
export async function publishMany(
  db: Database,
  publishers: readonly Publisher[],
  events: number,
  lanes = publishLanes,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < events) {
      next += 1
      await publishOne(db, publishers, next)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

async function publishOne(
  db: Database,
  publishers: readonly Publisher[],
  n: number,
): Promise<string> {
  const publisher = publishers[n % publishers.length]
  if (publisher === undefined) throw new Error('nobody publishes')
  const { eventId } = await db.write(publisher, (tx, member) =>
    publish(tx, member, { kind, data: change }, new Date()),
  )
  return eventId
}

/** The times from the commit of each event to its arrivals in ms, without hanging endpoints. */
export async function measureLag(
  receivers: Receivers,
  db: Database,
  publishers: readonly Publisher[],
  { events, endpoints, pauseMs }: { events: number; endpoints: number; pauseMs: number },
): Promise<number[]> {
  await receivers.collect()
  const committed = new Map<string, number>()
  for (let n = 0; n < events; n += 1) {
    const eventId = await publishOne(db, publishers, n)
    committed.set(eventId, performance.timeOrigin + performance.now())
    await wait(pauseMs)
  }
  await wait(1_000)
  const all = await receivers.collect()
  // The first endpoint may hang.
  const arrivals = endpoints === 1 ? all : all.filter(({ endpoint }) => endpoint !== 0)
  const isMissing = new Set(arrivals.map(({ eventId }) => eventId)).size < events
  if (isMissing) console.log('not every event has arrived')
  return lagsOf(arrivals, committed)
}

/** Sorted, in ms. */
export function lagsOf(
  arrivals: readonly Arrival[],
  committed: ReadonlyMap<string, number>,
): number[] {
  return arrivals
    .map(({ eventId, at }) => at - (committed.get(eventId) ?? Number.NaN))
    .filter((lag) => !Number.isNaN(lag))
    .toSorted((a, b) => a - b)
}

export function at(sorted: readonly number[], share: number): string {
  return (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1)
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function path(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
