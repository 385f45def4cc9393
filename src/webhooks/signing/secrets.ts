import { type Binding, type EncryptionKeys, seal, unseal } from '#src/crypto/encryption.ts'
import type { EncryptedColumns } from '#src/operations/key-rotation.ts'

type EndpointKey = { readonly tenantId: string; readonly id: string }

/** The encrypted columns of an endpoint. */
export type EncryptedSecrets = {
  readonly secret: Uint8Array
  readonly previousSecret: Uint8Array | null
  readonly previousSecretExpiresAt: Date | null
}

/** Encrypts a signing secret, bound to one endpoint of one tenant. */
export function sealEndpointSecret(
  keys: EncryptionKeys,
  endpoint: EndpointKey,
  secret: string,
): Buffer {
  return seal(keys, secret, bindingOf(endpoint))
}

/**
 * The secrets that sign at `now`, the current one first. The previous one signs until its overlap
 * ends, exclusive.
 * @throws UnsealError
 */
export function openEndpointSecrets(
  keys: EncryptionKeys,
  endpoint: EndpointKey & EncryptedSecrets,
  now: Date,
): readonly string[] {
  const { secret, previousSecret, previousSecretExpiresAt: end } = endpoint
  const open = (sealed: Uint8Array) => unseal(keys, sealed, bindingOf(endpoint))
  const overlaps = previousSecret !== null && end !== null && now < end
  return overlaps ? [open(secret), open(previousSecret)] : [open(secret)]
}

/** The binding of both columns, because a rotation copies the encrypted secret unchanged. */
function bindingOf({ tenantId, id }: EndpointKey): Binding {
  return ['endpoint-secret', tenantId, id]
}

/** The columns with endpoint secrets, for the rotation of encryption keys. */
export const encryptedSecretColumns: EncryptedColumns = {
  table: 'webhook_endpoints',
  key: ['tenant_id', 'id'],
  columns: ['secret', 'previous_secret'],
  facts: [],
  binding: (row) => bindingOf({ tenantId: String(row.tenant_id), id: String(row.id) }),
}
