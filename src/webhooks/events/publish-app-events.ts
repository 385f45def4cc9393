import { isDeepStrictEqual } from 'node:util'
import type { TenantScope } from '#src/access/caller.ts'
import type { ShortStatement, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type FieldError, Problem } from '#src/http/problems.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { resultOfWork } from '#src/runtime/time-limit.ts'
import { scheduleAttempts, wakeWorkers } from '#src/webhooks/schedule/due-attempts.ts'
import {
  type DataChecks,
  faultsOf,
  findAppTypeSchemas,
  maxCheckMs,
  type TypeVersion,
  tooSlow,
} from './app-types.ts'
import { composeEvent } from './publish.ts'
import { isOwnType } from './types.ts'

/** An event as the app sends it. The id is its own, or ours if it has none. */
export type AppEvent = { id?: string | undefined; type: string; data: JsonObject }

/** An event as it was published. */
export type PublishedEvent = { id: string; type: string; createdAt: string }

/** The most events in a request. */
export const maxBatch = 100

/** The most faults in a response: one for each event of a batch. */
const maxFaults = maxBatch

type Outcome = { published: PublishedEvent[]; isReplay: boolean }
type Checking = { checks: DataChecks; pointerOf: PointerOf }

/**
 * The same as `publishAppEvents` in one statement, on the types that were seen last. It fails if they have
 * changed, or an id is known.
 * @returns null if the events cannot be published, or their types are not known: the whole work says why
 */
export async function publishShort(
  { tenantId }: TenantScope,
  events: readonly AppEvent[],
  { checks, pointerOf }: Checking,
  now: Date,
): Promise<ShortStatement<Outcome> | null> {
  const types = checks.foresee(new Set(events.map(({ type }) => type)))
  if (types === null) return null
  const faults = [...checkAll(events, types, pointerOf), ...doubledIds(events, pointerOf)]
  if (faults.length > 0) return null
  const composed = events.map(({ id, type, data }) => ({
    type,
    ...composeEvent(type, data, now, id),
  }))
  const times = [...types.values()].map(({ updatedAt }) => updatedAt.toISOString())
  // In an argument, so that it is called first.
  const tenant = Prisma.sql`
    CASE WHEN require_event_types(${[...types.keys()]}, ${times}::timestamptz[]) THEN ${tenantId}::uuid END`
  return {
    statement: scheduleAttempts({ tenantId }, publishing(tenant, composed, now)),
    sharedAs: '',
    read(deliveries, tx) {
      if (deliveries.length > 0) wakeWorkers(tx, { tenantId })
      const createdAt = now.toISOString()
      const published = composed.map(({ id, type }) => ({ id, type, createdAt }))
      return { published, isReplay: false }
    },
  }
}

/**
 * Publishes all events or none, in one statement that is sent with COMMIT. An event is not published again
 * if the tenant already has an event with the same id, type and data.
 * @param pointerOf where an event is in the body of the request (RFC 6901)
 * @param now also the `createdAt` of the events
 * @returns the events in the order of the request, and whether all of them were published earlier
 * @throws Problem `malformed` with every fault of an event, `conflict` if an id belongs to another event
 */
