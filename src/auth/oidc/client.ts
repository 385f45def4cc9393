import * as oauth from 'oauth4webapi'
import type { OidcClientConfig } from '#src/config/providers.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { authorizationRequest, validateCallback } from './authorization.ts'
import { createClientSender, type HttpOptions } from './client-auth.ts'
import { createMetadataCache, discover, type ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import { createProviderFetch } from './fetch.ts'
import {
  matchesAccessTokenHash,
  readHeader,
  readIdToken,
  type VerifiedSignIn,
  validateIdToken,
} from './id-token.ts'
import { createSignatureCheck, fetchKeySet } from './jwks.ts'
import {
  decodeLogoutToken,
  endSessionUrl,
  type LogoutRefusal,
  type ProviderLogout,
  readLogoutToken,
  validateLogoutToken,
} from './logout.ts'
import {
  libraryClient,
  type RevocationResult,
  readTokenResponse,
  refreshTokens,
  revokeToken,
  type SendRefresh,
  sendCode,
  type TokenKind,
  type TokenSet,
} from './token-endpoint.ts'
import { completeClaims, fetchUserinfo } from './userinfo.ts'

/** The secrets of one sign-in, kept from its start to its callback. */
export type PendingSignIn = { state: string; nonce: string; codeVerifier: string }

/** A completed sign-in; `tokens` is null unless the provider's `STORE_TOKENS` is set. */
type CompletedSignIn = VerifiedSignIn & { tokens: (TokenSet & { scope: string }) | null }

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
}

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
 * The client of one OpenID Provider. Nothing is fetched before the first use. Against mix-up
 * attacks each pending sign-in belongs to one provider: only its endpoints are used, and the issuer
 * of the id_token is checked, as is `iss` of the authorization response if the provider sends it.
 */
export function createProvider(config: OidcClientConfig, deps: ProviderDeps): Provider {
  const { clock } = deps
  const providerFetch = createProviderFetch(deps)
  const http: HttpOptions = {
    [oauth.customFetch]: providerFetch,
    [oauth.allowInsecureRequests]: config.allowInsecure,
  }
  const rules = { ...config, otherIssuers: deps.otherIssuers ?? [] }
  const currentMetadata = createMetadataCache(() => discover(rules, providerFetch), clock)
  const sendAsClient = createClientSender(config, deps.secretSwitched ?? (() => {}))
  const verifySignature = createSignatureCheck(config.idTokenAlgorithms, providerFetch, clock)

  const currentClient = () => libraryClient(config.clientId, clock)
  const requestUserinfo = (metadata: ProviderMetadata, accessToken: string, subject: string) =>
    fetchUserinfo(metadata, currentClient(), { accessToken, subject }, http, verifySignature)

  return {
    config,

    async authorizationUrl(pending, redirectUri, extras = {}) {
      const { authorization_endpoint } = await currentMetadata()
      return authorizationRequest(authorization_endpoint, config, { pending, redirectUri, extras })
    },

    async exchange(callbackParameters, pending, redirectUri) {
      const metadata = await currentMetadata()
      const callback = validateCallback(
        metadata,
        config.clientId,
        callbackParameters,
        pending.state,
      )
      const response = await sendCode(metadata, currentClient(), sendAsClient, http, {
        callback,
        codeVerifier: pending.codeVerifier,
        redirectUri,
      })
      const { claims, idToken, tokens } = await readTokenResponse(
        metadata,
        currentClient(),
        response,
        pending.nonce,
      )
      const header = readHeader(idToken)
      const reason = validateIdToken(header, claims, {
        clientId: config.clientId,
        nowSeconds: unixSeconds(clock),
      })
      if (reason !== null) throw new SignInRefused(reason)
      if (!(await matchesAccessTokenHash(header, claims, tokens.accessToken))) {
        throw new SignInRefused('id-token-at-hash')
      }
      const fault = await verifySignature(metadata, idToken, 'sign-in')
      if (fault !== null) throw new SignInRefused(`id-token-${fault}`)
      const allClaims = config.userinfo
        ? completeClaims(claims, await requestUserinfo(metadata, tokens.accessToken, claims.sub))
        : claims
      return {
        ...readIdToken(config.issuer, allClaims),
        // A response without `scope` grants the requested one (RFC 6749, 5.1).
        tokens: config.storeTokens ? { ...tokens, scope: tokens.scope ?? config.scopes } : null,
      }
    },

    async openRefresh() {
      const metadata = await currentMetadata(reachableSeconds)
      const { clientId } = config
      const deps = { metadata, clientId, sendAsClient, http, verifySignature, clock }
      return (refreshToken, subject) => refreshTokens(deps, refreshToken, subject)
    },

    async revoke(token) {
      return revokeToken(await currentMetadata(), currentClient(), sendAsClient, http, token)
    },

    endSessionUrl(returnUri, state) {
      return endSessionUrl(currentMetadata(), { clientId: config.clientId, returnUri, state })
    },

    async verifyLogoutToken(token) {
      const decoded = decodeLogoutToken(token)
      if (decoded === null) return 'logout-token-malformed'
      const reason = validateLogoutToken(decoded, {
        issuer: config.issuer,
        clientId: config.clientId,
        algorithms: config.idTokenAlgorithms,
        nowSeconds: unixSeconds(clock),
      })
      if (reason !== null) return reason
      const fault = await verifySignature(await currentMetadata(), token, 'logout')
      return fault === null ? readLogoutToken(decoded.claims) : `logout-token-${fault}`
    },

    async check() {
      const { jwks_uri } = await currentMetadata()
      const keys = await fetchKeySet(jwks_uri, providerFetch)
      if (keys.length === 0) throw new ProviderUnavailable('keys-malformed')
    },
  }
}
