import { hmacSha256, randomKey } from '#src/crypto/hash.ts'

/** The signed content and the bytes of the secret that sign it (contract 7). */
export type SignatureProfile = 'spec' | 'standard' | 'both'

type Signed = {
  profile: SignatureProfile
  /** The current secret first; during the overlap of a rotation also the previous one. */
  secrets: readonly string[]
  id: string
  /** Unix seconds. */
  timestamp: number
  body: string
}

const secretPrefix = 'whsec_'

/** A signing secret of an endpoint: `whsec_` and 32 random bytes in base64. */
export function newEndpointSecret(): string {
  return `${secretPrefix}${randomKey().toString('base64')}`
}

/**
 * The value of `webhook-signature`: `v1,<base64>` for every secret, separated by a space. Profile
 * `both` has the signatures of `spec` first, then those of Standard Webhooks 1.0.0.
 */
export function signDelivery({ profile, secrets, id, timestamp, body }: Signed): string {
  const spec = () => secrets.map((secret) => hmacSha256(secret, `${timestamp}.${body}`))
  const standard = () =>
    secrets.map((secret) => hmacSha256(keyOf(secret), `${id}.${timestamp}.${body}`))
  const digests = {
    spec,
    standard,
    both: () => [...spec(), ...standard()],
  }[profile]()
  return digests.map((digest) => `v1,${digest.toString('base64')}`).join(' ')
}

/** Standard Webhooks: the base64-decoded bytes after the prefix. */
function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(secretPrefix, ''), 'base64')
}
