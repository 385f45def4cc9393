import type { TenantScope } from '#src/access/caller.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, timeConditions } from '#src/db/keyset.ts'
import type { DeliveryStatus } from './deliveries.ts'

/** What a list of deliveries, their number or a replay is limited to. */
export type DeliveryFilter = TimeRange & {
  status?: DeliveryStatus | undefined
  eventType?: string | undefined
  /** The delivery of one event. */
  eventId?: string | undefined
  /** `httpStatusPattern`: of the latest attempt. */
  httpStatus?: string | undefined
  /** Only these deliveries. */
  ids?: readonly string[] | undefined
}

/** An HTTP status, a class of them, or `none` for attempts without a response. */
export const httpStatusPattern = '^([1-5][0-9]{2}|[1-5]xx|none)$'

/** The classes that the page offers. */
export const httpStatusClasses = ['2xx', '3xx', '4xx', '5xx', 'none'] as const

/**
 * The columns of a delivery after an attempt; 0 is no response. The indexed ones are null for 2xx, so
 * that most deliveries never change them.
 */
export function statusColumns(statusCode: number | null) {
  const httpStatus = statusCode ?? 0
  const httpClass = Math.floor(httpStatus / 100)
  const isUsual = httpClass === 2
  return {
    httpStatus,
    unusualStatus: isUsual ? null : httpStatus,
    unusualClass: isUsual ? null : httpClass,
  }
}

/** Conditions on `deliveries d`: those to an endpoint of the tenant that the filter selects. */
export function deliveryConditions(
  { tenantId }: TenantScope,
  endpointId: string,
  { status, eventType, eventId, httpStatus, ids, ...range }: DeliveryFilter,
): Prisma.Sql {
  const conditions = [
    Prisma.sql`d.tenant_id = ${tenantId}::uuid`,
    Prisma.sql`d.endpoint_id = ${endpointId}::uuid`,
    ...(status === undefined ? [] : [Prisma.sql`d.status = ${status}`]),
    ...(eventType === undefined ? [] : [Prisma.sql`d.event_type = ${eventType}`]),
    ...(eventId === undefined ? [] : [Prisma.sql`d.event_id = ${eventId}`]),
    ...(httpStatus === undefined ? [] : [httpStatusCondition(httpStatus)]),
    ...(ids === undefined ? [] : [Prisma.sql`d.id = ANY (${[...ids]}::uuid[])`]),
    ...timeConditions(Prisma.sql`d.created_at`, range),
  ]
  return Prisma.join(conditions, ' AND ')
}

/**
 * The condition names the predicate of the partial indexes. Deliveries with 2xx, which are most, are
 * found by their time.
 */
function httpStatusCondition(httpStatus: string): Prisma.Sql {
  if (httpStatus === '2xx') return Prisma.sql`(d.unusual_status IS NULL AND d.stored_attempts > 0)`
  const isClass = httpStatus === 'none' || httpStatus.endsWith('xx')
  const value = httpStatus === 'none' ? 0 : Number(isClass ? httpStatus[0] : httpStatus)
  if (isClass) {
    return Prisma.sql`d.unusual_class IS NOT NULL AND d.unusual_class = ${value}::int`
  }
  return httpStatus.startsWith('2')
    ? Prisma.sql`(d.unusual_status IS NULL AND d.http_status = ${value}::int)`
    : Prisma.sql`d.unusual_status IS NOT NULL AND d.unusual_status = ${value}::int`
}
