import type { TenantScope } from '#src/access/caller.ts'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { randomId } from '#src/crypto/hash.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { creationForms, creationPosition, keyset, timeOfMicroseconds } from '#src/db/keyset.ts'
import { ofRow } from '#src/db/sql.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { requireEventTypes } from '#src/webhooks/events/app-types.ts'
import type { Forecast } from '#src/webhooks/health/forecast.ts'
import {
  countedDue,
  describeHealth,
  type Health,
  type HealthFacts,
} from '#src/webhooks/health/health.ts'
import { noOutage } from '#src/webhooks/health/state.ts'
import type { RateLimit } from '#src/webhooks/schedule/rate-limit.ts'
import { sealEndpointSecret } from '#src/webhooks/signing/secrets.ts'
import { newEndpointSecret, type SignatureProfile } from '#src/webhooks/signing/signature.ts'

/** The fields of an endpoint that a customer sets. */
export type EndpointFacts = {
  /** As `readEndpointUrl` returned it. */
  url: string
  description: string | null
  /** Null for every type. */
  eventTypes: string[] | null
  signature: SignatureProfile
  /** Deliveries beyond it wait; null for no limit. */
  rateLimit: RateLimit | null
  /** `thin`: only the id of an object is sent, for receivers that fetch what they need. */
  payload: 'full' | 'thin'
  /** Whether it gets trial deliveries while it is disabled. */
  recoverWhenDisabled: boolean
}

/** An endpoint as its tenant sees it. Times are RFC 3339 in UTC. */
export type Endpoint = EndpointFacts & {
  id: string
  status: 'active' | 'failing' | 'disabled' | 'paused'
  createdAt: string
  failingSince: string | null
  disabledAt: string | null
  pausedAt: string | null
  health: Health
  /** Warnings that it may fail soon. */
  forecasts: Forecast[]
}

export type IdleEndpoint = Endpoint & { status: 'disabled' | 'paused' }

/** Whether no delivery is sent to the endpoint at present. */
export function isIdle(endpoint: Endpoint): endpoint is IdleEndpoint {
  return endpoint.status === 'disabled' || endpoint.status === 'paused'
}

/** Endpoints a tenant may have. Every event makes one delivery for each. */
export const maxEndpoints = 50

/** Why an endpoint cannot be, in words. */
export const endpointRefusals = {
  full: `A tenant has at most ${maxEndpoints} endpoints.`,
  // Otherwise one change would be many requests to somebody who may not have asked for any.
  'url-taken': 'Another endpoint of the tenant has this URL.',
}

export type EndpointRefusal = keyof typeof endpointRefusals

export const endpointList = { name: 'webhook-endpoints', forms: creationForms }

/** The columns an Endpoint is made from, of `e` and its state `s`. The secrets are not among them. */
const shown = Prisma.sql`
  e.id, e.url, e.description, e.all_event_types AS "allEventTypes", e.event_types AS "eventTypes",
  e.signature, e.rate_per_second AS "ratePerSecond", e.rate_burst AS "rateBurst", e.thin,
  e.recover_when_disabled AS "recoverWhenDisabled", e.created_at AS "createdAt",
  e.secret_rotated_at AS "secretRotatedAt", s.status, s.enabled_at AS "enabledAt",
  s.failing_since AS "failingSince", s.disabled_at AS "disabledAt",
  s.paused, s.paused_at AS "pausedAt",
  s.healthy_since AS "healthySince", s.retrying_since AS "retryingSince",
  s.recovering_since AS "recoveringSince", s.recovery_step AS "recoveryStep",
  s.failure_status AS "failureStatus", s.failure_cause AS "failureCause",
  s.last_success_at AS "lastSuccessAt", s.forecasts,
  (SELECT count(*) FILTER (WHERE first.number > 1)::int FROM (
    SELECT a.number FROM due_attempts a
    WHERE a.tenant_id = e.tenant_id AND a.endpoint_id = e.id
    ORDER BY a.due_at LIMIT ${countedDue}) first) AS retrying`

const withState = Prisma.sql`
  webhook_endpoints e JOIN endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id`

type EndpointRow = HealthFacts &
  Pick<EndpointFacts, 'url' | 'description' | 'recoverWhenDisabled'> & {
    id: string
    allEventTypes: boolean
    eventTypes: string[]
    signature: string
    ratePerSecond: number | null
    rateBurst: number | null
    thin: boolean
    createdAt: Date
    /** As workForecast wrote them. */
    forecasts: Forecast[]
  }

/**
 * Creates an endpoint in the tenant of `by`.
 * @returns the endpoint with its secret, which is not shown again
 */
