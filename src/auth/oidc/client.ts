import * as oauth from 'oauth4webapi'
import type { OidcClientConfig } from '#src/config/providers/providers.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { admit } from './admission.ts'
import { authorizationRequest, validateCallback } from './authorization.ts'
import {
  createMetadataCache,
  discover,
  type OptionalEndpoint,
  type ProviderMetadata,
  requireEndpoint,
} from './discovery/discovery.ts'
import { createSignatureCheck, fetchKeySet } from './discovery/jwks.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import { createProviderFetch } from './fetch.ts'
import {
  endSessionUrl,
  type LogoutRefusal,
  type ProviderLogout,
  readLogoutToken,
  validateLogoutToken,
} from './logout.ts'
import { type MappedRole, mapRole, requireRoles } from './mapped-role.ts'
import { fetchProfile } from './oauth2.ts'
import { decodeToken } from './token.ts'
import { createClientSender, type HttpOptions } from './tokens/client-auth.ts'
import {
  type IdTokenRules,
  matchesAccessTokenHash,
  readIdToken,
  type VerifiedSignIn,
  validateIdToken,
} from './tokens/id-token.ts'
import {
  type RevocationResult,
  readTokenResponse,
  refreshTokens,
  revokeToken,
  type SendRefresh,
  sendCode,
  type TokenEndpoint,
  type TokenKind,
  type TokenResponse,
  type TokenSet,
} from './tokens/token-endpoint.ts'
import { completeClaims, fetchUserinfo, isAdditional } from './userinfo.ts'

/** The secrets of one sign-in, kept from its start to its callback. */
export type PendingSignIn = { state: string; nonce: string; codeVerifier: string }

/** A completed sign-in; `tokens` is null unless the provider's `STORE_TOKENS` is set. */
type CompletedSignIn = VerifiedSignIn & {
  mappedRole: MappedRole | null
  tokens: (TokenSet & { scope: string }) | null
}

export type Provider = {
  config: OidcClientConfig
  /**
   * The URL of the authorization request.
   * @param extras further parameters, such as `max_age`
   * @throws ProviderUnavailable
   */
  authorizationUrl(
    pending: PendingSignIn,
    redirectUri: string,
    extras?: Readonly<Record<string, string>>,
  ): Promise<URL>
  /**
   * Validates the callback in the order iss, error, code, exchange, id_token (contract 4). The
   * caller has already looked up the state. @throws SignInRefused | ProviderUnavailable
   */
  exchange(
    callbackParameters: URLSearchParams,
    pending: PendingSignIn,
    redirectUri: string,
  ): Promise<CompletedSignIn>
  /**
   * Checks that the provider can be reached before a refresh token is sent.
   * @returns a function that sends one refresh token
   * @throws ProviderUnavailable
   */
  openRefresh(): Promise<SendRefresh>
  /** Revokes a token (RFC 7009). @throws ProviderUnavailable */
  revoke(token: { text: string; kind: TokenKind }): Promise<RevocationResult>
  /**
   * The URL where a browser ends its session at the provider; null if there is none at the moment.
   */
  endSessionUrl(returnUri: string, state: string): Promise<URL | null>
  /**
   * Validates a logout token, except that it is used only once.
   * @throws ProviderUnavailable
   */
  verifyLogoutToken(token: string): Promise<ProviderLogout | LogoutRefusal>
  /** Fetches metadata and keys. @throws ProviderUnavailable */
  check(): Promise<void>
  /** Checks like `check`, and says which optional endpoints can be used. */
  describe(): Promise<Supported>
}

/** The optional endpoints of a provider that can be used. */
export type Supported = { userinfo: boolean; revocation: boolean; logout: boolean }

export type ProviderDeps = {
  clock: Clock
  fetch?: typeof fetch
  /** Deadline of each call from connecting to the last byte; 5000 by default. */
  deadlineMs?: number
  /**
   * Issuers of the other configured providers; codes and secrets are never sent to their origins.
   */
  otherIssuers?: readonly string[]
  /** Called when the provider accepts another client secret than before; 0 is the first. */
  secretSwitched?: (position: number) => void
  /** Called if something that is only additional could not be read. */
  missedAddition?: (reason: string) => void
  /** Called with the origin of the provider's page whenever its metadata was fetched. */
  foundPage?: (origin: string) => void
}

// Before a refresh token is sent, older metadata is fetched again to see that the provider is up.
const reachableSeconds = 60

/** Random values for a new sign-in: 32 bytes each, 43 characters of base64url. */
export function randomPending(): PendingSignIn {
  return {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    codeVerifier: oauth.generateRandomCodeVerifier(),
  }
}

/**
 * The client of one provider. Nothing is fetched before the first use. Against mix-up attacks each
 * pending sign-in belongs to one provider: only its endpoints are used, and the issuer of the
 * id_token is checked, as is `iss` of the authorization response if the provider sends it.
 */
