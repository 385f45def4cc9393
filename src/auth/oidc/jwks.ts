import type { JSONWebKeySet } from 'jose'
import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { isJsonObject } from '#src/runtime/json.ts'
import type { ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import type { ProviderFetch } from './fetch.ts'

/** Where the library keeps the key set of one metadata object; shared with logout tokens. */
export type KeyCache = oauth.JWKSCacheInput

/**
 * Runs `check` with the keys known so far and, when it finds no fitting key, once more with newer
 * ones: at most one renewal per window and provider, whoever asks for it.
 * @returns false when no published key fits
 */
export type WithKeys = (
  metadata: ProviderMetadata,
  check: (metadata: ProviderMetadata, cache: KeyCache) => Promise<boolean>,
) => Promise<boolean>

export type VerifySignature = (metadata: ProviderMetadata, response: Response) => Promise<void>

const renewalWindowSeconds = 60

/**
 * The published keys of one provider. The library keeps a key set for five minutes, by metadata
 * object, and does not fetch one younger than a minute again; a provider that rotates just before
 * it signs needs that fetch. So newer keys are those of a copy of the metadata.
 */
export function createProviderKeys(clock: Clock): WithKeys {
  const renewals = new WeakMap<ProviderMetadata, ProviderMetadata>()
  const caches = new WeakMap<ProviderMetadata, KeyCache>()
  let renewedAt = Number.NEGATIVE_INFINITY

  /** The metadata with keys newer than `tried`; null when they cannot be any newer. */
  function renew(metadata: ProviderMetadata, tried: ProviderMetadata): ProviderMetadata | null {
    const latest = renewals.get(metadata) ?? metadata
    if (latest !== tried) return latest // another sign-in has renewed them meanwhile
    const now = unixSeconds(clock)
    if (now - renewedAt < renewalWindowSeconds) return null
    renewedAt = now
    const copy = { ...metadata }
    renewals.set(metadata, copy)
    return copy
  }

  function cacheOf(metadata: ProviderMetadata): KeyCache {
    const cache = caches.get(metadata) ?? {}
    caches.set(metadata, cache)
    return cache
  }

  return async function withKeys(metadata, check) {
    const known = renewals.get(metadata) ?? metadata
    if (await check(known, cacheOf(known))) return true
    const renewed = renew(metadata, known)
    return renewed !== null && check(renewed, cacheOf(renewed))
  }
}

/** Checks id_token signatures against the provider's published keys. */
export function createSignatureCheck(
  wire: oauth.ValidateSignatureOptions,
  clock: Clock,
  withKeys: WithKeys = createProviderKeys(clock),
): VerifySignature {
  return async function verifySignature(metadata, response) {
    const verified = await withKeys(metadata, (copy, cache) =>
      hasValidSignature(copy, response, { ...wire, [oauth.jwksCache]: cache }),
    )
    if (!verified) throw new SignInRefused('id-token-key')
  }
}

/**
 * @returns true for a good signature, false when the key is not in the key set
 * @throws SignInRefused for a bad signature or several fitting keys, ProviderUnavailable
 */
async function hasValidSignature(
  metadata: ProviderMetadata,
  response: Response,
  wire: oauth.ValidateSignatureOptions,
): Promise<boolean> {
  try {
    await oauth.validateApplicationLevelSignature(metadata, response, wire)
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
    // The library's messages about the key set's answer name it so, the one about the JWT does not.
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