export async function createEndpoint(
  tx: Tx,
  by: Actor,
  facts: EndpointFacts,
  { keys, now }: { keys: EncryptionKeys; now: Date },
): Promise<(Endpoint & { secret: string }) | EndpointRefusal> {
  const { tenantId } = by
  await requireEventTypes(tx, facts.eventTypes ?? [])
  // Without the lock, two requests at once could both see room for one more.
  await lockUntilCommit(tx, 'webhook-endpoints', tenantId)
  const present = await tx.webhookEndpoint.findMany({ where: { tenantId }, select: { url: true } })
  if (present.length >= maxEndpoints) return 'full'
  if (present.some(({ url }) => url === facts.url)) return 'url-taken'
  const id = randomId()
  const secret = newEndpointSecret()
  const sealed = sealEndpointSecret(keys, { tenantId, id }, secret)
  const { url, description, signature, rateLimit, payload, recoverWhenDisabled } = facts
  const types = facts.eventTypes ?? []
  const rows = await tx.sql<EndpointRow>`
    WITH endpoint AS (
      INSERT INTO webhook_endpoints (tenant_id, id, url, description, all_event_types, event_types,
        signature, secret, rate_per_second, rate_burst, thin, recover_when_disabled, created_at, updated_at)
      VALUES (${tenantId}::uuid, ${id}::uuid, ${url}, ${description}, ${facts.eventTypes === null},
        ${types}::text[], ${signature}, ${sealed}, ${rateLimit?.perSecond ?? null}::int,
        ${rateLimit?.burst ?? null}::int, ${payload === 'thin'}, ${recoverWhenDisabled}, ${now}, ${now})
      RETURNING *
    ), state AS (
      INSERT INTO endpoint_states (tenant_id, id, enabled_at)
      VALUES (${tenantId}::uuid, ${id}::uuid, ${now}) RETURNING *
    )
    SELECT ${shown} FROM endpoint e CROSS JOIN state s`
  await recordChange(tx, by, { action: 'endpoint-create', reason: 'own-request', target: id })
  return { ...toEndpoint(rows[0] as EndpointRow), secret }
}

/** The endpoints of the tenant, newest first. */
export async function listEndpoints(tx: Tx, { tenantId }: TenantScope, page: Page) {
  // `createEndpoint` writes `created_at` from the clock, in whole milliseconds.
  const [millis, id] = page.after ?? []
  const last =
    millis === undefined || id === undefined
      ? null
      : [timeOfMicroseconds(`${millis}000`), Prisma.sql`${id}::uuid`]
  const rows = await tx.sql<EndpointRow>`
    SELECT ${shown} FROM ${withState}
    WHERE e.tenant_id = ${tenantId}::uuid
      AND ${keyset([Prisma.sql`e.created_at`, Prisma.sql`e.id`], last, page)}`
  return pageOf(rows, page, endpointList.name, creationPosition, toEndpoint)
}

/** An endpoint of the tenant, or null if it is missing or another tenant's. */
export async function findEndpoint(tx: Tx, { tenantId }: TenantScope, id: string) {
  const [row] = await tx.sql<EndpointRow>`
    SELECT ${shown} FROM ${withState}
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ${id}::uuid`
  return row === undefined ? null : toEndpoint(row)
}

/** The same, locked until the transaction ends. */
export async function lockEndpoint(tx: Tx, scope: TenantScope, id: string) {
  await tx.sql`
    SELECT 1 FROM webhook_endpoints
    WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`
  return findEndpoint(tx, scope, id)
}

/** The encrypted secrets of an endpoint of the tenant; null if it is missing or foreign. */
export async function findEndpointSecrets(tx: Tx, { tenantId }: TenantScope, id: string) {
  return tx.webhookEndpoint.findFirst({
    where: { tenantId, id },
    select: {
      tenantId: true,
      id: true,
      secret: true,
      previousSecret: true,
      previousSecretExpiresAt: true,
    },
  })
}

/** Changes the given fields of an endpoint; null if it is missing or another tenant's. */
export async function changeEndpoint(
  tx: Tx,
  by: Actor,
  id: string,
  change: Partial<EndpointFacts>,
  now: Date,
): Promise<Endpoint | null | 'url-taken'> {
  const { tenantId } = by
  await requireEventTypes(tx, change.eventTypes ?? [])
  if (change.url !== undefined) {
    await lockUntilCommit(tx, 'webhook-endpoints', tenantId)
    const others = { where: { tenantId, url: change.url, id: { not: id } } }
    if ((await tx.webhookEndpoint.count(others)) > 0) return 'url-taken'
  }
  const where = { tenantId, id }
  const data = { ...columnsOf(change), updatedAt: now }
  const { count } = await tx.webhookEndpoint.updateMany({ where, data })
  if (count === 0) return null
  const state = stateAfter(change)
  if (state !== null) await tx.endpointState.updateMany({ where, data: state })
  const reason = Object.keys(change).toSorted().join()
  await recordChange(tx, by, { action: 'endpoint-change', reason, target: id })
  return findEndpoint(tx, by, id)
}

/**
 * Deletes an endpoint; a worker deletes its deliveries. False if it is missing or another tenant's.
 */
export async function deleteEndpoint(tx: Tx, by: Actor, id: string): Promise<boolean> {
  const statement = Prisma.sql`
    SELECT delete_endpoint(${by.tenantId}::uuid, ${id}::uuid) AS deleted`
  const access = { does: 'delete', table: 'webhook_endpoints', selected: 'deleted' } as const
  const [row] = await tx.sql<{ deleted: boolean }>(ofRow(statement, access))
  if (row?.deleted !== true) return false
  await recordChange(tx, by, { action: 'endpoint-delete', reason: 'own-request', target: id })
  return true
}

