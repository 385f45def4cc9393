import type { JSONWebKeySet } from 'jose'
import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { isJsonObject } from '#src/runtime/json.ts'
import type { ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import type { ProviderFetch } from './fetch.ts'

/** The library's key cache of one metadata object; the check of logout tokens uses it too. */
export type KeyCache = oauth.JWKSCacheInput

/** What a signature is verified for. */
export type KeyUse = 'sign-in' | 'logout'

/**
 * Runs `check` with the cached keys and, if no key matches, once more with newly fetched keys. Keys
 * are fetched again at most once per minute, provider and use: logout tokens come from anyone, so
 * forged ones must not use up the renewals of sign-ins.
 * @returns false if no published key matches
 */
export type WithKeys = (
  metadata: ProviderMetadata,
  use: KeyUse,
  check: (metadata: ProviderMetadata, cache: KeyCache) => Promise<boolean>,
) => Promise<boolean>

export type VerifySignature = (metadata: ProviderMetadata, response: Response) => Promise<void>

const renewalWindowSeconds = 60

/**
 * The published keys of one provider. The library caches a key set for five minutes per metadata
 * object and does not fetch again within the first minute. A provider that rotates its keys right
 * before it signs needs that fetch, so a renewal uses a copy of the metadata object. The copy
 * replaces the original only when its keys have been fetched.
 */
export function createProviderKeys(clock: Clock): WithKeys {
  const renewed = new WeakMap<ProviderMetadata, ProviderMetadata>()
  const caches = new WeakMap<ProviderMetadata, KeyCache>()
  const renewing = new Map<ProviderMetadata, Promise<void>>()
  const renewedAt = new Map<KeyUse, number>()

  function mayRenew(use: KeyUse): boolean {
    const now = unixSeconds(clock)
    if (now - (renewedAt.get(use) ?? Number.NEGATIVE_INFINITY) < renewalWindowSeconds) return false
    renewedAt.set(use, now)
    return true
  }

  function cacheOf(metadata: ProviderMetadata): KeyCache {
    const cache = caches.get(metadata) ?? {}
    caches.set(metadata, cache)
    return cache
  }

  return async function withKeys(metadata, use, check) {
    const known = renewed.get(metadata) ?? metadata
    if (await check(known, cacheOf(known))) return true
    const pending = renewing.get(metadata)
    if (pending !== undefined) await pending // of a concurrent sign-in
    const latest = renewed.get(metadata) ?? metadata
    if (latest !== known) return check(latest, cacheOf(latest))
    if (!mayRenew(use)) return false
    const copy = { ...metadata }
    const checked = check(copy, cacheOf(copy))
    const replaced = checked.then(
      () => void renewed.set(metadata, copy),
      (error) => {
        if (!(error instanceof ProviderUnavailable)) renewed.set(metadata, copy)
      },
    )
    renewing.set(metadata, replaced)
    await replaced
    renewing.delete(metadata)
    return checked
  }
}

/** Verifies id_token signatures with the provider's published keys. */
export function createSignatureCheck(
  http: oauth.ValidateSignatureOptions,
  clock: Clock,
  withKeys: WithKeys = createProviderKeys(clock),
): VerifySignature {
  return async function verifySignature(metadata, response) {
    const verified = await withKeys(metadata, 'sign-in', (copy, cache) =>
      hasValidSignature(copy, response, { ...http, [oauth.jwksCache]: cache }),
    )
    if (!verified) throw new SignInRefused('id-token-key')
  }
}

/**
 * @returns true for a valid signature, false if the key is not in the key set
 * @throws SignInRefused for an invalid signature or several matching keys, ProviderUnavailable
 */
async function hasValidSignature(
  metadata: ProviderMetadata,
  response: Response,
  http: oauth.ValidateSignatureOptions,
): Promise<boolean> {
  try {
    await oauth.validateApplicationLevelSignature(metadata, response, http)
    return true
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error
    if (!(error instanceof oauth.OperationProcessingError)) {
      throw new SignInRefused('id-token-signature')
    }
    if (error.code === oauth.KEY_SELECTION) {
      if (hasCandidates(error.cause)) throw new SignInRefused('id-token-key')
      return false
    }
    // The library mentions "response" only in its errors about the key set response.
    if (error.message.includes('"response"')) throw new ProviderUnavailable('keys-malformed')
    throw new SignInRefused('id-token-signature')
  }
}

function hasCandidates(cause: unknown): boolean {
  const candidates = isJsonObject(cause) ? cause.candidates : null
  return Array.isArray(candidates) && candidates.length > 0
}

/** Fetches a key set (RFC 7517, 5). @throws ProviderUnavailable */
export async function fetchKeySet(url: string, fetch: ProviderFetch): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    method: 'GET',
    headers: { accept: 'application/json, application/jwk-set+json' },
  })
  const body: unknown = await response.json().catch(() => null)
  if (response.status !== 200 || !isKeySet(body)) throw new ProviderUnavailable('keys-malformed')
  return body
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  const keys = isJsonObject(value) ? value.keys : null
  return Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null)
}
