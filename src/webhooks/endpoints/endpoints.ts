import type { TenantScope } from '#src/access/caller.ts'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { randomId } from '#src/crypto/hash.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/database.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { byCreation, creationForms, creationPosition } from '#src/db/keyset.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import type { EventType } from '#src/webhooks/events/types.ts'
import type { Forecast } from '#src/webhooks/health/forecast.ts'
import { describeHealth, type Health } from '#src/webhooks/health/health.ts'
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
  eventTypes: EventType[] | null
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
  status: 'active' | 'failing' | 'disabled'
  createdAt: string
  failingSince: string | null
  disabledAt: string | null
  health: Health
  /** Warnings that it may fail soon. */
  forecasts: Forecast[]
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

/** The columns an Endpoint is made from. The secrets are not among them. */
const shown = {
  id: true,
  url: true,
  description: true,
  allEventTypes: true,
  eventTypes: true,
  signature: true,
  ratePerSecond: true,
  rateBurst: true,
  thin: true,
  recoverWhenDisabled: true,
  status: true,
  createdAt: true,
  enabledAt: true,
  failingSince: true,
  disabledAt: true,
  healthySince: true,
  retryingSince: true,
  recoveringSince: true,
  recoveryStep: true,
  failureStatus: true,
  failureCause: true,
  lastSuccessAt: true,
  secretRotatedAt: true,
  forecasts: true,
} as const satisfies Prisma.WebhookEndpointSelect

type EndpointRow = Prisma.WebhookEndpointGetPayload<{ select: typeof shown }>

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
  // Without the lock, two requests at once could both see room for one more.
  await lockUntilCommit(tx, 'webhook-endpoints', tenantId)
  const present = await tx.webhookEndpoint.findMany({ where: { tenantId }, select: { url: true } })
  if (present.length >= maxEndpoints) return 'full'
  if (present.some(({ url }) => url === facts.url)) return 'url-taken'
  const id = randomId()
  const secret = newEndpointSecret()
  const row = await tx.webhookEndpoint.create({
    data: {
      tenantId,
      id,
      ...columnsOf(facts),
      url: facts.url,
      signature: facts.signature,
      secret: new Uint8Array(sealEndpointSecret(keys, { tenantId, id }, secret)),
      createdAt: now,
      updatedAt: now,
      enabledAt: now,
    },
    select: shown,
  })
  await recordChange(tx, by, { action: 'endpoint-create', reason: 'own-request', target: id })
  return { ...toEndpoint(row), secret }
}

/** The endpoints of the tenant, newest first. */
export async function listEndpoints(tx: Tx, { tenantId }: TenantScope, page: Page) {
  const { where, ...order } = byCreation(page)
  const rows = await tx.webhookEndpoint.findMany({
    where: { tenantId, ...where },
    ...order,
    select: shown,
  })
  return pageOf(rows, page, endpointList.name, creationPosition, toEndpoint)
}

/** An endpoint of the tenant, or null if it is missing or another tenant's. */
export async function findEndpoint(tx: Tx, { tenantId }: TenantScope, id: string) {
  const row = await tx.webhookEndpoint.findFirst({ where: { tenantId, id }, select: shown })
  return row && toEndpoint(row)
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
  if (change.url !== undefined) {
    await lockUntilCommit(tx, 'webhook-endpoints', tenantId)
    const other = { tenantId, url: change.url, id: { not: id } }
    if ((await tx.webhookEndpoint.count({ where: other })) > 0) return 'url-taken'
  }
  const [row] = await tx.webhookEndpoint.updateManyAndReturn({
    where: { tenantId, id },
    data: { ...columnsOf(change), updatedAt: now },
    select: shown,
  })
  if (row === undefined) return null
  const reason = Object.keys(change).toSorted().join()
  await recordChange(tx, by, { action: 'endpoint-change', reason, target: id })
  return toEndpoint(row)
}

/** Deletes an endpoint with its deliveries; false if it is missing or another tenant's. */
export async function deleteEndpoint(tx: Tx, by: Actor, id: string): Promise<boolean> {
  const { count } = await tx.webhookEndpoint.deleteMany({ where: { tenantId: by.tenantId, id } })
  if (count === 0) return false
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
  const [row] = await tx.webhookEndpoint.updateManyAndReturn({
    where: { tenantId: by.tenantId, id, status: { not: 'active' } },
    data: {
      status: 'active',
      enabledAt: now,
      updatedAt: now,
      disabledAt: null,
      ...noOutage,
      retryingSince: null,
      failureStatus: null,
      failureCause: null,
    },
    select: shown,
  })
  if (row === undefined) return findEndpoint(tx, by, id)
  await recordChange(tx, by, { action: 'endpoint-enable', reason: 'own-request', target: id })
  return toEndpoint(row)
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

/** The columns of the given fields. */
function columnsOf({ eventTypes, rateLimit, payload, ...fields }: Partial<EndpointFacts>) {
  return {
    ...fields,
    // These were about the receiver at the previous URL.
    ...(fields.url !== undefined && { certificateExpiresAt: null, forecasts: [] }),
    ...(eventTypes !== undefined && {
      allEventTypes: eventTypes === null,
      eventTypes: eventTypes ?? [],
    }),
    ...(rateLimit !== undefined && {
      ratePerSecond: rateLimit?.perSecond ?? null,
      rateBurst: rateLimit?.burst ?? null,
      rateNextAt: null, // a time by the previous rate
    }),
    ...(payload !== undefined && { thin: payload === 'thin' }),
  }
}

function toEndpoint(row: EndpointRow): Endpoint {
  const status = row.status as Endpoint['status'] // webhook_endpoints_status_check
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    // The schemas of the routes and the checks of the table allow no other values in these two.
    eventTypes: row.allEventTypes ? null : (row.eventTypes as EventType[]),
    signature: row.signature as SignatureProfile,
    rateLimit:
      row.ratePerSecond === null || row.rateBurst === null
        ? null
        : { perSecond: row.ratePerSecond, burst: row.rateBurst },
    payload: row.thin ? 'thin' : 'full',
    recoverWhenDisabled: row.recoverWhenDisabled,
    status,
    createdAt: row.createdAt.toISOString(),
    failingSince: row.failingSince?.toISOString() ?? null,
    disabledAt: row.disabledAt?.toISOString() ?? null,
    health: describeHealth({ ...row, status }),
    forecasts: row.forecasts as Forecast[], // as workForecast wrote them
  }
}
