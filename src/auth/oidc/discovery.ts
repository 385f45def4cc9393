import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { ProviderUnavailable } from './errors.ts'
import type { ProviderFetch } from './fetch.ts'

/** What is kept of a provider's metadata: checked endpoints, nothing that was not looked at. */
export type ProviderMetadata = oauth.AuthorizationServer & {
  authorization_endpoint: string
  token_endpoint: string
  jwks_uri: string
  /** Where the browser can be sent to end the session at the provider; not every provider has one. */
  end_session_endpoint?: string
}

export type MetadataRules = {
  issuer: string
  idTokenAlgorithms: readonly string[]
  allowInsecure: boolean
  /** Issuers of the other configured providers. */
  otherIssuers: readonly string[]
}

const lifetimeSeconds = 3_600
const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/**
 * Metadata fetched on first use and kept for an hour, or `maxAgeSeconds`. Concurrent calls share one fetch; a failed
 * one is forgotten, so the next sign-in tries again.
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
 * Fetches and judges the metadata of one issuer (OpenID Connect Discovery 1.0, 4.3).
 *
 * Where a code or a secret may go: only to endpoints named by the metadata found below the
 * configured issuer, whose `issuer` is that text exactly; https, or http on loopback where the
 * configuration allows it; and never to the origin of another configured provider. Another host
 * than the issuer's is fine: large providers keep their token endpoint on one.
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
    ...(found.end_session_endpoint === undefined
      ? {}
      : { end_session_endpoint: endpoint(found.end_session_endpoint, rules) }),
    authorization_response_iss_parameter_supported:
      found.authorization_response_iss_parameter_supported === true,
    // What is configured, not what is published: the library takes these lists as the pin.
    id_token_signing_alg_values_supported: [...rules.idTokenAlgorithms],
    userinfo_signing_alg_values_supported: [...rules.idTokenAlgorithms],
    ...optionalEndpoints(found, rules),
  }
}

/** Not every provider has them, but where they are named they get tokens: the same rules hold. */
function optionalEndpoints(
  found: oauth.AuthorizationServer,
  rules: MetadataRules,
): Partial<oauth.AuthorizationServer> {
  const { userinfo_endpoint, revocation_endpoint } = found
  return {
    ...(userinfo_endpoint !== undefined && {
      userinfo_endpoint: endpoint(userinfo_endpoint, rules),
    }),
    ...(revocation_endpoint !== undefined && {
      revocation_endpoint: endpoint(revocation_endpoint, rules),
    }),
  }
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

/** The library compares issuers as URLs, so one that is no URL fails before the comparison. */
function namesOtherIssuer(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === oauth.JSON_ATTRIBUTE_COMPARISON || error.code === 'ERR_INVALID_URL'
}

function endpoint(value: unknown, rules: MetadataRules): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
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

function isForeign(url: URL, otherIssuers: readonly string[]): boolean {
  return otherIssuers.some((issuer) => URL.parse(issuer)?.origin === url.origin)
}
