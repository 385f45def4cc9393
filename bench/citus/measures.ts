import { openDatabase } from '#src/db/database.ts'
import { startGatehouse } from '../contender.ts'
import type { Load } from '../load.ts'
import { type Measured, summarize } from '../measured.ts'
import {
  drained,
  endpoints,
  type Publisher,
  prepareTenant,
  publishMany,
  type Receivers,
  startConsumer,
  stopConsumer,
} from '../outbound/world.ts'
import { measureServer } from '../processes.ts'
import type { Contender, Usage } from './servers.ts'

/** A run, and what the servers have used for it. The first is the coordinator, or the one PostgreSQL. */
export type Spent = Measured & { first: Usage; nodes: Usage }

const deliveriesPerSecond = 2_000
const deliveringTenants = 8

/** Requests over HTTP, or signed events. */
export function spendOnRequests(
  contender: Contender,
  requests: Load['requests'],
  seconds: number,
  connections: number,
): Promise<Spent> {
  return spend(contender, async (count) =>
    measureServer(await startGatehouse(contender), { connections, seconds, requests }, count),
  )
}

/** Tenants with an endpoint at each receiver, so that several shards have some. */
export async function prepareDeliveries(
  contender: Contender,
  { ports }: Receivers,
): Promise<Publisher[]> {
  const publishers: Publisher[] = []
  for (let n = 0; n < deliveringTenants; n += 1) {
    publishers.push((await prepareTenant(contender, ports)).publisher)
  }
  return publishers
}

/** Deliveries that exist before the worker starts; their publishing is not counted. */
export async function spendOnDeliveries(
  contender: Contender,
  receivers: Receivers,
  publishers: readonly Publisher[],
  seconds: number,
): Promise<Spent> {
  const events = Math.ceil((seconds * deliveriesPerSecond) / endpoints)
  // One after another: with Citus, writers of one tenant wait for each other, at most for their timeout.
  const db = openDatabase(contender.url, 1)
  await publishMany(db, publishers, events, 1).finally(() => db.close())
  // With the start of the worker, which delivers before it could be said that it has started.
  return spend(contender, (count) =>
    count(async () => {
      const worker = await startConsumer(contender, receivers.ports)
      const perSecond = await drained(receivers, events * endpoints)
      await stopConsumer(worker)
      return { ...summarize([], 1, 0), perSecond, count: events * endpoints }
    }),
  )
}

/** Tenants that are created one after another, as the first sign-in of a person does it. */
export function spendOnCreating(contender: Contender, tenants: number): Promise<Spent> {
  const admin = contender.servers[0]?.admin
  const createOne = async () => {
    const begun = performance.now()
    await admin?.query('BEGIN')
    await admin?.query(`SELECT set_scope('sign-in', 'demo/' || gen_random_uuid(), NULL, NULL)`)
    await admin?.query(
      `SELECT create_user(gen_random_uuid()::text, 'https://provider.example', NULL, 'Tenant')`,
    )
    await admin?.query('COMMIT')
    return performance.now() - begun
  }
  return spend(contender, (count) =>
    count(async () => {
      const begun = performance.now()
      const times: number[] = []
      for (let n = 0; n < tenants; n += 1) times.push(await createOne())
      return summarize(times, (performance.now() - begun) / 1_000, 0)
    }),
  )
}

type Counted = (run: () => Promise<Measured>) => Promise<Measured>

/** @param work passes to `count` what is to be counted */
export async function spend(
  contender: Contender,
  work: (count: Counted) => Promise<Measured>,
): Promise<Spent> {
  let used: Usage[] = []
  const measured = await work(async (run) => {
    const before = await usageOf(contender)
    const result = await run()
    const after = await usageOf(contender)
    used = after.map((now, n) => difference(now, before[n] ?? none))
    return result
  })
  const [first = none, ...nodes] = used
  return { ...measured, first, nodes: nodes.reduce(sum, none) }
}

/** What has been written is removed, so that later runs find the same. */
export async function clear({ servers }: Contender): Promise<void> {
  const admin = servers[0]?.admin
  await admin?.query('TRUNCATE outbound_events, deliveries, delivery_attempts, due_attempts')
  await admin?.query('TRUNCATE processed_events, received_events, pgboss.job')
  // The jobs of their turns are gone.
  await admin?.query('UPDATE webhook_endpoints SET in_turn = false')
  for (const { admin } of servers) await admin.query('CHECKPOINT')
}

const none: Usage = { cpuSeconds: 0, walBytes: 0 }

function usageOf({ servers }: Contender): Promise<Usage[]> {
  return Promise.all(servers.map((server) => server.usage()))
}

function difference(a: Usage, b: Usage): Usage {
  return { cpuSeconds: a.cpuSeconds - b.cpuSeconds, walBytes: a.walBytes - b.walBytes }
}

function sum(a: Usage, b: Usage): Usage {
  return { cpuSeconds: a.cpuSeconds + b.cpuSeconds, walBytes: a.walBytes + b.walBytes }
}
