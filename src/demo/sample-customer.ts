import pg from 'pg'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { sealEndpointSecret } from '#src/webhooks/endpoints/secrets.ts'
import { acme } from '../../prisma/people.ts'

/** Acme's endpoint, so that it is the same after every start. */
const endpointId = '5d3f0c1e-8f0a-4b7e-9c55-2a6f1b0d4e03'

type SampleCustomer = {
  keys: EncryptionKeys
  /** Where the demo's receiver listens this time, and what it verifies with. */
  url: string
  secret: string
  /** An API token of Ada's, for the commands of the greeting. */
  token: string
}

/**
 * Registers the demo's receiver for Ada's tenant, and her token. Run again it
 * brings both up: the receiver knows no other secret than its own.
 */
export async function addSampleCustomer(
  ownerUrl: string,
  { keys, url, secret, token }: SampleCustomer,
): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl, connectionTimeoutMillis: 5_000 })
  await owner.connect()
  try {
    const tenantId = acme.id
    const sealed = sealEndpointSecret(keys, { tenantId, id: endpointId }, secret)
    await owner.query('BEGIN')
    await owner.query(`SELECT set_config('app.tenant_id', $1, true)`, [tenantId])
    await owner.query(
      `INSERT INTO webhook_endpoints (tenant_id, id, url, description, signature, secret)
       VALUES ($1, $2, $3, 'The receiver of the demo', 'spec', $4)
       ON CONFLICT (tenant_id, id) DO UPDATE SET url = EXCLUDED.url, secret = EXCLUDED.secret,
         previous_secret = NULL, previous_secret_expires_at = NULL`,
      [tenantId, endpointId, url, sealed],
    )
    await owner.query(
      `INSERT INTO api_tokens (hash, user_id, tenant_id, name, expires_at)
       SELECT $1, user_id, $2, 'demo', now() + interval '90 days'
       FROM oauth_identities JOIN memberships USING (user_id)
       WHERE provider = 'demo' AND provider_user_id = 'ada' AND tenant_id = $2
       ON CONFLICT (hash) DO UPDATE SET expires_at = EXCLUDED.expires_at`,
      [sha256(token), tenantId],
    )
    await owner.query('COMMIT')
  } finally {
    await owner.end()
  }
}
