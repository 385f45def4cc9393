import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose'
import type { ProviderMetadata } from '#src/auth/oidc/discovery.ts'
import { ProviderUnavailable } from '#src/auth/oidc/errors.ts'
import type { ProviderFetch } from '#src/auth/oidc/fetch.ts'
import type { KeyCache, WithKeys } from '#src/auth/oidc/jwks.ts'
import type { LogoutRefusal } from '#src/auth/oidc/logout.ts'

export type VerifyLogoutSignature = (
  metadata: ProviderMetadata,
  token: string,
) => Promise<LogoutRefusal | null>

const keyLifetimeSeconds = 300 // as long as the library keeps the keys of id_tokens

/**
 * Checks logout tokens against the keys that id_tokens are checked against: one cache, one window
 * for renewals, the same pinned algorithms. oauth4webapi has no function for it, so `jose` does it.
 * @throws ProviderUnavailable
 */
export function createLogoutSignatureCheck(
  algorithms: readonly string[],
  fetch: ProviderFetch,
  withKeys: WithKeys,
): VerifyLogoutSignature {
  const underWay = new WeakMap<KeyCache, Promise<JSONWebKeySet>>()

  /** Tokens that arrive together share one fetch. */
  function keysOf(metadata: ProviderMetadata, cache: KeyCache): Promise<JSONWebKeySet> {
    // The library stamps by the machine's clock, wherever the program's own stands.
    const now = Math.floor(Date.now() / 1000)
    const { jwks, uat } = cache
    if (jwks !== undefined && now - uat < keyLifetimeSeconds) {
      return Promise.resolve(jwks as JSONWebKeySet)
    }
    const pending = underWay.get(cache) ?? load()
    underWay.set(cache, pending)
    return pending

    async function load(): Promise<JSONWebKeySet> {
      try {
        const keys = await fetchKeys(metadata.jwks_uri, fetch)
        Object.assign(cache, { jwks: keys, uat: now })
        return keys
      } finally {
        underWay.delete(cache)
      }
    }
  }

  return async function verifyLogoutSignature(metadata, token) {
    let refusal: LogoutRefusal | null = null
    const found = await withKeys(metadata, async (copy, cache) => {
      const keys = createLocalJWKSet(await keysOf(copy, cache))
      try {
        await compactVerify(token, keys, { algorithms: [...algorithms] })
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey) return false
        refusal =
          error instanceof errors.JWKSMultipleMatchingKeys
            ? 'logout-token-key'
            : 'logout-token-signature'
      }
      return true
    })
    return found ? refusal : 'logout-token-key'
  }
}

async function fetchKeys(url: string, fetch: ProviderFetch): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    method: 'GET',
    headers: { accept: 'application/json, application/jwk-set+json' },
  })
  const body: unknown = await response.json().catch(() => null)
  if (response.status !== 200 || !isKeySet(body)) throw new ProviderUnavailable('keys-malformed')
  return body
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return false
  const { keys } = value
  return Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null)
}
