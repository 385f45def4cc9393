import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { randomId } from '#src/crypto/hash.ts'
import type { TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'
import { newEndpointSecret, type SignatureProfile } from '#src/webhooks/delivery/signature.ts'
import type { EventType } from '#src/webhooks/events/types.ts'
import { sealEndpointSecret } from './secrets.ts'

/** What a customer says of an endpoint. `eventTypes` null: every kind. */
export type EndpointFacts = {
  /** As the guard has read it. */
  url: string
  description: string | null
  eventTypes: EventType[] | null
  signature: SignatureProfile
}

/** An endpoint as its tenant sees it. Times are RFC 3339 in UTC. */
export type Endpoint = EndpointFacts & {
  id: string
  status: 'active' | 'failing' | 'disabled'
  createdAt: string
  failingSince: string | null
  disabledAt: string | null
}

/** A tenant has so many endpoints at most: each is one more delivery of every event. */
export const maxEndpoints = 50

export const endpointList = { name: 'webhook-endpoints', forms: newestFirstForms }

export type EndpointRow = {
  id: string
  url: string
  description: string | null
  event_types: EventType[] | null
  signature: SignatureProfile
  status: Endpoint['status']
  created_at: Date
  failing_since: Date | null
  disabled_at: Date | null
}

/** The columns of an EndpointRow; the secrets are not among them. */
const endpointColumns = Prisma.sql`
  id, url, description, event_types, signature, status, created_at, failing_since, disabled_at`

/**
 * Makes an endpoint in the tenant of `by`.
 * @returns the endpoint with its secret, which is shown this once; null when there is no room
 */
export async function createEndpoint(
  tx: Tx,
  by: Actor,
  { url, description, eventTypes, signature }: EndpointFacts,
  { keys, now }: { keys: EncryptionKeys; now: Date },
): Promise<(Endpoint & { secret: string }) | null> {
  // Those who make endpoints of a tenant at once take turns, so that the count holds.
  await tx.$executeRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${`webhook-endpoints ${by.tenantId}`}, 0))`
  if ((await countEndpoints(tx, by)) >= maxEndpoints) return null
  const id = randomId()
  const secret = newEndpointSecret()
  const sealed = sealEndpointSecret(keys, { tenantId: by.tenantId, id }, secret)
  const rows = await tx.$queryRaw<EndpointRow[]>`
    INSERT INTO webhook_endpoints (tenant_id, id, url, description, event_types, signature, secret,
                                   created_at, updated_at, enabled_at)
    VALUES (${by.tenantId}::uuid, ${id}::uuid, ${url}, ${description}, ${eventTypes}::text[],
            ${signature}, ${sealed}, ${now}, ${now}, ${now})
    RETURNING ${endpointColumns}`
  await recordChange(tx, by, { action: 'endpoint-create', reason: 'own-request', target: id })
  return { ...toEndpoint(rows[0]), secret }
}

/** The tenant's endpoints, newest first. */
export async function listEndpoints(tx: Tx, scope: TenantScope, page: Page) {
  const rows = await tx.$queryRaw<(EndpointRow & { position: string })[]>`
    SELECT ${endpointColumns}, (extract(epoch FROM created_at) * 1000000)::bigint::text AS position
    FROM webhook_endpoints WHERE tenant_id = ${scope.tenantId}::uuid AND ${newestFirst(page)}`
  return pageOf(rows, page, endpointList.name, (row) => [row.position, row.id], toEndpoint)
}

/** An endpoint of the tenant, or null: missing and not theirs are the same. */
export async function findEndpoint(tx: Tx, scope: TenantScope, id: string) {
  const [row] = await tx.$queryRaw<EndpointRow[]>`
    SELECT ${endpointColumns} FROM webhook_endpoints
    WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id}::uuid`
  return row === undefined ? null : toEndpoint(row)
}

/** Changes what is given and leaves the rest; null when it is missing or not theirs. */
export async function changeEndpoint(
  tx: Tx,
  by: Actor,
  id: string,
  change: Partial<EndpointFacts>,
  now: Date,
): Promise<Endpoint | null> {
  const { url, description, eventTypes, signature } = change
  const [row] = await tx.$queryRaw<EndpointRow[]>`
    UPDATE webhook_endpoints SET
      url = COALESCE(${url ?? null}, url),
      description = ${description === undefined ? Prisma.sql`description` : description},
      event_types = ${eventTypes === undefined ? Prisma.sql`event_types` : Prisma.sql`${eventTypes}::text[]`},
      signature = COALESCE(${signature ?? null}, signature),
      updated_at = ${now}
    WHERE tenant_id = ${by.tenantId}::uuid AND id = ${id}::uuid
    RETURNING ${endpointColumns}`
  if (row === undefined) return null
  const fields = Object.keys(change).toSorted().join()
  await recordChange(tx, by, { action: 'endpoint-change', reason: fields, target: id })
  return toEndpoint(row)
}

/** Removes an endpoint with its deliveries; false when it is missing or not theirs. */
export async function deleteEndpoint(tx: Tx, by: Actor, id: string): Promise<boolean> {
  const { count } = await tx.webhookEndpoint.deleteMany({ where: { tenantId: by.tenantId, id } })
  if (count === 0) return false
  await recordChange(tx, by, { action: 'endpoint-delete', reason: 'own-request', target: id })
  return true
}

async function countEndpoints(tx: Tx, { tenantId }: TenantScope): Promise<number> {
  return tx.webhookEndpoint.count({ where: { tenantId } })
}

function toEndpoint(row: EndpointRow | undefined): Endpoint {
  if (row === undefined) throw new Error('the endpoint was not written')
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    eventTypes: row.event_types,
    signature: row.signature,
    status: row.status,
    createdAt: row.created_at.toISOString(),
    failingSince: row.failing_since?.toISOString() ?? null,
    disabledAt: row.disabled_at?.toISOString() ?? null,
  }
}

/**
 * Begins a new life of a failing or disabled endpoint: what failed before counts no more. One that
 * is active stays as it is. Null when it is missing or not theirs.
 */
export async function enableEndpoint(
  tx: Tx,
  by: Actor,
  id: string,
  now: Date,
): Promise<Endpoint | null> {
  const [row] = await tx.$queryRaw<EndpointRow[]>`
    UPDATE webhook_endpoints SET status = 'active', enabled_at = ${now}, updated_at = ${now},
      failing_since = NULL, disabled_at = NULL
    WHERE tenant_id = ${by.tenantId}::uuid AND id = ${id}::uuid AND status <> 'active'
    RETURNING ${endpointColumns}`
  if (row === undefined) return findEndpoint(tx, by, id)
  await recordChange(tx, by, { action: 'endpoint-enable', reason: 'own-request', target: id })
  return toEndpoint(row)
}

/** How long the secret before signs too: a day unless said otherwise, a week at most (contract 7). */
export const overlapSeconds = { default: 86_400, maximum: 604_800 }

export type RotatedEndpoint = Endpoint & {
  /** Shown this once. */
  secret: string
  /** Until when the secret before signs too; null when it has stopped. */
  previousSecretExpiresAt: string | null
}

/**
 * Gives the endpoint a new secret; the one before signs too for `overlap` seconds. Two at most sign
 * at any time: rotated again within an overlap, the oldest stops at once.
 * @returns null when the endpoint is missing or not theirs
 */
export async function rotateSecret(
  tx: Tx,
  by: Actor,
  id: string,
  { keys, now, overlap }: { keys: EncryptionKeys; now: Date; overlap: number },
): Promise<RotatedEndpoint | null> {
  const secret = newEndpointSecret()
  const sealed = sealEndpointSecret(keys, { tenantId: by.tenantId, id }, secret)
  const expiresAt = overlap === 0 ? null : new Date(now.getTime() + overlap * 1_000)
  const [row] = await tx.$queryRaw<EndpointRow[]>`
    UPDATE webhook_endpoints SET
      secret = ${sealed},
      previous_secret = CASE WHEN ${expiresAt}::timestamptz IS NOT NULL THEN secret END,
      previous_secret_expires_at = ${expiresAt}::timestamptz,
      secret_rotated_at = ${now},
      updated_at = ${now}
    WHERE tenant_id = ${by.tenantId}::uuid AND id = ${id}::uuid
    RETURNING ${endpointColumns}`
  if (row === undefined) return null
  await recordChange(tx, by, {
    action: 'endpoint-rotate',
    reason: `overlap-${overlap}`,
    target: id,
  })
  return { ...toEndpoint(row), secret, previousSecretExpiresAt: expiresAt?.toISOString() ?? null }
}
