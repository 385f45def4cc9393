import { setTimeout as wait } from 'node:timers/promises'
import type { Urls } from '#dev/testing/logins.ts'
import { encryptionKey, webhookSecret } from '#dev/testing/settings.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { isOfCluster } from '#test/schema/citus/sql.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { makeJobsDue } from '#test/support/database/due-jobs.ts'
import { unaccounted } from '#test/support/database/ledger.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { findAnomalies, type Operation } from '#test/support/models/history.ts'
import { randomOf, waitTurns } from '#test/support/models/seeded.ts'
import { crashServer } from './durable-database.ts'
import { checkHistory } from './history.ts'
import { type Killable, ownHalf, startKillable } from './killable.ts'

export type CrashRun = { rounds: number; acknowledged: number; violations: string[] }

const eventsPerRound = 6
const settleMs = 20
const giveUpMs = 5_000

/**
 * Sends events in rounds while web, worker, and the connections or the whole server of the database
 * are killed at moments chosen by the seed. Like a provider, it sends unacknowledged events again. In
 * the end every event answered with 200 exists once and took effect once.
 * @param seconds no round begins after this time
 * @param halves the `half.ts` of each release that runs, with a web and a worker; this one by default
 * @param processKills how often, of 30 times, a process is killed instead of the database
 */
export async function runCrashRounds(
  database: TestDatabase,
  env: Record<string, string>,
  {
    rounds,
    seed,
    seconds,
    target,
    halves = [ownHalf],
    processKills = 2,
  }: {
    rounds: number
    seed: number
    seconds: number
    target: 'connections' | 'server'
    halves?: readonly string[]
    processKills?: number
  },
): Promise<CrashRun> {
  const random = randomOf(seed)
  const start = (role: 'web' | 'worker') =>
    Promise.all(halves.map((half) => startKillable(role, env, half)))
  const webs = await start('web')
  const workers = await start('worker')
  const sent = new Set<string>()
  const acknowledged = new Set<string>()
  const operations: Operation[] = []
  const deliver = (id: string) => deliverTo(oneOf(webs), id, acknowledged, operations)
  const end = performance.now() + seconds * 1_000
  let round = 0
  try {
    for (; round < rounds && performance.now() < end; round++) {
      const ids = Array.from({ length: eventsPerRound }, (_, n) => `evt_${seed}_${round}_${n}`)
      for (const id of ids) sent.add(id)
      const deliveries = Promise.all(ids.map(deliver))
      await waitTurns(random(400))
      await strike(random(30))
      await deliveries
      await resend(ids)
      operations.push(await readRound(database, ids))
    }
    for (const id of sent) {
      await untilTrue(async () => {
        if (!acknowledged.has(id)) await deliver(id)
        return acknowledged.has(id)
      })
    }
    await settle(database)
    const violations = await checkHistory(database.admin, { acknowledged, sent })
    violations.push(...(await unaccounted(database)))
    for (let n = 0; n < round; n++) {
      const ids = Array.from({ length: eventsPerRound }, (_, event) => `evt_${seed}_${n}_${event}`)
      operations.push(await readRound(database, ids))
    }
    violations.push(...findAnomalies(operations, { ordered: false }))
    return { rounds: round, acknowledged: acknowledged.size, violations }
  } finally {
    await Promise.all([...webs, ...workers].map((process) => process.end()))
  }

  /** Kills database connections most often: that is fast, and hits between any two statements. */
  async function strike(dice: number): Promise<void> {
    if (dice < processKills) return oneOf(dice % 2 === 0 ? webs : workers).kill()
    const server = oneOf([database.admin, ...(database.nodes ?? [])])
    if (target === 'server') return crashServer(server)
    // A node of a cluster has connections of the coordinator.
    await server.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND (application_name LIKE 'gatehouse%' OR ${isOfCluster})`,
    )
  }

  function oneOf<Item>(items: readonly Item[]): Item {
    const item = items[random(items.length)]
    if (item === undefined) throw new Error('nothing to choose from')
    return item
  }

  async function resend(ids: readonly string[]): Promise<void> {
    const end = performance.now() + giveUpMs
    for (const id of ids) {
      while (!acknowledged.has(id) && performance.now() < end) await deliver(id)
    }
  }
}

/** The settings of the processes that are killed. */
export function crashSettings(database: Urls): Record<string, string> {
  return {
    BASE_URL: 'http://localhost:3000',
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
    SESSION_SECRETS: 'a session secret that is long enough for a test',
    BILLING_WEBHOOK_SECRETS: webhookSecret,
    ENCRYPTION_KEYS: encryptionKey,
    OIDC_PROVIDERS: 'demo',
    OIDC_DEMO_ISSUER: 'http://127.0.0.1:9',
    OIDC_DEMO_CLIENT_ID: 'test',
    OIDC_DEMO_CLIENT_SECRET: 'test',
    RATE_LIMIT_WEBHOOKS: 'off',
  }
}

/** The round of an event is the list that it is appended to. */
const keyOf = (id: string) => id.replace(/_\d+$/, '')

/** Which events of a round are recorded. */
async function readRound(
  { admin }: Pick<TestDatabase, 'admin'>,
  ids: readonly string[],
): Promise<Operation> {
  const from = performance.now()
  const { rows } = await admin.query<{ id: string }>(
    'SELECT event_id AS id FROM received_events WHERE event_id = ANY ($1)',
    [ids],
  )
  const read = [keyOf(ids[0] ?? ''), rows.map(({ id }) => id)] as const
  const name = `read at ${Math.round(from)} ms`
  return { name, from, to: performance.now(), outcome: 'ok', appends: [], reads: [read] }
}

async function deliverTo(
  web: Killable,
  id: string,
  acknowledged: Set<string>,
  operations: Operation[],
): Promise<void> {
  const from = performance.now()
  const before = acknowledged.has(id)
  await post(web, id, acknowledged)
  // A copy of a recorded event appends nothing.
  if (before) return
  const outcome = acknowledged.has(id) ? 'ok' : 'unknown'
  const appends = [[keyOf(id), id] as const]
  operations.push({ name: id, from, to: performance.now(), outcome, appends, reads: [] })
}

async function post(web: Killable, id: string, acknowledged: Set<string>): Promise<void> {
  const time = Math.floor(Date.now() / 1000)
  const object = { id: `ch_${id}`, customer: 'cus_1', amount: 100, currency: 'eur' }
  const body = JSON.stringify({ id, type: 'charge.succeeded', created: time, data: { object } })
  try {
    const response = await fetch(`${web.url()}/webhooks/billing`, {
      method: 'POST',
      headers: { 'webhook-signature': signatureHeader(webhookSecret, body, time) },
      body,
      signal: AbortSignal.timeout(giveUpMs),
    })
    await response.text()
    if (response.status === 200) acknowledged.add(id)
  } catch {
    // Without a response the sender sends again.
  }
}

/** Makes waiting and expired jobs due now, until none is left. */
export async function settle(database: Pick<TestDatabase, 'admin'>): Promise<void> {
  await untilTrue(async () => {
    const { rows } = await database.admin.query(
      `SELECT count(*)::int AS left FROM received_events WHERE status <> 'processed'`,
    )
    if (rows[0].left === 0) return true
    // Jobs of a killed worker become available when they expire, so expire them now.
    await makeJobsDue(
      database,
      `name = 'billing-event' AND (state = 'retry' OR (state IN ('active', 'failed')
        AND started_on < now() - interval '2 seconds'))`,
    )
    await wait(settleMs) // the workers need the rows
    return false
  })
}
