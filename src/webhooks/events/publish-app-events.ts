import { isDeepStrictEqual } from 'node:util'
import type { TenantScope } from '#src/access/caller.ts'
import type { ShortStatement, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type FieldError, Problem } from '#src/http/problems.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { maxKept } from '#src/webhooks/checks/messages.ts'
import type { SchemaChecks, TypeSchema } from '#src/webhooks/checks/schema-checks.ts'
import { scheduleAttempts, wakeWorkers } from '#src/webhooks/schedule/due-attempts.ts'
import {
  type AppTypeSchema,
  findAppTypeSchemas,
  type KnownTypes,
  type TypeVersion,
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

/** Ends a transaction without publishing: these schemas are to be compiled first. */
class Uncompiled extends Error {
  readonly schemas: readonly TypeSchema[]
  constructor(schemas: readonly TypeSchema[]) {
    super('schemas of event types are not compiled')
    this.name = 'Uncompiled'
    this.schemas = schemas
  }
}

/** What the events of a request are checked with. */
export type Checking = {
  types: KnownTypes
  checks: Pick<SchemaChecks, 'check'>
  pointerOf: PointerOf
  /** Why the first check, on the types that were seen last, refused all events. */
  refused?: { versions: TypeVersions; error: unknown }
}

type TypeVersions = ReadonlyMap<string, TypeVersion>

// Each time, schemas of others may drop those that were compiled.
const maxCompilations = 3

/**
 * Publishes by `write`, which is short or whole, and compiles the schemas of the types first if needed.
 * No connection is held meanwhile.
 */
export async function publishCompiled<T>(
  { tenantId }: TenantScope,
  checks: Pick<SchemaChecks, 'compile'>,
  write: () => Promise<T>,
): Promise<T> {
  for (let count = 0; count < maxCompilations; count += 1) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof Uncompiled)) throw error
      await checks.compile(tenantId, error.schemas)
    }
  }
  const detail = 'The schemas of event types are being compiled.'
  throw new Problem('unavailable', { detail, retryAfterSeconds: 1, reason: 'schema-checks' })
}

/**
 * Publishes as `publishAppEvents` does, in one statement, on the types that were seen last. It fails if
 * they have changed, or an id is known.
 * @returns null if the events cannot be published, or their types are not known: the whole work says why
 */
export async function publishShort(
  { tenantId }: TenantScope,
  events: readonly AppEvent[],
  checking: Checking,
  now: Date,
): Promise<ShortStatement<Outcome> | null> {
  const types = checking.types.foresee(new Set(events.map(({ type }) => type)))
  if (types === null) return null
  const composed = composeAll(events, now)
  const faults = await checkAll({ tenantId }, composed, types, checking).catch((error) => {
    checking.refused = { versions: types, error }
    return null
  })
  if (faults === null || faults.length > 0) return null
  if (doubledIds(events, checking.pointerOf).length > 0) return null
  const times = [...types.values()].map(({ updatedAt }) => updatedAt.toISOString())
  // As an argument, PostgreSQL evaluates it before the function inserts: an outdated type raises
  // first.
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
  checking: Checking,
  now: Date,
): Promise<Outcome> {
  const { pointerOf } = checking
  const composed = composeAll(events, now)
  const named = composed.filter((_, index) => events[index]?.id !== undefined)
  const [types, known] = await Promise.all([
    findAppTypeSchemas(tx, [...new Set(events.map(({ type }) => type))]),
    findKnown(tx, { tenantId }, named),
  ])
  const before = events.map(({ id }) => (id === undefined ? undefined : known.get(id)))
  // The type of a known event may have changed since it was published.
  const unchecked = composed.map((event, index) => (before[index] === undefined ? event : null))
  const versions = checking.types.of(types)
  // The same data and types were refused a moment ago: another check would take as long.
  const { refused } = checking
  if (refused && known.size === 0 && isDeepStrictEqual(refused.versions, versions))
    throw refused.error
  const faults = await checkAll({ tenantId }, unchecked, versions, checking)
  if (faults === null) throw new Uncompiled(schemasOf(types))
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

type Composed = { id: string; type: string; body: string }

function composeAll(events: readonly AppEvent[], now: Date): Composed[] {
  return events.map(({ id, type, data }) => ({ type, ...composeEvent(type, data, now, id) }))
}

/** The faults of all events, of which null has none; null if a schema is not compiled. */
async function checkAll(
  { tenantId }: TenantScope,
  events: readonly (Composed | null)[],
  versions: TypeVersions,
  { checks, pointerOf }: Checking,
): Promise<FieldError[] | null> {
  const faults = events.map((event, index) => {
    return event === null ? [] : faultsOfType(event, versions, pointerOf(index))
  })
  const toCheck = events.flatMap((event, index) => {
    const version = event === null ? undefined : versions.get(event.type)
    if (event === null || !version?.hasSchema || isOwnType(event.type)) return []
    const { type, body } = event
    return [{ index, type, body, version: version.updatedAt, pointer: `${pointerOf(index)}/data` }]
  })
  if (toCheck.length === 0) return faults.flat()
  const found = await checks.check(tenantId, toCheck)
  if (found === null) return null
  for (const [position, { index }] of toCheck.entries())
    faults[index]?.push(...(found[position] ?? []))
  return faults.flat()
}

function faultsOfType({ type }: Composed, versions: TypeVersions, pointer: string): FieldError[] {
  const refuse = (detail: string) => [{ in: 'body', pointer: `${pointer}/type`, detail } as const]
  // The app may have registered the name before an upgrade brought the type.
  if (isOwnType(type)) return refuse('is a type of this program itself')
  return versions.has(type) ? [] : refuse('is not a registered event type')
}

/** @throws Problem `malformed` if not all of them can be kept at a time */
function schemasOf(types: ReadonlyMap<string, AppTypeSchema>): TypeSchema[] {
  const schemas = [...types.values()].flatMap(({ name, schema, updatedAt }) => {
    return schema === null ? [] : [{ type: name, version: updatedAt, schema }]
  })
  if (schemas.reduce((sum, { schema }) => sum + schema.length, 0) <= maxKept) return schemas
  throw new Problem('malformed', {
    detail: `The schemas of the types have more than ${maxKept / 1_048_576} MiB together: publish the events in several requests.`,
  })
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
