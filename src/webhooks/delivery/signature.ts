import { hmacSha256, randomKey } from '#src/crypto/hash.ts'

/** What is signed and with which bytes of the secret (contract 7). */
export type SignatureProfile = 'spec' | 'standard' | 'both'

type Signed = {
  profile: SignatureProfile
  /** The present one first; during the overlap of a rotation the one before it, too. */
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
 * The value of `webhook-signature`: `v1,<base64>` for every secret, separated by one space; with
 * profile `both` those of `spec` first, those of Standard Webhooks 1.0.0 last.
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

/** Standard Webhooks: the bytes behind the prefix. */
function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(secretPrefix, ''), 'base64')
}
