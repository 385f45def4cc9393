import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import {
  creationForms,
  creationPosition,
  keyset,
  timeOfMicroseconds,
  withinBytes,
} from '#src/db/keyset.ts'
import { type Count, maxCounted, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { explainFailure } from '#src/webhooks/client/explain.ts'
import { ownHeaders, succeeded } from '#src/webhooks/client/sender.ts'
import { thinBody } from '#src/webhooks/events/thin-body.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import {
  type DeliveryFilter,
  deliveryConditions,
  isSearch,
  newestDeliveries,
  searchedDeliveries,
} from './filter.ts'

export const deliveryStatuses = ['pending', 'succeeded', 'exhausted'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export const deliveryStates = ['waiting', 'retrying', 'paused', 'succeeded', 'exhausted'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** What the status of a delivery does not say. */
export type DeliveryHealth = {
  /**
   * A pending delivery is `waiting` before its first attempt and `retrying` after a failed one, or
   * `paused` with its endpoint. The others are the values of `status`.
   */
  state: DeliveryState
  /** Failed attempts of the latest series. */
  failedAttempts: number
}

/** One event for one endpoint, with all attempts made so far. Times are RFC 3339 in UTC. */
export type Delivery = {
  id: string
  eventId: string
  eventType: string
  endpointId: string
  status: DeliveryStatus
  health: DeliveryHealth
  createdAt: string
  nextAttemptAt: string | null
  /** In order; the newest `maxShownAttempts`. */
  attempts: Attempt[]
}

/** Every replay adds a series, each attempt with an excerpt: a delivery shows its newest ones. */
export const maxShownAttempts = 20
const maxShownBytes = maxShownAttempts * 4_096 // an excerpt, and the texts of an error

export type Attempt = {
  /** 0 is the schedule; every replay begins the next one. */
  series: number
  number: number
  startedAt: string
  durationMs: number
  statusCode: number | null
  error: string | null
  /** Why it failed and what to do; null if it succeeded. */
  explanation: string | null
  responseExcerpt: string | null
}

export const deliveryList = { name: 'deliveries', forms: creationForms }

type AttemptRow = Omit<Prisma.DeliveryAttemptGetPayload<object>, 'tenantId'>

const columns = Prisma.sql`d.id, d.event_id AS "eventId", d.event_type AS "eventType",
  d.endpoint_id AS "endpointId", d.status, d.created_at AS "createdAt",
  d.next_attempt_at AS "nextAttemptAt", d.attempts`

type DeliveryRow = Pick<
  Prisma.DeliveryGetPayload<object>,
  | 'id'
  | 'eventId'
  | 'eventType'
  | 'endpointId'
  | 'status'
  | 'createdAt'
  | 'nextAttemptAt'
  /** Made in the latest series; all of them failed unless the delivery succeeded. */
  | 'attempts'
>

/**
 * The deliveries to an endpoint, newest first; null if the endpoint is not the tenant's.
 * @param most how many of the newest are searched, if the filter has a condition without an index
 */
export async function listDeliveries(
  tx: Tx,
  scope: TenantScope,
  endpointId: string,
  filter: DeliveryFilter,
  page: Page,
  most = searchedDeliveries,
) {
  const endpoint = await findHistory(tx, scope, endpointId)
  if (endpoint === null) return null
  // `publish` and `sendTest` write `created_at` from the clock, in whole milliseconds.
  const [millis, id] = page.after ?? []
  const last =
    millis === undefined || id === undefined
      ? null
      : [timeOfMicroseconds(`${millis}000`), Prisma.sql`${id}::uuid`]
  const { source, conditions } = isSearch(filter)
    ? newestDeliveries(scope, endpointId, filter, most)
    : {
        source: Prisma.sql`deliveries`,
        conditions: deliveryConditions(scope, endpointId, filter),
      }
  const first = Prisma.sql`
    SELECT ${columns}, d.stored_bytes FROM ${source} d
    WHERE ${conditions}
      AND ${keyset([Prisma.sql`d.created_at`, Prisma.sql`d.id`], last, page)}`
  const shownBytes = Prisma.sql`least(stored_bytes, ${maxShownBytes})`
  const rows = await tx.sql<DeliveryRow>(withinBytes(first, shownBytes))
  const attempts = await findAttempts(tx, scope, rows.slice(0, page.limit), endpoint)
  return pageOf(rows, page, deliveryList.name, creationPosition, (row) =>
    toDelivery(row, attempts, endpoint.isPaused),
  )
}

/** The deliveries that are counted at most, the newest ones: the work does not grow with the history. */
export const countedDeliveries = 100_000

export type DeliveryTotal = {
  /** `countedDeliveries` + 1 at most. */
  count: number
  /** There are older deliveries that were not read, so there may be more than `count`. */
  isPartial: boolean
}

/** How many deliveries to an endpoint of the tenant the filter selects now. */
export async function countDeliveries(
  tx: Tx,
  scope: TenantScope,
  endpointId: string,
  filter: DeliveryFilter,
  most = countedDeliveries,
): Promise<DeliveryTotal> {
  const { source, conditions } = newestDeliveries(scope, endpointId, filter, most + 1)
  const [row] = await tx.sql<DeliveryTotal>`
    SELECT (count(*) FILTER (WHERE ${conditions}))::int AS count,
      count(*) > ${most}::int AS "isPartial"
    FROM ${source} d`
  return row ?? { count: 0, isPartial: false }
}

/** How many deliveries a list with this filter has: among those that it searches. */
export async function countListed(
  tx: Tx,
  scope: TenantScope,
  endpointId: string,
  filter: DeliveryFilter,
): Promise<Count> {
  const most = isSearch(filter) ? searchedDeliveries : maxCounted
  const { count, isPartial } = await countDeliveries(tx, scope, endpointId, filter, most)
  return { rows: Math.min(count, maxCounted), more: count > maxCounted || isPartial }
}

/** A delivery of the tenant, or null if it is missing or another tenant's. */
export async function findDelivery(
  tx: Tx,
  scope: TenantScope,
  id: string,
): Promise<Delivery | null> {
  const { tenantId } = scope
  const row = await tx.delivery.findFirst({ where: { tenantId, id } })
  const endpoint = row && (await findHistory(tx, scope, row.endpointId))
  if (row === null || !endpoint) return null
  return toDelivery(row, await findAttempts(tx, scope, [row], endpoint), endpoint.isPaused)
}

/** The deliveries of one event with the URLs they go to, by endpoint; at most one for each. */
export async function listDeliveriesOf(
  tx: Tx,
  scope: TenantScope,
  eventId: string,
): Promise<(Delivery & { url: string })[]> {
  const { tenantId } = scope
  const rows = await tx.sql<DeliveryRow & { url: string; isPaused: boolean }>`
    SELECT ${columns}, e.url, s.paused IS NOT NULL AS "isPaused" FROM deliveries d
    JOIN webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
    JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
    WHERE d.tenant_id = ${tenantId}::uuid AND d.event_id = ${eventId} ORDER BY e.id`
  const attempts = await findAttempts(tx, scope, rows, {
    secretRotatedAt: null,
    lastSuccessAt: null,
  })
  return rows.map((row) => ({ ...toDelivery(row, attempts, row.isPaused), url: row.url }))
}

export type DeliveryCount = { state: DeliveryState; count: number }

/** How many deliveries of each event are in which state, by event. */
export async function countDeliveriesOf(
  tx: Tx,
  { tenantId }: TenantScope,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, DeliveryCount[]>> {
  const rows = await tx.sql<StateFacts & { eventId: string; isPaused: boolean }>`
    SELECT d.event_id AS "eventId", d.status, d.attempts, s.paused IS NOT NULL AS "isPaused"
    FROM deliveries d
    JOIN endpoint_states s ON s.tenant_id = d.tenant_id AND s.id = d.endpoint_id
    WHERE d.tenant_id = ${tenantId}::uuid AND d.event_id = ANY (${[...eventIds]}::text[])`
  const byEvent = Map.groupBy(rows, ({ eventId }) => eventId)
  return new Map(
    [...byEvent].map(([eventId, own]) => {
      const states = Map.groupBy(own, (row) => stateOf(row, row.isPaused))
      const counts = deliveryStates.map((state) => ({
        state,
        count: states.get(state)?.length ?? 0,
      }))
      return [eventId, counts.filter(({ count }) => count > 0)]
    }),
  )
}

type StateFacts = Pick<DeliveryRow, 'status' | 'attempts'>

function stateOf({ status, attempts }: StateFacts, isPaused: boolean): DeliveryState {
  if (status !== 'pending') return status as DeliveryState // deliveries_status_check
  if (isPaused) return 'paused'
  return attempts > 0 ? 'retrying' : 'waiting'
}

/** The facts about an endpoint that help to explain a failed attempt. */
type History = { secretRotatedAt: Date | null; lastSuccessAt: Date | null }

async function findHistory(tx: Tx, { tenantId }: TenantScope, id: string) {
  const [row] = await tx.sql<History & { isPaused: boolean }>`
    SELECT e.secret_rotated_at AS "secretRotatedAt", s.last_success_at AS "lastSuccessAt",
      s.paused IS NOT NULL AS "isPaused"
    FROM webhook_endpoints e JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ${id}::uuid`
  return row ?? null
}

/** The newest attempts of the deliveries, in the order they were made. */
async function findAttempts(
  tx: Tx,
  { tenantId }: TenantScope,
  deliveries: readonly DeliveryRow[],
  endpoint: History,
): Promise<Map<string, Attempt[]>> {
  const rows = await tx.sql<AttemptRow>`
    SELECT a.delivery_id AS "deliveryId", a.series, a.number, a.started_at AS "startedAt",
      a.duration_ms AS "durationMs", a.status_code AS "statusCode", a.error, a.cause,
      a.response_excerpt AS "responseExcerpt"
    FROM unnest(${deliveries.map(({ id }) => id)}::uuid[]) AS shown (id)
    CROSS JOIN LATERAL (
      SELECT * FROM delivery_attempts
      WHERE tenant_id = ${tenantId}::uuid AND delivery_id = shown.id
      ORDER BY series DESC, number DESC LIMIT ${maxShownAttempts}
    ) AS a
    ORDER BY a.delivery_id, a.series, a.number`
  const attempts = new Map<string, Attempt[]>()
  for (const row of rows) {
    const made = attempts.get(row.deliveryId) ?? []
    attempts.set(row.deliveryId, [...made, toAttempt(row, endpoint)])
  }
  return attempts
}

function toDelivery(
  row: DeliveryRow,
  attempts: ReadonlyMap<string, Attempt[]>,
  isPaused: boolean,
): Delivery {
  const state = stateOf(row, isPaused)
  return {
    id: row.id,
    eventId: row.eventId,
    eventType: row.eventType,
    endpointId: row.endpointId,
    status: row.status as DeliveryStatus, // deliveries_status_check
    health: { state, failedAttempts: Math.max(row.attempts - (state === 'succeeded' ? 1 : 0), 0) },
    createdAt: row.createdAt.toISOString(),
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    attempts: attempts.get(row.id) ?? [],
  }
}

function toAttempt(row: AttemptRow, endpoint: History): Attempt {
  const { series, number, startedAt, durationMs, statusCode, error, responseExcerpt } = row
  return {
    series,
    number,
    startedAt: startedAt.toISOString(),
    durationMs,
    statusCode,
    error,
    explanation: succeeded(row) ? null : explainFailure({ ...row, ...endpoint }, 'customer'),
    responseExcerpt,
  }
}

/** The request of an attempt, for display. Signatures are not stored, so it has none. */
export type SentRequest = {
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  /** Byte for byte. */
  body: string
  profile: SignatureProfile
}

/** The request of a delivery of the tenant, as its next attempt would send it. */
export async function findSentRequest(
  tx: Tx,
  { tenantId }: TenantScope,
  { eventId, endpointId }: Pick<Delivery, 'eventId' | 'endpointId'>,
): Promise<SentRequest | null> {
  const event = await tx.outboundEvent.findFirst({
    where: { tenantId, id: eventId },
    select: { body: true },
  })
  const endpoint = await tx.webhookEndpoint.findFirst({
    where: { tenantId, id: endpointId },
    select: { url: true, signature: true, thin: true },
  })
  if (event === null || endpoint === null) return null
  const headers = {
    ...ownHeaders,
    'webhook-id': eventId,
    'webhook-timestamp': '<Unix seconds of the attempt>',
    'webhook-signature': 'v1,<base64, different for each attempt>',
  }
  return {
    url: endpoint.url,
    body: endpoint.thin ? thinBody(event.body) : event.body,
    headers: Object.entries(headers),
    profile: endpoint.signature as SignatureProfile, // webhook_endpoints_signature_check
  }
}
