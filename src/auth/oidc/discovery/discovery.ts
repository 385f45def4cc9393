import { loopbackHosts } from '#src/config/parse.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { ProviderUnavailable, type UnavailableReason } from '../errors.ts'
import type { ProviderFetch } from '../fetch.ts'
import { textOf } from '../token.ts'
import { isPublishedIssuer } from './issuer.ts'

/**
 * The part of a provider's metadata that is used; every endpoint in it has been checked. `issuer` is
 * as published: the configured one, or of a provider with tenants its template (issuer.ts).
 */
export type ProviderMetadata = {
  issuer: string
  authorization_endpoint: string
  token_endpoint: string
  jwks_uri: string
  authorization_response_iss_parameter_supported: boolean
  userinfo_endpoint: OptionalEndpoint
  /** RFC 7009. */
  revocation_endpoint: OptionalEndpoint
  /** OpenID Connect RP-Initiated Logout 1.0, 2.1. */
  end_session_endpoint: OptionalEndpoint
}

/** An endpoint that most sign-ins do not need: null without one, or why it must not be used. */
export type OptionalEndpoint = { url: string } | { fault: UnavailableReason } | null

export type MetadataRules = {
  issuer: string
  issuerTemplate: string | null
  /** Where the metadata is; null for the path of the standard below the issuer. */
  metadataUrl: string | null
  allowInsecure: boolean
  /** Issuers of the other configured providers. */
  otherIssuers: readonly string[]
}

const lifetimeSeconds = 3_600

/** A URL also takes `;`, `*` and quotes, which mean something in a content security policy. */
const hostForm = /^([\w.-]*|\[[\da-f:.]+\])$/

/**
 * Caches metadata for an hour or for `maxAgeSeconds`. Concurrent calls share one fetch. A failed
 * fetch is not cached.
 */
export function createMetadataCache(
  load: () => Promise<ProviderMetadata>,
  clock: Clock,
): (maxAgeSeconds?: number) => Promise<ProviderMetadata> {
  let cached: { metadata: Promise<ProviderMetadata>; since: number } | undefined
  return function currentMetadata(maxAgeSeconds = lifetimeSeconds) {
    const now = unixSeconds(clock)
    if (cached !== undefined && now - cached.since < maxAgeSeconds) return cached.metadata
    const entry = { metadata: load(), since: now }
    cached = entry
    entry.metadata.catch(() => {
      if (cached === entry) cached = undefined
    })
    return entry.metadata
  }
}

/**
 * Fetches and validates the metadata of one issuer (OpenID Connect Discovery 1.0, 4.3).
 *
 * Codes and secrets are sent only to endpoints of this metadata. Its `issuer` must equal the
 * configured issuer exactly, or be of the configured template. Endpoints use https, or http on
 * loopback if the configuration allows it, and are never on the origin of another configured
 * provider. They may be on another host than the issuer: large providers do that with their token
 * endpoint. Members that sign-in does not need cannot make the provider unavailable.
 * @throws ProviderUnavailable
 */
export async function discover(
  rules: MetadataRules,
  fetch: ProviderFetch,
): Promise<ProviderMetadata> {
  const found = await fetchMetadata(endpoint(metadataUrlOf(rules), rules), fetch)
  const { issuer } = found
  if (typeof issuer !== 'string') throw new ProviderUnavailable('metadata-malformed')
  if (!isPublishedIssuer(rules, issuer)) throw new ProviderUnavailable('metadata-issuer-mismatch')
  return {
    issuer,
    authorization_endpoint: endpoint(found.authorization_endpoint, rules),
    token_endpoint: endpoint(found.token_endpoint, rules),
    jwks_uri: endpoint(found.jwks_uri, rules),
    authorization_response_iss_parameter_supported:
      found.authorization_response_iss_parameter_supported === true,
    userinfo_endpoint: optionalEndpoint(found.userinfo_endpoint, rules),
    revocation_endpoint: optionalEndpoint(found.revocation_endpoint, rules),
    end_session_endpoint: optionalEndpoint(found.end_session_endpoint, rules),
  }
}

/** OpenID Connect Discovery 1.0, 4: a slash at the end of the issuer is not doubled. */
function metadataUrlOf({ issuer, metadataUrl }: MetadataRules): string {
  return metadataUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

async function fetchMetadata(url: string, fetch: ProviderFetch): Promise<JsonObject> {
  const response = await fetch(url, { method: 'GET', headers: { accept: 'application/json' } })
  const found = response.status === 200 ? parseJsonObject(await response.text()) : null
  if (found === null) throw new ProviderUnavailable('metadata-malformed')
  return found
}

/** The URL of an endpoint that is needed now. @throws ProviderUnavailable */
export function requireEndpoint(found: OptionalEndpoint): string {
  if (found === null) throw new ProviderUnavailable('metadata-endpoint-missing')
  if ('fault' in found) throw new ProviderUnavailable(found.fault)
  return found.url
}

/** These endpoints receive tokens, so the rules of the required endpoints apply to them as well. */
function optionalEndpoint(value: unknown, rules: MetadataRules): OptionalEndpoint {
  if (textOf(value) === null) return null
  try {
    return { url: endpoint(value, rules) }
  } catch (error) {
    if (error instanceof ProviderUnavailable) return { fault: error.reason }
    throw error
  }
}

function endpoint(value: unknown, rules: MetadataRules): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (typeof value !== 'string' || url === null || !hostForm.test(url.hostname)) {
    throw new ProviderUnavailable('metadata-endpoint-missing')
  }
  const insecure =
    url.protocol === 'http:' && rules.allowInsecure && loopbackHosts.includes(url.hostname)
  if ((url.protocol !== 'https:' && !insecure) || url.username !== '' || url.password !== '') {
    throw new ProviderUnavailable('metadata-endpoint-insecure')
  }
  if (url.origin !== new URL(rules.issuer).origin && isForeign(url, rules.otherIssuers)) {
    throw new ProviderUnavailable('metadata-endpoint-foreign')
  }
  return value
}

function isForeign(url: URL, otherIssuers: readonly string[]): boolean {
  return otherIssuers.some((issuer) => URL.parse(issuer)?.origin === url.origin)
}
