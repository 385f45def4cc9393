import type { Job, PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { isStorableTime } from '#src/http/times.ts'
import { addJob, transactionOf } from '#src/queue/jobs.ts'
import { findEndpoint, type IdleEndpoint, isIdle } from '#src/webhooks/endpoints/endpoints.ts'
import { scheduleAttempts, wakeWorkers } from '#src/webhooks/schedule/due-attempts.ts'
import {
  countDeliveries,
  countedDeliveries,
  type Delivery,
  type DeliveryStatus,
  findDelivery,
} from './deliveries.ts'
import { conditionsOf, type DeliveryFilter, deliveryConditions } from './filter.ts'

/** A request to send selected deliveries again, and its progress. */
export type EndpointReplay = {
  id: string
  endpointId: string
  from: string
  to: string
  status: DeliveryStatus | null
  eventType: string | null
  eventId: string | null
  httpStatus: string | null
  /** The deliveries that were selected by id; null for all of the range. */
  deliveryIds: string[] | null
  /** Deliveries selected by the request. If there are more than were counted, it grows with `done`. */
  total: number
  done: number
  createdAt: string
  finishedAt: string | null
  /** Deliveries that were not started by then are not sent. */
  cancelledAt: string | null
}

/** Deliveries created at or after `from` and before `to`, limited by the other filters. */
export type ReplayRange = Omit<DeliveryFilter, 'from' | 'to' | 'ids' | 'status'> & {
  from: Date
  to: Date
  status?: DeliveryStatus | null | undefined
}

/** A range, or at most `maxSelected` deliveries by id. */
export type ReplaySelection = ReplayRange | { ids: readonly string[] }

export const maxSelected = 100

type Row = Prisma.EndpointReplayGetPayload<object>

export const turnQueue = 'tenant-replay'

/** Replays that are not finished yet, so that requests cannot pile up. */
export const maxOpenReplays = { perEndpoint: 2, perTenant: 5 } as const

/**
 * Creates a replay of the selected deliveries. A replay of nothing is finished at once; otherwise its
 * tenant gets a turn in the same commit.
 * @returns null if the endpoint or a selected delivery is missing or another tenant's; `disabled` or
 *   `paused` if the endpoint is; `too-many` if `maxOpenReplays` are open
 * @param most the deliveries that are counted
 */
export async function createReplay(
  tx: Tx,
  queue: PgBoss,
  by: Actor,
  endpointId: string,
  selection: ReplaySelection,
  now: Date,
  most = countedDeliveries,
): Promise<EndpointReplay | IdleEndpoint['status'] | 'too-many' | null> {
  const { tenantId } = by
  // Locks the endpoint, because a deletion before this commit would leave the replay behind.
  const present = await tx.sql`
    SELECT FROM webhook_endpoints
    WHERE tenant_id = ${tenantId}::uuid AND id = ${endpointId}::uuid FOR KEY SHARE`
  const endpoint = present.length === 0 ? null : await findEndpoint(tx, by, endpointId)
  if (endpoint === null) return null
  if (isIdle(endpoint)) return endpoint.status
  if (await hasTooMany(tx, by, endpointId)) return 'too-many'
  const measured = await measureSelection(tx, by, endpointId, selection, now, most)
  if (measured === null) return null
  const { isEmpty, ...chosen } = measured
  const finishedAt = isEmpty ? now : null
  const row = await tx.endpointReplay.create({
    data: { tenantId, endpointId, ...chosen, createdAt: now, finishedAt },
  })
  if (!isEmpty) await addTurn(tx, queue, by)
  await recordChange(tx, by, {
    action: 'endpoint-replay',
    reason: 'ids' in selection ? 'selected' : (selection.status ?? 'every-status'),
    target: endpointId,
  })
  return toReplay(row)
}

/** The columns of a selection. Null if a delivery that it names is not one of the endpoint. */
async function measureSelection(
  tx: Tx,
  scope: TenantScope,
  endpointId: string,
  selection: ReplaySelection,
  now: Date,
  most: number,
) {
  if ('ids' in selection) {
    const ids = [...new Set(selection.ids)]
    const [found] = await tx.sql<{ total: number; oldest: Date; newest: Date }>`
      SELECT count(*)::int AS total, min(d.created_at) AS oldest, max(d.created_at) AS newest
      FROM deliveries d WHERE ${deliveryConditions(scope, endpointId, { ids })}`
    if (found === undefined || found.total !== ids.length) return null
    const { total, oldest, newest } = found
    const replayTo = new Date(newest.getTime() + 1)
    return { replayFrom: oldest, replayTo, deliveryIds: ids, total, isEmpty: false }
  }
  const { from, to, status = null, eventType = null, eventId = null, httpStatus = null } = selection
  // Deliveries created after the request are not part of it.
  const range = { replayFrom: from, replayTo: to < now ? to : now }
  const filter = {
    ...selection,
    status: status ?? undefined,
    from: range.replayFrom.toISOString(),
    to: range.replayTo.toISOString(),
  }
  const { count: total, isPartial } = await countDeliveries(tx, scope, endpointId, filter, most)
  const isEmpty = total === 0 && !isPartial
  return { ...range, status, eventType, eventId, httpStatus, total, isEmpty }
}

/**
 * Ends a replay of the tenant: deliveries that it has not started are not sent. A finished replay stays
 * as it is.
 * @returns null if it is missing or another tenant's
 */
export async function cancelReplay(
  tx: Tx,
  by: Actor,
  { endpointId, id }: { endpointId: string; id: string },
  now: Date,
): Promise<EndpointReplay | null> {
  const { tenantId } = by
  // Waits for a page that a worker is processing now, and counts it.
  const { count } = await tx.endpointReplay.updateMany({
    where: { tenantId, endpointId, id, finishedAt: null },
    data: { finishedAt: now, cancelledAt: now },
  })
  if (count > 0) {
    const target = endpointId
    await recordChange(tx, by, { action: 'endpoint-replay-cancel', reason: 'own-request', target })
  }
  return findReplay(tx, by, { endpointId, id })
}

/** The second of two concurrent requests counts the replay of the first. */
async function hasTooMany(tx: Tx, { tenantId }: TenantScope, endpointId: string): Promise<boolean> {
  await lockReplays(tx, { tenantId })
  const open = await tx.endpointReplay.findMany({
    where: { tenantId, finishedAt: null },
    select: { endpointId: true },
  })
  const ofEndpoint = open.filter((replay) => replay.endpointId === endpointId)
  return open.length >= maxOpenReplays.perTenant || ofEndpoint.length >= maxOpenReplays.perEndpoint
}

/**
 * Taken to add a replay and to take a turn. Without it, a replay added while the tenant's job ends would
 * rely on that job, which does not see it yet.
 */
function lockReplays(tx: Tx, { tenantId }: TenantScope): Promise<void> {
  return lockUntilCommit(tx, 'endpoint-replays', tenantId)
}

/** Queues the tenant's next turn, unless one waits already. Requires `lockReplays`. */
export function addTurn(tx: Tx, queue: PgBoss, { tenantId }: TenantScope): Promise<void> {
  return addJob(queue, tx, turnQueue, { tenantId }, turnOf(tenantId))
}

/** One job of a group is in progress at a time, and one job of a `singletonKey` waits. */
export function turnOf(tenantId: string) {
  return { group: { id: tenantId }, singletonKey: tenantId }
}

/** A replay of an endpoint of the tenant; null if one of them is missing or another tenant's. */
export async function findReplay(
  tx: Tx,
  { tenantId }: TenantScope,
  { endpointId, id }: { endpointId: string; id: string },
): Promise<EndpointReplay | null> {
  const [row, endpoint] = await Promise.all([
    tx.endpointReplay.findFirst({ where: { tenantId, endpointId, id } }),
    tx.webhookEndpoint.findFirst({ where: { tenantId, id: endpointId }, select: { id: true } }),
  ])
  return row && endpoint && toReplay(row)
}

export type PageLimits = {
  /** Deliveries that a page sends. */
  most: number
  /** Deliveries that it reads at most to compare them with filters that have no index. */
  mostRead: number
}

const pageLimits: PageLimits = { most: 100, mostRead: 10_000 }

/** A tenant's turn: its job, or what tests have instead. */
export type Turn = { job: Pick<Job, 'id' | 'retryCount'> | null; entry: Entry<TenantScope> }

/**
 * Takes a tenant's turn: processes one page of the replay whose last page is oldest. Its deliveries,
 * the progress, the end of the job and the next turn are one commit, so that a page processed twice
 * counts once. A replay ends early if its endpoint has been disabled or paused. After a failure the next of the
 * tenant's replays has its turn.
 */
export async function workReplayTurn(
  db: Database,
  queue: PgBoss,
  { job, entry }: Turn,
  now: Date,
  limits = pageLimits,
): Promise<void> {
  await db.write(entry, async (tx, scope) => {
    await lockReplays(tx, scope)
    const open = await listOpenReplays(tx, scope)
    const id = open[(job?.retryCount ?? 0) % Math.max(open.length, 1)]
    const isLast = id === undefined || (await workPage(tx, scope, id, now, limits))
    if (job !== null) await queue.deleteJob(turnQueue, job.id, { db: transactionOf(tx) })
    if (!isLast || open.length > 1) await addTurn(tx, queue, scope)
  })
}

/** Ids, the one whose turn is next first. */
async function listOpenReplays(tx: Tx, { tenantId }: TenantScope): Promise<string[]> {
  const rows = await tx.endpointReplay.findMany({
    where: { tenantId, finishedAt: null },
    orderBy: [{ workedAt: { sort: 'asc', nulls: 'first' } }, { createdAt: 'asc' }, { id: 'asc' }],
    select: { id: true },
  })
  return rows.map(({ id }) => id)
}

/** @returns whether the replay is finished */
async function workPage(
  tx: Tx,
  scope: TenantScope,
  replayId: string,
  now: Date,
  limits: PageLimits,
): Promise<boolean> {
  const { tenantId } = scope
  const replay = await lockReplay(tx, scope, replayId)
  if (replay === null) return true
  const endpoint = await findEndpoint(tx, scope, replay.endpointId)
  const isEnabled = endpoint !== null && !isIdle(endpoint)
  const { ids, last, isLast } = isEnabled ? await findPage(tx, replay, limits) : nothing
  await startReplay(tx, scope, ids, now)
  await tx.sql`
    UPDATE endpoint_replays SET done = done + ${ids.length},
      total = greatest(total, done + ${ids.length}), worked_at = statement_timestamp(),
      cursor_created_at = COALESCE((SELECT created_at FROM deliveries
        WHERE tenant_id = ${tenantId}::uuid AND id = ${last}::uuid), cursor_created_at),
      cursor_delivery_id = COALESCE(${last}::uuid, cursor_delivery_id),
      finished_at = ${isLast ? now : null}
    WHERE tenant_id = ${tenantId}::uuid AND id = ${replayId}::uuid`
  return isLast
}

/**
 * Locks the endpoint and then its replay, as a deletion does, until the transaction ends.
 * @returns null if the replay is finished or deleted
 */
async function lockReplay(tx: Tx, { tenantId }: TenantScope, id: string): Promise<Row | null> {
  await Promise.all([
    tx.sql`
      SELECT FROM webhook_endpoints WHERE tenant_id = ${tenantId}::uuid AND id = (
        SELECT endpoint_id FROM endpoint_replays WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid)
      FOR KEY SHARE`,
    tx.sql`
      SELECT FROM endpoint_replays WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`,
  ])
  return tx.endpointReplay.findFirst({ where: { tenantId, id, finishedAt: null } })
}

type ReplayPage = {
  /** The next deliveries of the selection, oldest first. */
  ids: readonly string[]
  /** Where the next page begins; null if nothing was read. */
  last: string | null
  isLast: boolean
}

const nothing: ReplayPage = { ids: [], last: null, isLast: true }

async function findPage(tx: Tx, replay: Row, { most, mostRead }: PageLimits): Promise<ReplayPage> {
  const { tenantId, id, endpointId, cursorDeliveryId } = replay
  const { status, eventType, eventId, httpStatus, deliveryIds } = toReplay(replay)
  const filter = {
    status: status ?? undefined,
    eventType: eventType ?? undefined,
    eventId: eventId ?? undefined,
    httpStatus: httpStatus ?? undefined,
    ids: deliveryIds ?? undefined,
  }
  const { indexed, others } = conditionsOf({ tenantId }, endpointId, filter)
  const toRead = others.length > 0 ? mostRead : most
  // Each is read once, so the index finds the place. Joined, the history would be read from its beginning.
  const own = (column: 'replay_from' | 'replay_to' | 'cursor_created_at') => Prisma.sql`(
    SELECT ${Prisma.raw(column)} FROM endpoint_replays
    WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid)`
  const begin =
    cursorDeliveryId === null
      ? Prisma.sql`d.created_at >= ${own('replay_from')}`
      : Prisma.sql`d.created_at >= ${own('cursor_created_at')}
          AND (d.created_at, d.id) > (${own('cursor_created_at')}, ${cursorDeliveryId}::uuid)`
  const [found] = await tx.sql<{ ids: string[]; count: number; last: string | null }>`
    WITH read AS MATERIALIZED (
      SELECT d.id, d.created_at, d.status, d.event_type, d.http_status, d.unusual_status, d.stored_attempts
      FROM deliveries d
      WHERE ${Prisma.join(indexed, ' AND ')} AND ${begin} AND d.created_at < ${own('replay_to')}
      ORDER BY d.created_at, d.id LIMIT ${toRead}
    )
    SELECT
      ARRAY(SELECT d.id FROM read d WHERE ${Prisma.join([Prisma.sql`true`, ...others], ' AND ')}
            ORDER BY d.created_at, d.id LIMIT ${most}) AS ids,
      (SELECT count(*)::int FROM read) AS count,
      (SELECT d.id FROM read d ORDER BY d.created_at DESC, d.id DESC LIMIT 1) AS last`
  if (found === undefined) return nothing
  const { ids, count, last } = found
  // What was read beyond a full page is read again.
  return ids.length === most
    ? { ids, last: ids.at(-1) ?? null, isLast: false }
    : { ids, last, isLast: count < toRead }
}

function toReplay(row: Row): EndpointReplay {
  return {
    id: row.id,
    endpointId: row.endpointId,
    from: row.replayFrom.toISOString(),
    to: row.replayTo.toISOString(),
    // endpoint_replays_status_check
    status: row.status as DeliveryStatus | null,
    eventType: row.eventType,
    eventId: row.eventId,
    httpStatus: row.httpStatus,
    deliveryIds: row.deliveryIds.length === 0 ? null : row.deliveryIds,
    total: row.total,
    done: row.done,
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
    cancelledAt: row.cancelledAt?.toISOString() ?? null,
  }
}

/**
 * Sends a delivery of the tenant again, with a new schedule. A second request before the first
 * attempt changes nothing.
 * @returns null if it is missing or another tenant's; `disabled` or `paused` if its endpoint is
 */
export async function replayDelivery(
  tx: Tx,
  by: Actor,
  id: string,
  now: Date,
): Promise<Delivery | IdleEndpoint['status'] | null> {
  const delivery = await findDelivery(tx, by, id)
  const endpoint = delivery && (await findEndpoint(tx, by, delivery.endpointId))
  if (!endpoint) return null
  if (isIdle(endpoint)) return endpoint.status
  const started = await startReplay(tx, by, [id], now)
  if (started.length > 0) {
    await recordChange(tx, by, { action: 'delivery-replay', reason: 'own-request', target: id })
  }
  return findDelivery(tx, by, id)
}

/** The longest range of one replay, in days. Deliveries are kept for the same time. */
export const maxRangeDays = 90

const dayMs = 86_400_000

/** True if `from < to` and the span is at most `maxRangeDays`. False for times that cannot be stored. */
export function isReplayRange(from: Date, to: Date): boolean {
  if (!isStorableTime(from) || !isStorableTime(to)) return false
  const length = to.getTime() - from.getTime()
  return length > 0 && length <= maxRangeDays * dayMs
}

/**
 * Starts a new series for deliveries of the tenant: the whole schedule again, in place of the rest of
 * the current one. Skips deliveries to a disabled or paused endpoint, and those whose current series has made
 * no attempt yet. All of them stay locked until the transaction ends, so that what it reads about a
 * delivery and its attempts afterwards belongs together.
 * @returns the ids of the deliveries that were started
 */
export async function startReplay(
  tx: Tx,
  { tenantId }: TenantScope,
  deliveryIds: readonly string[],
  now: Date,
): Promise<readonly string[]> {
  const locked = await tx.sql<{ id: string; startable: boolean }>`
    SELECT d.id, s.status <> 'disabled' AND s.paused IS NULL AND (d.status <> 'pending' OR d.attempts > 0) AS startable
    FROM deliveries d
    JOIN webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
    JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
    WHERE d.tenant_id = ${tenantId}::uuid AND d.id = ANY (${[...deliveryIds]}::uuid[])
    ORDER BY d.id FOR UPDATE OF d FOR KEY SHARE OF e`
  const ids = locked.filter(({ startable }) => startable).map(({ id }) => id)
  if (ids.length === 0) return []
  await tx.sql`
    UPDATE deliveries SET status = 'pending', series = series + 1, attempts = 0, held_for = NULL,
      finished_at = NULL, next_attempt_at = ${now}
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[])`
  const call = Prisma.sql`schedule_attempts(${tenantId}::uuid, ${ids}::uuid[], false, ${now})`
  await tx.sql(scheduleAttempts({ tenantId }, call))
  wakeWorkers(tx, { tenantId })
  return ids
}