export async function publishAppEvents(
  tx: Tx,
  { tenantId }: TenantScope,
  events: readonly AppEvent[],
  { checks, pointerOf }: Checking,
  now: Date,
): Promise<Outcome> {
  const composed = events.map(({ id, type, data }) => ({
    type,
    ...composeEvent(type, data, now, id),
  }))
  const named = composed.filter((_, index) => events[index]?.id !== undefined)
  const [types, known] = await Promise.all([
    findAppTypeSchemas(tx, [...new Set(events.map(({ type }) => type))]),
    findKnown(tx, { tenantId }, named),
  ])
  const before = events.map(({ id }) => (id === undefined ? undefined : known.get(id)))
  // The type of a known event may have changed since it was published.
  const unchecked = events.map((event, index) => (before[index] === undefined ? event : null))
  const faults = checkAll(unchecked, checks.of(types), pointerOf)
  faults.push(...doubledIds(events, pointerOf))
  if (faults.length > 0) throw new Problem('malformed', { fields: faults.slice(0, maxFaults) })

  const taken = events.flatMap((event, index): FieldError[] => {
    const other = before[index]
    if (other === undefined || isSameEvent(other, event)) return []
    const detail = 'belongs to another event of the tenant'
    return [{ in: 'body', pointer: `${pointerOf(index)}/id`, detail }]
  })
  if (taken.length > 0) throw new Problem('conflict', { fields: taken })

  const fresh = composed.filter((_, index) => before[index] === undefined)
  if (fresh.length > 0) {
    const tenant = Prisma.sql`${tenantId}::uuid`
    const statement = scheduleAttempts({ tenantId }, publishing(tenant, fresh, now))
    tx.runWithCommit(statement, (deliveries) => {
      if (deliveries.length > 0) wakeWorkers(tx, { tenantId })
    })
  }
  const published = composed.map(({ id, type }, index) => {
    return { id, type, createdAt: before[index]?.createdAt ?? now.toISOString() }
  })
  return { published, isReplay: fresh.length === 0 }
}

/** The call that inserts all events with their deliveries. */
function publishing(
  tenant: Prisma.Sql,
  events: readonly { id: string; type: string; body: string }[],
  now: Date,
): Prisma.Sql {
  return Prisma.sql`
    publish_app_events(${tenant}, ${events.map(({ id }) => id)}, ${events.map(({ type }) => type)},
      ${events.map(({ body }) => body)}, ${now})`
}

type KnownEvent = { id: string; type: string; createdAt: string; data: unknown }

/**
 * The events of the tenant that have these ids already; null for one whose body has another length, and
 * so another content. Such a body is not read, so that no more is read than the request has sent.
 */
async function findKnown(
  tx: Tx,
  { tenantId }: TenantScope,
  composed: readonly { id: string; body: string }[],
): Promise<Map<string, KnownEvent | null>> {
  if (composed.length === 0) return new Map()
  const ids = composed.map(({ id }) => id)
  // The times in the bodies differ, but all have the same length.
  const bytes = composed.map(({ body }) => Buffer.byteLength(body))
  const rows = await tx.sql<{ id: string; body: string | null }>`
    SELECT id, CASE WHEN octet_length(e.body) = n.bytes THEN e.body END AS body
    FROM unnest(${ids}::text[], ${bytes}::int[]) AS n (id, bytes)
    JOIN outbound_events e USING (id) WHERE e.tenant_id = ${tenantId}::uuid`
  return new Map(rows.map(({ id, body }) => [id, body && JSON.parse(body)]))
}

function isSameEvent(before: KnownEvent | null, { type, data }: AppEvent): boolean {
  if (before === null) return false
  // As JSON has it, because the one before was stored as such.
  return before.type === type && isDeepStrictEqual(before.data, JSON.parse(JSON.stringify(data)))
}

/** Where an event is in the body of the request. */
type PointerOf = (index: number) => string

/** The faults of all events; null has none. */
function checkAll(
  events: readonly (AppEvent | null)[],
  types: ReadonlyMap<string, TypeVersion>,
  pointerOf: PointerOf,
): FieldError[] {
  let current = 0
  const faults = resultOfWork(maxCheckMs, () =>
    events.flatMap((event, index) => {
      current = index
      return event === null ? [] : check(event, types.get(event.type), pointerOf(index))
    }),
  )
  return faults ?? [tooSlow(`${pointerOf(current)}/data`)]
}

function check(
  { type: name, data }: AppEvent,
  type: TypeVersion | undefined,
  pointer: string,
): FieldError[] {
  const refuse = (detail: string) => [{ in: 'body', pointer: `${pointer}/type`, detail } as const]
  // The app may have registered the name before an upgrade brought the type.
  if (isOwnType(name)) return refuse('is a type of this program itself')
  if (type === undefined) return refuse('is not a registered event type')
  return type.validate === null ? [] : faultsOf(type.validate, data, `${pointer}/data`)
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
