import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { ProviderUnavailable } from './errors.ts'
import type { ProviderFetch } from './fetch.ts'

/** The part of a provider's metadata that is used; every endpoint in it has been checked. */
export type ProviderMetadata = oauth.AuthorizationServer & {
  authorization_endpoint: string
  token_endpoint: string
  jwks_uri: string
  /** OpenID Connect RP-Initiated Logout 1.0, 2.1; optional. */
  end_session_endpoint?: string
}

export type MetadataRules = {
  issuer: string
  idTokenAlgorithms: readonly string[]
  allowInsecure: boolean
  /** Issuers of the other configured providers. */
  otherIssuers: readonly string[]
  /** Whether userinfo is requested, and whether tokens are stored, which are revoked later. */
  userinfo?: boolean
  storeTokens?: boolean
}

const lifetimeSeconds = 3_600
const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

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
 * configured issuer exactly. Endpoints use https, or http on loopback if the configuration allows
 * it, and are never on the origin of another configured provider. They may be on another host than
 * the issuer: large providers do that with their token endpoint.
 * @throws ProviderUnavailable
 */
export async function discover(
  rules: MetadataRules,
  fetch: ProviderFetch,
): Promise<ProviderMetadata> {
  const issuer = endpoint(rules.issuer, rules)
  const found = await fetchMetadata(new URL(issuer), rules, fetch)
  if (found.issuer !== rules.issuer) throw new ProviderUnavailable('metadata-issuer-mismatch')
  return {
    issuer: rules.issuer,
    authorization_endpoint: endpoint(found.authorization_endpoint, rules),
    token_endpoint: endpoint(found.token_endpoint, rules),
    jwks_uri: endpoint(found.jwks_uri, rules),
    authorization_response_iss_parameter_supported:
      found.authorization_response_iss_parameter_supported === true,
    // The configured algorithms, not the published ones: the library accepts only these.
    id_token_signing_alg_values_supported: [...rules.idTokenAlgorithms],
    userinfo_signing_alg_values_supported: [...rules.idTokenAlgorithms],
    ...optionalEndpoints(found, rules),
  }
}

/**
 * The optional endpoints that are used; what is published for the others does not matter. One that is
 * no URL counts as absent. The rules of the required endpoints apply, because these receive tokens
 * and browsers.
 */
function optionalEndpoints(
  found: oauth.AuthorizationServer,
  rules: MetadataRules,
): Partial<ProviderMetadata> {
  const used = {
    end_session_endpoint: found.end_session_endpoint,
    ...(rules.userinfo === true && { userinfo_endpoint: found.userinfo_endpoint }),
    ...(rules.storeTokens === true && { revocation_endpoint: found.revocation_endpoint }),
  }
  const present = Object.entries(used).filter(([, value]) => toUrl(value) !== null)
  return Object.fromEntries(present.map(([name, value]) => [name, endpoint(value, rules)]))
}

async function fetchMetadata(
  issuer: URL,
  rules: MetadataRules,
  fetch: ProviderFetch,
): Promise<oauth.AuthorizationServer> {
  try {
    const response = await oauth.discoveryRequest(issuer, {
      [oauth.customFetch]: fetch,
      [oauth.allowInsecureRequests]: rules.allowInsecure,
    })
    return await oauth.processDiscoveryResponse(issuer, response)
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error
    throw new ProviderUnavailable(
      namesOtherIssuer(error) ? 'metadata-issuer-mismatch' : 'metadata-malformed',
    )
  }
}

/**
 * The library compares issuers as URLs; an issuer that is not a URL fails before the comparison.
 */
function namesOtherIssuer(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === oauth.JSON_ATTRIBUTE_COMPARISON || error.code === 'ERR_INVALID_URL'
}

function endpoint(value: unknown, rules: MetadataRules): string {
  const url = toUrl(value)
  if (typeof value !== 'string' || url === null) {
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

function toUrl(value: unknown): URL | null {
  return typeof value === 'string' ? URL.parse(value) : null
}

function isForeign(url: URL, otherIssuers: readonly string[]): boolean {
  return otherIssuers.some((issuer) => URL.parse(issuer)?.origin === url.origin)
}
