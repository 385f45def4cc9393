import { compactVerify, createLocalJWKSet, errors, type JWK } from 'jose'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { isJsonObject } from '#src/runtime/json.ts'
import type { ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable } from './errors.ts'
import type { ProviderFetch } from './fetch.ts'
import { presentMembers } from './members.ts'

/** What a signature is verified for. */
export type KeyUse = 'sign-in' | 'logout'

/** `key`: no published key matches, or several do. `signature`: it is not valid. */
export type SignatureFault = 'key' | 'signature'

/**
 * Verifies the signature of a token with the provider's published keys. If none matches, they are
 * fetched once more, at most once per minute, provider and use: logout tokens come from anyone, so
 * forged ones must not use up the renewals of sign-ins.
 * @returns null if it is valid
 * @throws ProviderUnavailable
 */
export type VerifySignature = (
  metadata: Pick<ProviderMetadata, 'jwks_uri'>,
  token: string,
  use: KeyUse,
) => Promise<SignatureFault | null>

type Keys = (...token: Parameters<ReturnType<typeof createLocalJWKSet>>) => Promise<CryptoKey>
type FetchedKeys = { uri: string; since: number; keys: Promise<Keys> }

const lifetimeSeconds = 300
const renewalWindowSeconds = 60

/**
 * The signature check of one provider. Keys are cached for five minutes. A provider that rotates its
 * keys right before it signs needs the renewal. Renewed keys replace the cached ones only when they
 * have been fetched.
 */
export function createSignatureCheck(
  algorithms: readonly string[],
  fetch: ProviderFetch,
  clock: Clock,
): VerifySignature {
  const renewedAt = new Map<KeyUse, number>()
  let cached: FetchedKeys | undefined
  let renewing: Promise<void> | undefined

  function load(uri: string): FetchedKeys {
    const keys = fetchKeySet(uri, fetch).then((found) => createLocalJWKSet({ keys: found }))
    return { uri, since: unixSeconds(clock), keys }
  }

  /** Concurrent calls share one fetch. A failed fetch is not cached. */
  function current(uri: string): FetchedKeys {
    if (cached?.uri === uri && unixSeconds(clock) - cached.since < lifetimeSeconds) return cached
    const loaded = load(uri)
    loaded.keys.catch(() => {
      if (cached === loaded) cached = undefined
    })
    cached = loaded
    return loaded
  }

  async function renew(uri: string): Promise<Keys> {
    const loaded = load(uri)
    const done = loaded.keys.then(
      () => {
        cached = loaded
      },
      () => {},
    )
    renewing = done
    await done
    renewing = undefined
    return loaded.keys
  }

  function mayRenew(use: KeyUse): boolean {
    const now = unixSeconds(clock)
    if (now - (renewedAt.get(use) ?? Number.NEGATIVE_INFINITY) < renewalWindowSeconds) return false
    renewedAt.set(use, now)
    return true
  }

  return async function verifySignature({ jwks_uri: uri }, token, use) {
    const known = current(uri)
    const fault = await verify(token, await known.keys, algorithms)
    if (fault !== 'unknown-key') return fault
    if (renewing !== undefined) await renewing // of a concurrent sign-in
    const latest = current(uri)
    if (latest === known && !mayRenew(use)) return 'key'
    const keys = await (latest === known ? renew(uri) : latest.keys)
    const second = await verify(token, keys, algorithms)
    return second === 'unknown-key' ? 'key' : second
  }
}

async function verify(
  token: string,
  keys: Keys,
  algorithms: readonly string[],
): Promise<SignatureFault | 'unknown-key' | null> {
  const find: Keys = (header, jws) => {
    // `kid` is opaque text. jose ignores one that is no text.
    const hasKid = header !== undefined && 'kid' in header && header.kid !== undefined
    if (hasKid && typeof header.kid !== 'string') throw new errors.JWKSNoMatchingKey()
    return keys(header, jws)
  }
  try {
    await compactVerify(token, find, { algorithms: [...algorithms] })
    return null
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown-key'
    return error instanceof errors.JWKSMultipleMatchingKeys ? 'key' : 'signature'
  }
}

/**
 * Fetches a key set (RFC 7517, 5). A key that is listed twice is one key, and what is no key is left
 * out.
 * @throws ProviderUnavailable
 */
export async function fetchKeySet(url: string, fetch: ProviderFetch): Promise<JWK[]> {
  const response = await fetch(url, {
    method: 'GET',
    headers: { accept: 'application/json, application/jwk-set+json' },
  })
  const body: unknown = await response.json().catch(() => null)
  const listed = isJsonObject(body) ? body.keys : null
  if (response.status !== 200 || !Array.isArray(listed)) {
    throw new ProviderUnavailable('keys-malformed')
  }
  const keys = listed.filter(isJsonObject).map(presentMembers)
  if (keys.length === 0 && listed.length > 0) throw new ProviderUnavailable('keys-malformed')
  return [...new Map(keys.map((key) => [identityOf(key), key])).values()]
}

/** Two entries with the same key for the same use are one, whatever certificates they name. */
function identityOf({ kty, kid, alg, use, key_ops, crv, n, e, x, y }: JWK): string {
  return JSON.stringify([kty, kid, alg, use, key_ops, crv, n, e, x, y])
}
