import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import {
  deriveSigningKey,
  type PublicJwk,
  type SigningKey,
  signToken,
} from '#src/crypto/signing-key.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import type { Identity } from './identity.ts'

/** How long a token is valid: a proxy gets a new one for every request. */
export const identityTokenSeconds = 60

/** For how long an app may use a fetched key set without asking again. */
export const keySetSeconds = 300

/** Signs identities for the app, and publishes the keys that verify them. */
export type IdentityTokens = {
  sign(identity: Identity, audience: string): string
  readonly keySet: { readonly keys: readonly PublicJwk[] }
}

type Options = {
  keys: EncryptionKeys
  /** BASE_URL. */
  issuer: string
  clock: Clock
}

/**
 * The signing keys are derived from ENCRYPTION_KEYS, one from each, so they are in no table, every
 * process has the same ones, and they are rotated with them: the first signs, all are published.
 */
export function createIdentityTokens({ keys, issuer, clock }: Options): IdentityTokens {
  const [first, ...older] = keys
  const current = identityKeyOf(first)
  const published = [current, ...older.map(identityKeyOf)]
  // A signature is deterministic (RFC 8032), so the requests of one second share it if their facts are the
  // same: it takes a quarter of the time of an answer.
  const signed = new Map<string, string>()
  let signedAt = 0
  return {
    keySet: { keys: published.map(({ jwk }) => jwk) },
    sign({ subject, tenantId, role, email, permissions, plan }, aud) {
      const iat = unixSeconds(clock)
      const exp = iat + identityTokenSeconds
      const facts = withoutNulls({ tenant: tenantId, role, email, plan })
      const claims = { iss: issuer, aud, sub: subject, iat, exp, ...facts, permissions }
      if (iat !== signedAt) signed.clear()
      signedAt = iat
      const key = JSON.stringify(claims)
      const token = signed.get(key) ?? signToken(current, claims)
      signed.set(key, token)
      return token
    },
  }
}

/** The signing key of one of ENCRYPTION_KEYS. */
export function identityKeyOf({ secret }: EncryptionKeys[number]): SigningKey {
  return deriveSigningKey(secret, 'gatehouse identity token 1')
}

function withoutNulls(facts: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, fact]) => (fact === null ? [] : [[name, fact]])),
  )
}