/**
 * Makes a failing or disabled endpoint active again; earlier failures no longer count. An active
 * one stays as it is. Null if it is missing or another tenant's.
 */
export async function enableEndpoint(
  tx: Tx,
  by: Actor,
  id: string,
  now: Date,
): Promise<Endpoint | null> {
  const { tenantId } = by
  // First, because an endpoint is locked before its state.
  await tx.sql`
    UPDATE webhook_endpoints e SET updated_at = ${now} FROM endpoint_states s
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ${id}::uuid
      AND s.tenant_id = e.tenant_id AND s.id = e.id AND s.status <> 'active'`
  const { count } = await tx.endpointState.updateMany({
    where: { tenantId, id, status: { not: 'active' } },
    data: {
      status: 'active',
      enabledAt: now,
      disabledAt: null,
      ...noOutage,
      retryingSince: null,
      failureStatus: null,
      failureCause: null,
    },
  })
  if (count > 0) {
    await recordChange(tx, by, { action: 'endpoint-enable', reason: 'own-request', target: id })
  }
  return findEndpoint(tx, by, id)
}

/** How long the previous secret still signs after a rotation (contract 7). */
export const overlapSeconds = { default: 86_400, maximum: 604_800 }

export type RotatedEndpoint = Endpoint & {
  /** Not shown again. */
  secret: string
  /** When the previous secret stops signing; null if it already has. */
  previousSecretExpiresAt: string | null
}

/**
 * Gives the endpoint a new secret. The previous one signs as well for `overlap` seconds. At most
 * two secrets sign: a rotation during an overlap stops the older one at once.
 * @returns null if the endpoint is missing or another tenant's
 */
export async function rotateSecret(
  tx: Tx,
  by: Actor,
  id: string,
  { keys, now, overlap }: { keys: EncryptionKeys; now: Date; overlap: number },
): Promise<RotatedEndpoint | null> {
  const endpoint = await findEndpoint(tx, by, id)
  if (endpoint === null) return null
  const secret = newEndpointSecret()
  // Bound to the id as it is stored, which is how the worker reads it.
  const sealed = sealEndpointSecret(keys, { tenantId: by.tenantId, id: endpoint.id }, secret)
  const expiresAt = overlap === 0 ? null : new Date(now.getTime() + overlap * 1_000)
  // One statement, so that two rotations at once cannot both keep the same previous secret.
  const rotated = await tx.sql`
    UPDATE webhook_endpoints SET
      secret = ${sealed},
      previous_secret = CASE WHEN ${expiresAt}::timestamptz IS NOT NULL THEN secret END,
      previous_secret_expires_at = ${expiresAt}::timestamptz,
      secret_rotated_at = ${now},
      updated_at = ${now}
    WHERE tenant_id = ${by.tenantId}::uuid AND id = ${id}::uuid
    RETURNING id`
  if (rotated.length === 0) return null
  await recordChange(tx, by, {
    action: 'endpoint-rotate',
    reason: `overlap-${overlap}`,
    target: id,
  })
  return { ...endpoint, secret, previousSecretExpiresAt: expiresAt?.toISOString() ?? null }
}

/** What a change makes untrue in the state; null for nothing. */
function stateAfter({ url, rateLimit }: Partial<EndpointFacts>) {
  if (url === undefined && rateLimit === undefined) return null
  return {
    // These were about the receiver at the previous URL.
    ...(url !== undefined && { certificateExpiresAt: null, forecasts: [] }),
    ...(rateLimit !== undefined && { rateNextAt: null }), // a time by the previous rate
  }
}

/** The columns of the given fields. */
function columnsOf({ eventTypes, rateLimit, payload, ...fields }: Partial<EndpointFacts>) {
  return {
    ...fields,
    ...(eventTypes !== undefined && {
      allEventTypes: eventTypes === null,
      eventTypes: eventTypes ?? [],
    }),
    ...(rateLimit !== undefined && {
      ratePerSecond: rateLimit?.perSecond ?? null,
      rateBurst: rateLimit?.burst ?? null,
    }),
    ...(payload !== undefined && { thin: payload === 'thin' }),
  }
}

function toEndpoint(row: EndpointRow): Endpoint {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    eventTypes: row.allEventTypes ? null : row.eventTypes,
    // The schemas of the routes and a check of the table allow no other values.
    signature: row.signature as SignatureProfile,
    rateLimit:
      row.ratePerSecond === null || row.rateBurst === null
        ? null
        : { perSecond: row.ratePerSecond, burst: row.rateBurst },
    payload: row.thin ? 'thin' : 'full',
    recoverWhenDisabled: row.recoverWhenDisabled,
    status: row.paused === null ? row.status : 'paused',
    createdAt: row.createdAt.toISOString(),
    failingSince: row.failingSince?.toISOString() ?? null,
    disabledAt: row.disabledAt?.toISOString() ?? null,
    pausedAt: row.pausedAt?.toISOString() ?? null,
    health: describeHealth(row),
    forecasts: row.forecasts,
  }
}
