import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import Type from 'typebox'
import type { Member } from '#src/access/caller.ts'
import { readEncryptionKeys } from '#src/config/parse.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'
import { sealEndpointSecret } from '#src/webhooks/endpoints/secrets.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { eventKind } from '#src/webhooks/events/types.ts'
import { insertSessions, memberEntry } from './entry.ts'
import type { Arrival, Order } from './outbound/receivers.ts'
import type { Place } from './place.ts'
import type { Effort, Section } from './section.ts'

const run = promisify(execFile)
const endpoints = 20
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const encryptionKey = `bench:${Buffer.alloc(32, 1).toString('base64')}`
// Any body of this size.
const kind = eventKind('order.updated', 'An order was changed', Type.Unknown())
const change = { id: 7, note: 'a body as long as an order has it '.repeat(10) }
const idleEvents = 100
const idlePauseMs = 100
const busyEventsPerSecond = 20

const note = `Every event goes to ${endpoints} endpoints of one tenant, which respond after 5 ms in a separate
process. “Plain posts” is undici with the same number of concurrent requests per endpoint, the same
bodies and signatures, and no database. A delivery also fetches its job, writes its attempt and its
state and deletes the job, in PostgreSQL on the same two cores. The worker spends a quarter of its time
on writing to sockets, a seventh in Prisma, a twelfth in our own code and a twentieth each in undici
and garbage collection.`

/** Deliveries per second compared with plain posts, the time from commit to arrival, and a hanging endpoint. */
export async function measureOutbound(place: Place, effort: Effort): Promise<Section> {
  const receivers = await startReceivers()
  const db = openDatabase(place.url, 10)
  const publisher = memberEntry(await prepare(place, receivers.ports))
  try {
    const ours: number[] = []
    const plain: number[] = []
    for (let turn = 0; turn < effort.runs; turn++) {
      plain.push(await measurePlain(receivers.ports, effort.seconds))
      await receivers.collect()
      const events = Math.ceil((effort.seconds * 2_000) / endpoints)
      ours.push(await measureDrain(place, receivers, db, publisher, events))
      console.log(
        `outbound ${ours.at(-1)?.toFixed(0)}/s, plain posts ${plain.at(-1)?.toFixed(0)}/s`,
      )
    }
    const worker = await startConsumer(place, receivers.ports)
    await measureLag(receivers, db, publisher, 10, idlePauseMs) // warm-up: compiles code, opens connections
    const idle = await measureLag(receivers, db, publisher, idleEvents, idlePauseMs)
    const pause = 1_000 / busyEventsPerSecond
    const busyEvents = effort.seconds * busyEventsPerSecond
    const well = await measureLag(receivers, db, publisher, busyEvents, pause)
    await receivers.hang(0)
    const beside = await measureLag(receivers, db, publisher, busyEvents, pause)
    worker.kill('SIGKILL')
    const rates = [median(ours), median(plain)] as const
    return {
      title: 'Outbound webhooks',
      ratios: [
        {
          measure: `deliveries/s ÷ plain posts, ${endpoints} endpoints`,
          value: (rates[0] / rates[1]).toFixed(2),
          goal: '≥ 0.4',
        },
        { measure: 'deliveries/s', value: rates[0].toFixed(0), goal: '≥ 1500 here' },
        { measure: 'commit to arrival, idle, p50 ms', value: at(idle, 0.5), goal: '≤ 30' },
        { measure: 'commit to arrival, idle, p99 ms', value: at(idle, 0.99), goal: '≤ 150' },
        {
          measure: 'p99 of the healthy beside a hanging endpoint ÷ without it',
          value: (Number(at(beside, 0.99)) / Number(at(well, 0.99))).toFixed(2),
          goal: '≤ 1.2',
        },
      ],
      measures: [
        ['Commit to arrival', 'p50 ms', 'p99 ms'],
        ['idle', at(idle, 0.5), at(idle, 0.99)],
        [`${busyEventsPerSecond * endpoints} deliveries/s`, at(well, 0.5), at(well, 0.99)],
        ['the same beside a hanging endpoint', at(beside, 0.5), at(beside, 0.99)],
      ],
      note,
    }
  } finally {
    await db.close()
    receivers.end()
  }
}

type Receivers = {
  ports: readonly number[]
  collect(): Promise<Arrival[]>
  hang(endpoint: number): Promise<void>
  end(): void
}

