import { fromPrisma, type PgBoss } from 'pg-boss'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { Database, TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { type Delivery, type DeliveryStatus, findDelivery } from './deliveries.ts'
import { startReplay } from './resend.ts'

/** A request to send a range of deliveries again, and how far it has come. */
export type EndpointReplay = {
  id: string
  endpointId: string
  from: string
  to: string
  status: DeliveryStatus | null
  /** Selected when it was asked for. */
  total: number
  done: number
  createdAt: string
  finishedAt: string | null
}

/** Created at or after `from` and before `to`; in every state where none is named. */
export type ReplayRange = { from: Date; to: Date; status: DeliveryStatus | null }

type Row = Prisma.EndpointReplayGetPayload<object>

/**
 * Asks for a replay: the range as it is now, and the job that works through it, in one commit.
 * @returns null when the endpoint is missing or not theirs; `disabled` when it takes nothing
 */
export async function createReplay(
  tx: Tx,
  queue: PgBoss,
  by: Actor,
  endpointId: string,
  { from, to, status }: ReplayRange,
  now: Date,
): Promise<EndpointReplay | 'disabled' | null> {
  const { tenantId } = by
  const endpoint = await findEndpoint(tx, by, endpointId)
  if (endpoint === null) return null
  if (endpoint.status === 'disabled') return 'disabled'
  // What comes after the request is not part of it.
  const range = { replayFrom: from, replayTo: to < now ? to : now, status }
  const total = await tx.delivery.count({
    where: {
      tenantId,
      endpointId,
      createdAt: { gte: range.replayFrom, lt: range.replayTo },
      ...(status === null ? {} : { status }),
    },
  })
  const row = await tx.endpointReplay.create({
    data: { tenantId, endpointId, ...range, total, createdAt: now },
  })
  await sendPage(tx, queue, { tenantId, replayId: row.id })
  await recordChange(tx, by, {
    action: 'endpoint-replay',
    reason: status ?? 'every-status',
    target: endpointId,
  })
  return toReplay(row)
}

/** A replay of an endpoint of the tenant, or null: missing and not theirs are the same. */
export async function findReplay(
  tx: Tx,
  { tenantId }: TenantScope,
  { endpointId, id }: { endpointId: string; id: string },
): Promise<EndpointReplay | null> {
  const row = await tx.endpointReplay.findFirst({ where: { tenantId, endpointId, id } })
  return row && toReplay(row)
}

export type ReplayPage = { tenantId: string; replayId: string }

/**
 * Works one page of a replay: the deliveries put on their way, the progress and the job of the page
 * after it are one commit, so run twice a page counts once. It ends early when its endpoint has
 * been disabled.
 */
export async function workReplayPage(
  db: Database,
  queue: PgBoss,
  { tenantId, replayId }: ReplayPage,
  now: Date,
  pageSize = 100,
): Promise<void> {
  const scope = { tenantId }
  await db.write(scope, async (tx) => {
    const replay = await lockReplay(tx, scope, replayId)
    if (replay === null) return
    const endpoint = await findEndpoint(tx, scope, replay.endpointId)
    const takes = endpoint !== null && endpoint.status !== 'disabled'
    const page = takes ? await findPage(tx, replay, pageSize) : []
    const ids = page.map(({ id }) => id)
    await startReplay(tx, scope, ids, now)
    const isLast = page.length < pageSize
    const last = ids.at(-1)
    await tx.$executeRaw`
      UPDATE endpoint_replays SET done = done + ${ids.length},
        cursor_created_at = COALESCE((SELECT created_at FROM deliveries
          WHERE tenant_id = ${tenantId}::uuid AND id = ${last ?? null}::uuid), cursor_created_at),
        cursor_delivery_id = COALESCE(${last ?? null}::uuid, cursor_delivery_id),
        finished_at = ${isLast ? now : null}
      WHERE tenant_id = ${tenantId}::uuid AND id = ${replayId}::uuid`
    if (!isLast) await sendPage(tx, queue, { tenantId, replayId })
  })
}

/** The replay, for this transaction alone; null when it has come to its end or was removed. */
async function lockReplay(tx: Tx, { tenantId }: TenantScope, id: string): Promise<Row | null> {
  await tx.$queryRaw`
    SELECT FROM endpoint_replays WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`
  return tx.endpointReplay.findFirst({ where: { tenantId, id, finishedAt: null } })
}

/** The next deliveries of the range, oldest first; the database compares, to the microsecond. */
function findPage(tx: Tx, replay: Row, pageSize: number): Promise<{ id: string }[]> {
  const { tenantId, id, endpointId, status } = replay
  return tx.$queryRaw`
    SELECT d.id FROM deliveries d JOIN endpoint_replays r ON r.tenant_id = d.tenant_id
    WHERE r.id = ${id}::uuid AND d.tenant_id = ${tenantId}::uuid
      AND d.endpoint_id = ${endpointId}::uuid
      AND d.created_at >= r.replay_from AND d.created_at < r.replay_to
      AND ${status === null ? Prisma.sql`true` : Prisma.sql`d.status = ${status}`}
      AND (r.cursor_created_at IS NULL
           OR (d.created_at, d.id) > (r.cursor_created_at, r.cursor_delivery_id))
    ORDER BY d.created_at, d.id LIMIT ${pageSize}`
}

async function sendPage(tx: Tx, queue: PgBoss, page: ReplayPage): Promise<void> {
  await queue.send('endpoint-replay', page, { db: fromPrisma(tx) })
}

function toReplay(row: Row): EndpointReplay {
  return {
    id: row.id,
    endpointId: row.endpointId,
    from: row.replayFrom.toISOString(),
    to: row.replayTo.toISOString(),
    // Written through the schema of the route alone.
    status: row.status as DeliveryStatus | null,
    total: row.total,
    done: row.done,
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}

/**
 * Sends a delivery of the tenant once more, by the schedule from its first attempt on. Asked for
 * again before that attempt is made, it stays one.
 * @returns null when it is missing or not theirs; `disabled` when its endpoint takes nothing
 */
export async function replayDelivery(
  tx: Tx,
  by: Actor,
  id: string,
  now: Date,
): Promise<Delivery | 'disabled' | null> {
  const delivery = await findDelivery(tx, by, id)
  const endpoint = delivery && (await findEndpoint(tx, by, delivery.endpointId))
  if (!endpoint) return null
  if (endpoint.status === 'disabled') return 'disabled'
  const begun = await startReplay(tx, by, [id], now)
  if (begun.length > 0) {
    await recordChange(tx, by, { action: 'delivery-replay', reason: 'own-request', target: id })
  }
  return findDelivery(tx, by, id)
}

/** The longest range of time that is replayed at once, in days: as long as deliveries are kept. */
export const maxRangeDays = 90

const dayMs = 86_400_000

/** Whether `to` is after `from`, by so many days at most; times that are none are no range. */
export function isReplayRange(from: Date, to: Date): boolean {
  const length = to.getTime() - from.getTime()
  return length > 0 && length <= maxRangeDays * dayMs
}