export function createProvider(config: OidcClientConfig, deps: ProviderDeps): Provider {
  requireRoles(config.name, config.roleMap)
  const connection = openConnection(config, deps)
  const { currentMetadata, verifySignature, clock } = connection
  const { oauth2, clientId } = config
  return {
    config,

    async authorizationUrl(pending, redirectUri, extras = {}) {
      const { authorization_endpoint } = await currentMetadata()
      return authorizationRequest(authorization_endpoint, config, { pending, redirectUri, extras })
    },

    exchange: (callbackParameters, pending, redirectUri) =>
      exchangeCode(connection, callbackParameters, pending, redirectUri),

    async openRefresh() {
      const metadata = await currentMetadata(reachableSeconds)
      const { jwks_uri: keysUrl } = metadata
      const rules = rulesFor(config, metadata)
      const idToken = oauth2 === null ? { rules, keysUrl, verifySignature, clock } : null
      const refreshDeps = { endpoint: tokenEndpoint(connection, metadata), idToken }
      return (refreshToken, subject) => refreshTokens(refreshDeps, refreshToken, subject)
    },

    async revoke(token) {
      const metadata = await currentMetadata()
      return revokeToken(tokenEndpoint(connection, metadata), metadata.revocation_endpoint, token)
    },

    endSessionUrl(returnUri, state) {
      const { logoutParameter: returnParameter } = config
      return endSessionUrl(currentMetadata(), { clientId, returnUri, returnParameter, state })
    },

    verifyLogoutToken: (text) => verifyLogoutToken(connection, text),

    async check() {
      await checkKeys(connection)
    },

    async describe() {
      const metadata = await checkKeys(connection)
      const isUsable = (found: OptionalEndpoint) => found !== null && 'url' in found
      return {
        userinfo: isUsable(metadata.userinfo_endpoint),
        revocation: isUsable(metadata.revocation_endpoint),
        logout: isUsable(metadata.end_session_endpoint),
      }
    },
  }
}

/** How a provider is asked, and what is kept of it between the requests. */
type Connection = ReturnType<typeof openConnection>

function openConnection(config: OidcClientConfig, deps: ProviderDeps) {
  const { oauth2, issuer } = config
  const providerFetch = createProviderFetch(deps)
  const http: HttpOptions = {
    [oauth.customFetch]: providerFetch,
    [oauth.allowInsecureRequests]: config.allowInsecure,
  }
  const rules = { ...config, otherIssuers: deps.otherIssuers ?? [] }
  async function fetchMetadata(): Promise<ProviderMetadata> {
    if (oauth2 !== null) return fixedMetadata(issuer, oauth2)
    const metadata = await discover(rules, providerFetch)
    deps.foundPage?.(new URL(metadata.authorization_endpoint).origin)
    return metadata
  }
  return {
    config,
    clock: deps.clock,
    fetch: providerFetch,
    http,
    currentMetadata: createMetadataCache(fetchMetadata, deps.clock),
    sendAsClient: createClientSender(config, deps.secretSwitched ?? (() => {}), deps.clock),
    verifySignature: createSignatureCheck(providerFetch, deps.clock),
    missed: deps.missedAddition ?? (() => {}),
  }
}

function rulesFor(config: OidcClientConfig, { issuer }: ProviderMetadata): IdTokenRules {
  return { ...config, issuer }
}

function tokenEndpoint(
  { config, clock, sendAsClient, http }: Connection,
  { issuer, token_endpoint: tokenUrl }: ProviderMetadata,
): TokenEndpoint {
  // Assertions of the client follow the program's clock; the library reads that of the system.
  const skewSeconds = unixSeconds(clock) - Math.floor(Date.now() / 1000)
  const client = { client_id: config.clientId, [oauth.clockSkew]: skewSeconds }
  return { issuer, tokenUrl, client, sendAsClient, http }
}

/** `Provider.exchange`. */
async function exchangeCode(
  connection: Connection,
  callbackParameters: URLSearchParams,
  pending: PendingSignIn,
  redirectUri: string,
): Promise<CompletedSignIn> {
  const { config } = connection
  const { oauth2 } = config
  const metadata = await connection.currentMetadata()
  const announcesIssuer = metadata.authorization_response_iss_parameter_supported
  const callback = validateCallback(
    { ...rulesFor(config, metadata), announcesIssuer },
    config.clientId,
    callbackParameters,
    pending.state,
  )
  const codeVerifier = oauth2?.pkce === false ? null : pending.codeVerifier
  const code = { callback, codeVerifier, redirectUri }
  const response = await sendCode(tokenEndpoint(connection, metadata), code)
  const read = await readTokenResponse(response)
  if (read === null) throw new SignInRefused('token-response-malformed')
  const claims =
    oauth2 === null
      ? await readClaims(connection, metadata, read, pending.nonce)
      : await readProfile(connection, oauth2, read)
  const rule = oauth2 === null ? config.emailVerified : undefined
  const verified = readIdToken(claims.iss, claims, rule)
  const proven = { ...claims, email: verified.emailVerified ? verified.email : null }
  const reason = admit(proven, config)
  if (reason !== null) throw new SignInRefused(reason)
  return {
    ...verified,
    mappedRole: mapRole(proven, config.roleMap),
    // A response without `scope` grants the requested one (RFC 6749, 5.1).
    tokens: config.storeTokens
      ? { ...read.tokens, scope: read.tokens.scope ?? config.scopes }
      : null,
  }
}

