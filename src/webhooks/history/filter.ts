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
  scope: TenantScope,
  endpointId: string,
  filter: DeliveryFilter,
): Prisma.Sql {
  const { indexed, others } = conditionsOf(scope, endpointId, filter)
  return Prisma.join([...indexed, ...others], ' AND ')
}

/**
 * The same for a statement that must not read a whole history: of the deliveries that an index finds, only
 * the newest are compared with the filters that have none.
 * @param most how many of them
 */
export function newestDeliveries(
  scope: TenantScope,
  endpointId: string,
  filter: DeliveryFilter,
  most: number,
): { readonly source: Prisma.Sql; readonly conditions: Prisma.Sql } {
  const { indexed, others } = conditionsOf(scope, endpointId, filter)
  const source = Prisma.sql`(
    SELECT d.* FROM deliveries d WHERE ${Prisma.join(indexed, ' AND ')}
    ORDER BY d.created_at DESC LIMIT ${most}::int)`
  return { source, conditions: Prisma.join([Prisma.sql`true`, ...others], ' AND ') }
}

/** Whether a list with this filter finds only what is among the newest `searchedDeliveries`. */
export function isSearch({ status, eventType, httpStatus }: DeliveryFilter): boolean {
  return status !== undefined || eventType !== undefined || isUsual(httpStatus)
}

/** The newest deliveries of an endpoint that a list compares with the filters that have no index. */
export const searchedDeliveries = 10_000

/** Conditions on `deliveries d`: those that an index finds, and the others. */
export function conditionsOf(
  { tenantId }: TenantScope,
  endpointId: string,
  { status, eventType, eventId, httpStatus, ids, ...range }: DeliveryFilter,
) {
  const ofHttp = httpStatus === undefined ? [] : [httpStatusCondition(httpStatus)]
  const indexed = [
    Prisma.sql`d.tenant_id = ${tenantId}::uuid`,
    Prisma.sql`d.endpoint_id = ${endpointId}::uuid`,
    ...(eventId === undefined ? [] : [Prisma.sql`d.event_id = ${eventId}`]),
    ...(ids === undefined ? [] : [Prisma.sql`d.id = ANY (${[...ids]}::uuid[])`]),
    ...(isUsual(httpStatus) ? [] : ofHttp),
    ...timeConditions(Prisma.sql`d.created_at`, range),
  ]
  const others = [
    ...(status === undefined ? [] : [Prisma.sql`d.status = ${status}`]),
    ...(eventType === undefined ? [] : [Prisma.sql`d.event_type = ${eventType}`]),
    ...(isUsual(httpStatus) ? ofHttp : []),
  ]
  return { indexed, others }
}

function isUsual(httpStatus: string | undefined): boolean {
  return httpStatus?.startsWith('2') === true
}

/**
 * The condition names the predicate of the partial indexes. Deliveries with 2xx, which are most, have no
 * index by it.
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