async function startReceivers(): Promise<Receivers> {
  const child = fork(path('./outbound/receivers.ts'), [String(endpoints)])
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

async function startConsumer(place: Place, ports: readonly number[]): Promise<ChildProcess> {
  const child = fork(path('./outbound/deliverer.ts'), {
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
      OUTBOUND_PER_ADDRESS: '800', // every endpoint is on loopback
      LOG_LEVEL: 'silent',
    },
  })
  await once(child, 'message')
  return child
}

/** Creates a tenant with a member and an endpoint per port; resolves to the id of the member. */
async function prepare({ superuserUrl }: Place, ports: readonly number[]): Promise<number> {
  const tenantId = crypto.randomUUID()
  const keys = readEncryptionKeys(encryptionKey, [])
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  await client.query(`INSERT INTO tenants (id, name) VALUES ($1, 'Bench')`, [tenantId])
  const { rows } = await client.query<{ id: string }>(
    `WITH person AS (INSERT INTO users (own_tenant_id) VALUES ($1) RETURNING id)
     INSERT INTO memberships (tenant_id, user_id, role)
     SELECT $1, id, 'admin' FROM person RETURNING user_id AS id`,
    [tenantId],
  )
  await client.query(insertSessions, [tenantId])
  for (const port of ports) {
    const id = crypto.randomUUID()
    await client.query(
      `INSERT INTO webhook_endpoints (tenant_id, id, url, signature, secret)
       VALUES ($1, $2, $3, 'spec', $4)`,
      [
        tenantId,
        id,
        `http://127.0.0.1:${port}/`,
        sealEndpointSecret(keys, { tenantId, id }, secret),
      ],
    )
  }
  await client.end()
  return Number(rows[0]?.id)
}

async function measurePlain(ports: readonly number[], seconds: number): Promise<number> {
  const body = JSON.stringify({ id: 'msg_plain', type: 'order.updated', data: change })
  const { stdout } = await run(process.execPath, [
    ...[path('./outbound/plain-posts.ts'), ports.join(), String(deliverLimits.perEndpoint)],
    ...[String(seconds), secret, body],
  ])
  return JSON.parse(stdout).perSecond
}

/** The rate at which events arrive that exist before the worker starts, from the first arrival on. */
async function measureDrain(
  place: Place,
  receivers: Receivers,
  db: Database,
  publisher: Entry<Member>,
  events: number,
): Promise<number> {
  await publishMany(db, publisher, events)
  const worker = await startConsumer(place, receivers.ports)
  const arrivals: Arrival[] = []
  while (arrivals.length < events * endpoints) {
    await wait(100)
    arrivals.push(...(await receivers.collect()))
  }
  worker.kill('SIGKILL')
  const times = arrivals.map(({ at }) => at).toSorted((a, b) => a - b)
  return (times.length / ((times.at(-1) ?? 0) - (times[0] ?? 0))) * 1_000
}

async function publishMany(db: Database, publisher: Entry<Member>, events: number): Promise<void> {
  for (let n = 0; n < events; n += 1) {
    await db.write(publisher, (tx, member) =>
      publish(tx, member, { kind, data: change }, new Date()),
    )
  }
}

/** The times from the commit of each event to its arrivals in ms, without hanging endpoints. */
async function measureLag(
  receivers: Receivers,
  db: Database,
  publisher: Entry<Member>,
  events: number,
  pauseMs: number,
): Promise<number[]> {
  await receivers.collect()
  const committed = new Map<string, number>()
  for (let n = 0; n < events; n += 1) {
    const { eventId } = await db.write(publisher, (tx, member) =>
      publish(tx, member, { kind, data: change }, new Date()),
    )
    committed.set(eventId, performance.timeOrigin + performance.now())
    await wait(pauseMs)
  }
  await wait(1_000)
  const arrivals = (await receivers.collect()).filter(({ endpoint }) => endpoint !== 0)
  if (arrivals.length < events * (endpoints - 1)) console.log('not every event has arrived')
  return arrivals
    .map(({ eventId, at }) => at - (committed.get(eventId) ?? Number.NaN))
    .filter((lag) => !Number.isNaN(lag))
    .toSorted((a, b) => a - b)
}

function at(sorted: readonly number[], share: number): string {
  return (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function path(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