/** The claims of a verified id_token, completed with userinfo. @throws SignInRefused */
async function readClaims(
  { config, clock, verifySignature, missed, ...connection }: Connection,
  metadata: ProviderMetadata,
  { idToken, tokens }: TokenResponse,
  nonce: string,
): Promise<JsonObject & { sub: string; iss: string }> {
  if (idToken === null) throw new SignInRefused('id-token-missing')
  const token = decodeToken(idToken)
  if (token === null) throw new SignInRefused('id-token-malformed')
  const rules = rulesFor(config, metadata)
  const nowSeconds = unixSeconds(clock)
  const reason = validateIdToken(token, rules, { nonce, nowSeconds })
  if (reason !== null) throw new SignInRefused(reason)
  if (!(await matchesAccessTokenHash(token, tokens.accessToken))) {
    throw new SignInRefused('id-token-at-hash')
  }
  const { jwks_uri: keysUrl } = metadata
  const fault = await verifySignature(keysUrl, 'sign-in', token)
  if (fault !== null) throw new SignInRefused(`id-token-${fault}`)
  const known = { sub: String(token.claims.sub), iss: String(token.claims.iss) }
  if (!config.userinfo) return { ...token.claims, ...known }
  const readUserinfo = async () =>
    fetchUserinfo(
      { rules, keysUrl, fetch: connection.fetch, verifySignature, clock },
      requireEndpoint(metadata.userinfo_endpoint),
      { accessToken: tokens.accessToken, subject: known.sub },
    )
  const userinfo = await readUserinfo().catch((error) => {
    if (!isAdditional(token.claims, error, config)) throw error
    missed(error.reason)
    return {}
  })
  return { ...completeClaims(token.claims, userinfo, config.emailVerified.claim), ...known }
}

async function checkKeys({ config, ...connection }: Connection): Promise<ProviderMetadata> {
  const metadata = await connection.currentMetadata()
  if (config.oauth2 !== null) return metadata
  const keys = await fetchKeySet(metadata.jwks_uri, connection.fetch)
  if (keys.length === 0) throw new ProviderUnavailable('keys-malformed')
  return metadata
}

/** The profile from the API of a provider without id_tokens. @throws SignInRefused */
async function readProfile(
  { config, missed, ...connection }: Connection,
  endpoints: NonNullable<OidcClientConfig['oauth2']>,
  { tokens }: TokenResponse,
) {
  const claims = await fetchProfile(endpoints, tokens.accessToken, connection.fetch, missed)
  return { ...claims, iss: config.issuer }
}

/** `Provider.verifyLogoutToken`. */
async function verifyLogoutToken(
  { config, clock, currentMetadata, verifySignature }: Connection,
  text: string,
): Promise<ProviderLogout | LogoutRefusal> {
  const token = decodeToken(text)
  if (token === null || config.oauth2 !== null) return 'logout-token-malformed'
  const { idTokenAlgorithms: algorithms } = config
  const nowSeconds = unixSeconds(clock)
  const judge = (issuer: string) =>
    validateLogoutToken(token, { ...config, issuer, algorithms, nowSeconds })
  // The metadata is fetched only for a token that may be the provider's.
  const early = config.issuerTemplate === null ? judge(config.issuer) : null
  if (early !== null) return early
  const { issuer, jwks_uri } = await currentMetadata()
  const reason = judge(issuer)
  if (reason !== null) return reason
  const fault = await verifySignature(jwks_uri, 'logout', token)
  return fault === null ? readLogoutToken(token.claims) : `logout-token-${fault}`
}

/** Providers without OpenID Connect publish no metadata that is used. */
function fixedMetadata(
  issuer: string,
  endpoints: NonNullable<OidcClientConfig['oauth2']>,
): ProviderMetadata {
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint: url } = endpoints
  return {
    issuer,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
    jwks_uri: '',
    authorization_response_iss_parameter_supported: false,
    userinfo_endpoint: null,
    revocation_endpoint: url === undefined ? null : { url },
    end_session_endpoint: null,
  }
}
