import type { TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'
import { ownHeaders } from '#src/webhooks/client/client.ts'
import type { EventType } from '#src/webhooks/events/types.ts'
import { succeeded } from './attempt.ts'
import { explainFailure } from './explain.ts'

export const deliveryStatuses = ['pending', 'succeeded', 'exhausted'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** One event for one endpoint, with every attempt so far. Times are RFC 3339 in UTC. */
export type Delivery = {
  id: string
  eventId: string
  eventType: string
  endpointId: string
  status: DeliveryStatus
  createdAt: string
  nextAttemptAt: string | null
  attempts: Attempt[]
}

export type Attempt = {
  /** 0 is the schedule, each manual request begins the next one. */
  series: number
  number: number
  startedAt: string
  durationMs: number
  statusCode: number | null
  error: string | null
  /** Why it failed and what to do; null for one that went well. */
  explanation: string | null
  responseExcerpt: string | null
}

export type DeliveryFilter = {
  status?: DeliveryStatus | undefined
  eventType?: EventType | undefined
}

export const deliveryList = { name: 'deliveries', forms: newestFirstForms }

type DeliveryRow = {
  id: string
  event_id: string
  event_type: string
  endpoint_id: string
  status: DeliveryStatus
  created_at: Date
  next_attempt_at: Date | null
}

const deliveryColumns = Prisma.sql`
  id, event_id, event_type, endpoint_id, status, created_at, next_attempt_at`

/** Deliveries to an endpoint of the tenant, newest first; null when the endpoint is not theirs. */
export async function listDeliveries(
  tx: Tx,
  scope: TenantScope,
  endpointId: string,
  filter: DeliveryFilter,
  page: Page,
) {
  const endpoint = await findHistory(tx, scope, endpointId)
  if (endpoint === null) return null
  const rows = await tx.$queryRaw<(DeliveryRow & { position: string })[]>`
    SELECT ${deliveryColumns}, (extract(epoch FROM created_at) * 1000000)::bigint::text AS position
    FROM deliveries
    WHERE tenant_id = ${scope.tenantId}::uuid AND endpoint_id = ${endpointId}::uuid
      AND ${equals('status', filter.status)} AND ${equals('event_type', filter.eventType)}
      AND ${newestFirst(page)}`
  const shown = rows.slice(0, page.limit)
  const attempts = await findAttempts(tx, scope, shown, endpoint)
  return pageOf(
    rows,
    page,
    deliveryList.name,
    (row) => [row.position, row.id],
    (row) => toDelivery(row, attempts),
  )
}

/** A delivery of the tenant, or null: missing and not theirs are the same. */
export async function findDelivery(
  tx: Tx,
  scope: TenantScope,
  id: string,
): Promise<Delivery | null> {
  const [row] = await tx.$queryRaw<DeliveryRow[]>`
    SELECT ${deliveryColumns} FROM deliveries
    WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id}::uuid`
  const endpoint = row && (await findHistory(tx, scope, row.endpoint_id))
  return row && endpoint ? toDelivery(row, await findAttempts(tx, scope, [row], endpoint)) : null
}

/** What of an endpoint's past helps to explain a failure. */
type History = { secretRotatedAt: Date | null; lastSuccessAt: Date | null }

function findHistory(tx: Tx, { tenantId }: TenantScope, id: string): Promise<History | null> {
  return tx.webhookEndpoint.findFirst({
    where: { tenantId, id },
    select: { secretRotatedAt: true, lastSuccessAt: true },
  })
}

/** Every attempt of the deliveries, in the order they were made. */
async function findAttempts(
  tx: Tx,
  { tenantId }: TenantScope,
  deliveries: readonly DeliveryRow[],
  endpoint: History,
): Promise<Map<string, Attempt[]>> {
  const rows = await tx.deliveryAttempt.findMany({
    where: { tenantId, deliveryId: { in: deliveries.map(({ id }) => id) } },
    orderBy: [{ deliveryId: 'asc' }, { series: 'asc' }, { number: 'asc' }],
  })
  const attempts = new Map<string, Attempt[]>()
  for (const row of rows) {
    const made = attempts.get(row.deliveryId) ?? []
    attempts.set(row.deliveryId, [...made, toAttempt(row, endpoint)])
  }
  return attempts
}

function toDelivery(row: DeliveryRow, attempts: ReadonlyMap<string, Attempt[]>): Delivery {
  return {
    id: row.id,
    eventId: row.event_id,
    eventType: row.event_type,
    endpointId: row.endpoint_id,
    status: row.status,
    createdAt: row.created_at.toISOString(),
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
    attempts: attempts.get(row.id) ?? [],
  }
}

function toAttempt(row: Prisma.DeliveryAttemptGetPayload<object>, endpoint: History): Attempt {
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

function equals(column: 'status' | 'event_type', value: string | undefined): Prisma.Sql {
  return value === undefined ? Prisma.sql`true` : Prisma.sql`${Prisma.raw(column)} = ${value}`
}

/** What an attempt sends, as a person reads it: the signature is of each attempt and not kept. */
export type SentRequest = {
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  /** To the byte. */
  body: string
}

/** The request behind a delivery of the tenant, as its next attempt would make it. */
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
    select: { url: true },
  })
  if (event === null || endpoint === null) return null
  const headers = {
    ...ownHeaders,
    'webhook-id': eventId,
    'webhook-timestamp': '<seconds of the attempt, Unix time>',
    'webhook-signature': 'v1,<base64, made anew for each attempt>',
  }
  return { ...endpoint, ...event, headers: Object.entries(headers) }
}
