import pg from 'pg'
import { type Database, openDatabase } from '#src/db/database.ts'
import { type EndpointTurnJob, openQueue } from '#src/queue/queue.ts'
import { claimDue } from '#src/webhooks/delivery/claim.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import type { Place } from '../place.ts'
import type { Effort } from '../section.ts'
import {
  at,
  measureLag,
  median,
  type Publisher,
  prepareTenant,
  type Receivers,
  startConsumer,
  stopConsumer,
} from './world.ts'

const sizes = [1_000, 20_000, 100_000] as const

export type DeepBacklog = {
  /** ms to read what a turn asks for, by the size of the backlog. */
  claims: readonly number[]
  /** ms to fetch a turn from the queue beside the largest. */
  fetch: number
  /** Of other endpoints, in ms from commit to arrival, sorted: the round with the median ratio of their p99. */
  lags: Lags
}

type Lags = { without: readonly number[]; beside: readonly number[] }

const load = { events: 400, endpoints: 19, pauseMs: 20 }

/**
 * An endpoint with a large backlog that does not respond, beside others that do. One stall of the machine
 * decides a p99, so the others are measured in turns, with the turn of this endpoint and without it.
 */
export async function measureDeepBacklog(
  place: Place,
  receivers: Receivers,
  db: Database,
  { runs }: Effort,
): Promise<DeepBacklog> {
  const [first = 0, ...others] = receivers.ports
  const slow = await prepareTenant(place, [first])
  const { publisher } = await prepareTenant(place, others)
  const endpointId = slow.endpointIds[0] ?? ''
  const admin = new pg.Client({ connectionString: place.superuserUrl })
  await admin.connect()
  await receivers.hang(0)
  await admin.query(turn, [slow.tenantId, endpointId])
  const claims: number[] = []
  let present = 0
  for (const size of sizes) {
    await admin.query(backlog, [slow.tenantId, endpointId, present + 1, size])
    await admin.query('ANALYZE')
    present = size
    claims.push(await measureClaim(place, slow.tenantId, endpointId))
  }
  const fetch = await measureFetch(place)
  // The backlog is there for a while: what writing it has left to do is not part of the comparison.
  await admin.query('VACUUM')
  await admin.query('CHECKPOINT')
  const rounds: Lags[] = []
  for (let round = 0; round < runs; round += 1) {
    await admin.query('DELETE FROM pgboss.job WHERE group_id = $1', [endpointId])
    const without = await lagsBeside(place, receivers, db, publisher)
    await admin.query(turn, [slow.tenantId, endpointId])
    const beside = await lagsBeside(place, receivers, db, publisher)
    rounds.push({ without, beside })
    console.log(`p99 beside a backlog ÷ without: ${ratioOf({ without, beside }).toFixed(2)}`)
  }
  await admin.query('DELETE FROM webhook_endpoints WHERE tenant_id = $1', [slow.tenantId])
  await admin.query(`DELETE FROM pgboss.job WHERE group_id = $1`, [endpointId])
  await admin.end()
  return { claims, fetch, lags: medianRound(rounds) }
}

function medianRound(rounds: readonly Lags[]): Lags {
  const middle = rounds.toSorted((a, b) => ratioOf(a) - ratioOf(b))[rounds.length >> 1]
  if (middle === undefined) throw new Error('nothing was measured')
  return middle
}

function ratioOf({ without, beside }: Lags): number {
  return Number(at(beside, 0.99)) / Number(at(without, 0.99))
}

/** Deliveries number $3 to $4 of an endpoint, due one second after another. */
const backlog = `
  WITH event AS (
    INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
    SELECT $1, 'msg_' || lpad(n::text, 43, '0'), 'order.updated', '{}', now() - make_interval(secs => 200000 - n)
    FROM generate_series($3::int, $4::int) AS n RETURNING tenant_id, id, created_at
  ), delivery AS (
    INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type, next_attempt_at)
    SELECT tenant_id, id, $2, 'order.updated', created_at FROM event
    RETURNING tenant_id, id, endpoint_id, next_attempt_at
  )
  INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
  SELECT tenant_id, id, endpoint_id, next_attempt_at, 0, 1 FROM delivery`

/** The job of the endpoint's turn. */
const turn = `
  INSERT INTO pgboss.job (name, data, group_id, singleton_key, policy)
  VALUES ('${endpointTurnQueue}',
    jsonb_build_object('tenantId', $1::uuid, 'endpointId', $2::uuid), $2::text, $2::text, 'short')`

/** The median of some claims, as a turn makes them in the middle of its work. */
async function measureClaim(place: Place, tenantId: string, endpointId: string): Promise<number> {
  const db = openDatabase(place.url, 1)
  const queue = openQueue(place.url, 'worker', () => {})
  await queue.start()
  try {
    const jobs = await queue.fetch<EndpointTurnJob>(endpointTurnQueue, { batchSize: 100 })
    const job = jobs.find(({ data }) => data.endpointId === endpointId)
    if (job === undefined) throw new Error('the turn is missing')
    const room = 2 * deliverLimits.perEndpoint
    const times: number[] = []
    for (let n = 0; n < 101; n += 1) {
      const begun = performance.now()
      const claim = { turn: job, endpointId, since: null, known: [], room }
      const [found = []] = await claimDue(db, { tenantId }, [claim], new Date())
      times.push(performance.now() - begun)
      if (found.length !== room) throw new Error(`${found.length} found`)
    }
    await queue.fail(endpointTurnQueue, jobs)
    return median(times)
  } finally {
    await queue.stop({ graceful: false })
    await db.close()
  }
}

async function measureFetch(place: Place): Promise<number> {
  const queue = openQueue(place.url, 'worker', () => {})
  await queue.start()
  const times: number[] = []
  for (let n = 0; n < 101; n += 1) {
    const begun = performance.now()
    await queue.fetch(endpointTurnQueue, { batchSize: 200, groupConcurrency: 1 })
    times.push(performance.now() - begun)
  }
  await queue.stop({ graceful: false })
  return median(times)
}

async function lagsBeside(
  place: Place,
  receivers: Receivers,
  db: Database,
  publisher: Publisher,
): Promise<number[]> {
  const worker = await startConsumer(place, receivers.ports)
  await measureLag(receivers, db, [publisher], { ...load, events: 50 })
  const lags = await measureLag(receivers, db, [publisher], load)
  await stopConsumer(worker)
  return lags
}
