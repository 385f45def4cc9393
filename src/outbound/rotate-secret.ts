import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Tx } from '#src/db/database.ts'
import { newEndpointSecret } from '#src/webhooks/delivery/signature.ts'
import {
  type Endpoint,
  type EndpointRow,
  endpointColumns,
  toEndpoint,
} from '#src/webhooks/endpoints/endpoints.ts'
import { sealEndpointSecret } from '#src/webhooks/endpoints/secrets.ts'

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
