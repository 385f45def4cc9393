import { isDeepStrictEqual } from 'node:util'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type FieldError, Problem } from '#src/http/problems.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { resultOfWork } from '#src/runtime/time-limit.ts'
import { scheduleAttempts, wakeWorkers } from '#src/webhooks/schedule/due-attempts.ts'
import {
  type FindChecks,
  faultsOf,
  findAppTypes,
  maxCheckMs,
  tooSlow,
  type Validate,
} from './app-types.ts'
import { composeEvent } from './publish.ts'

/** An event as the app sends it. The id is its own, or ours if it has none. */
export type AppEvent = { id?: string | undefined; type: string; data: JsonObject }

/** An event as it was published. */
export type PublishedEvent = { id: string; type: string; createdAt: string }

/** Events of one request at most. */
export const maxBatch = 100

/** Faults that a response names at most: one for each event of a batch. */
const maxFaults = maxBatch

/**
 * Publishes events of the app in one statement, which leaves with COMMIT: all of them or none. An event
 * whose id and content the tenant has already is not published again.
 * @param pointerOf where an event is in the body of the request (RFC 6901)
 * @param now also the `createdAt` of the events
 * @returns the events in their order, and whether all were published before
 * @throws Problem `malformed` with every fault of an event, `conflict` if an id belongs to another event
 */
export async function publishAppEvents(
  tx: Tx,
  { tenantId }: TenantScope,
  events: readonly AppEvent[],
  { findChecks, pointerOf }: { findChecks: FindChecks; pointerOf: PointerOf },
  now: Date,
): Promise<{ published: PublishedEvent[]; isReplay: boolean }> {
  const [types, known] = await Promise.all([
    findAppTypes(tx, [...new Set(events.map(({ type }) => type))]),
    findKnown(tx, { tenantId }, events),
  ])
  const before = events.map(({ id }) => (id === undefined ? undefined : known.get(id)))
  // The type of a known event may have changed since it was published.
  const unchecked = events.map((event, index) => (before[index] ? null : event))
  const faults = checkAll(unchecked, findChecks(types), pointerOf)
  faults.push(...doubledIds(events, pointerOf))
  if (faults.length > 0) throw new Problem('malformed', { fields: faults.slice(0, maxFaults) })

  const taken = events.flatMap((event, index): FieldError[] => {
    const other = before[index]
    if (other === undefined || isSameEvent(other, event)) return []
    const detail = 'belongs to another event of the tenant'
    return [{ in: 'body', pointer: `${pointerOf(index)}/id`, detail }]
  })
  if (taken.length > 0) throw new Problem('conflict', { fields: taken })

  const createdAt = now.toISOString()
  const composed = events.map(({ id, type, data }, index) => {
    const first = before[index]
    if (first !== undefined) return { id: first.id, type, createdAt: first.createdAt, body: null }
    return { type, createdAt, ...composeEvent(type, data, now, id) }
  })
  const fresh = composed.flatMap(({ body, ...event }) =>
    body === null ? [] : [{ ...event, body }],
  )
  if (fresh.length > 0) {
    const statement = await insertAll({ tenantId }, fresh, now)
    tx.runWithCommit(statement, (deliveries) => {
      if (deliveries.length > 0) wakeWorkers(tx, { tenantId })
    })
  }
  const published = composed.map(({ body, ...event }) => event)
  return { published, isReplay: fresh.length === 0 }
}

function insertAll(
  { tenantId }: TenantScope,
  events: readonly { id: string; type: string; body: string }[],
  now: Date,
): Promise<Prisma.Sql> {
  const call = Prisma.sql`
    publish_app_events(${tenantId}::uuid, ${events.map(({ id }) => id)}, ${events.map(({ type }) => type)},
      ${events.map(({ body }) => body)}, ${now})`
  return scheduleAttempts({ tenantId }, call)
}

type KnownEvent = { id: string; type: string; createdAt: string; data: unknown }

/** The events of the tenant that have these ids already. */
async function findKnown(
  tx: Tx,
  { tenantId }: TenantScope,
  events: readonly AppEvent[],
): Promise<Map<string, KnownEvent>> {
  const ids = events.flatMap(({ id }) => (id === undefined ? [] : [id]))
  if (ids.length === 0) return new Map()
  const rows = await tx.sql<{ id: string; body: string }>`
    SELECT id, body FROM outbound_events WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids})`
  return new Map(rows.map(({ id, body }) => [id, JSON.parse(body)]))
}

function isSameEvent(before: KnownEvent, { type, data }: AppEvent): boolean {
  // As JSON has it, because the one before was stored as such.
  return before.type === type && isDeepStrictEqual(before.data, JSON.parse(JSON.stringify(data)))
}

/** Where an event is in the body of the request. */
type PointerOf = (index: number) => string

/** The faults of all events; null has none. */
function checkAll(
  events: readonly (AppEvent | null)[],
  checks: ReadonlyMap<string, Validate | null>,
  pointerOf: PointerOf,
): FieldError[] {
  let current = 0
  const faults = resultOfWork(maxCheckMs, () =>
    events.flatMap((event, index) => {
      current = index
      return event === null ? [] : check(event, checks.get(event.type), pointerOf(index))
    }),
  )
  return faults ?? [tooSlow(`${pointerOf(current)}/data`)]
}

function check(
  { data }: AppEvent,
  validate: Validate | null | undefined,
  pointer: string,
): FieldError[] {
  if (validate === null) return []
  if (validate !== undefined) return faultsOf(validate, data, `${pointer}/data`)
  return [{ in: 'body', pointer: `${pointer}/type`, detail: 'is not a registered event type' }]
}

function doubledIds(events: readonly AppEvent[], pointerOf: PointerOf): FieldError[] {
  const seen = new Set<string>()
  return events.flatMap(({ id }, index): FieldError[] => {
    if (id === undefined) return []
    const isDoubled = seen.has(id)
    seen.add(id)
    const detail = 'belongs to an event before it in the batch'
    return isDoubled ? [{ in: 'body', pointer: `${pointerOf(index)}/id`, detail }] : []
  })
}
