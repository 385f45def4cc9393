import type { TestUser } from '#dev/testing/people.ts'
import { encryptionKey } from '#dev/testing/settings.ts'
import { readEncryptionKeys } from '#src/config/parse.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { sealEndpointSecret } from '#src/webhooks/signing/secrets.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

export const endpointSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const testKeys = readEncryptionKeys(encryptionKey, [])

/** Inserts an endpoint of the tenant with `endpointSecret`; resolves to its id. */
export async function createEndpoint(
  { admin }: TestDatabase,
  { tenantId }: Pick<TestUser, 'tenantId'>,
  endpoint: {
    url: string
    eventTypes?: readonly string[]
    signature?: SignatureProfile
    status?: 'active' | 'failing' | 'disabled'
    lastSuccessAt?: Date
    keys?: EncryptionKeys
  },
): Promise<string> {
  const id = crypto.randomUUID()
  const status = endpoint.status ?? 'active'
  await admin.query(
    `WITH endpoint AS (
       INSERT INTO webhook_endpoints (tenant_id, id, url, all_event_types, event_types, signature, secret)
       VALUES ($1, $2, $3, $4, $5, $6, $7))
     INSERT INTO endpoint_states (tenant_id, id, status, failing_since, disabled_at, last_success_at)
     VALUES ($1, $2, $8, CASE $8 WHEN 'failing' THEN now() END,
       CASE $8 WHEN 'disabled' THEN now() END, $9)`,
    [
      tenantId,
      id,
      endpoint.url,
      endpoint.eventTypes === undefined,
      endpoint.eventTypes ?? [],
      endpoint.signature ?? 'spec',
      sealEndpointSecret(endpoint.keys ?? testKeys, { tenantId, id }, endpointSecret),
      status,
      endpoint.lastSuccessAt ?? null,
    ],
  )
  return id
}
