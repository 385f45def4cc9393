import * as oauth from 'oauth4webapi'
import type { OidcClientConfig } from '#src/config/providers.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { authorizationRequest, judgeCallback } from './authorization.ts'
import { createClientSender, type WireOptions } from './client-auth.ts'
import { createMetadataCache, discover, type ProviderMetadata } from './discovery.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import { createProviderFetch } from './fetch.ts'
import {
  judgeIdToken,
  keepsAccessTokenHash,
  readHeader,
  readIdToken,
  type VerifiedSignIn,
} from './id-token.ts'
import { createProviderKeys, createSignatureCheck, fetchKeySet } from './jwks.ts'
import {
  createLogoutSignatureCheck,
  decodeLogoutToken,
  endSessionUrl,
  judgeLogoutToken,
  type LogoutRefusal,
  type ProviderLogout,
  readLogoutToken,
} from './logout.ts'
import {
  libraryClient,
  type RevocationAnswer,
  readTokenResponse,
  refreshTokens,
  revokeToken,
  type SendRefresh,
  sendCode,
  type TokenKind,
  type TokenSet,
} from './token-endpoint.ts'
import { completeClaims, fetchUserinfo } from './userinfo.ts'

/** The secrets of one sign-in between its start and its callback. */
export type PendingSignIn = { state: string; nonce: string; codeVerifier: string }

/** A completed sign-in; `tokens` is null unless they are to be kept. */
type ProvenSignIn = VerifiedSignIn & { tokens: (TokenSet & { scope: string }) | null }

export type Provider = {
  config: OidcClientConfig
  /**
   * Where to send the browser (specification, Authorize request).
   * @param extras further parameters, such as `max_age`
   * @param extraScopes space-separated, beyond the configured ones: an explicit new authorization
   *   for a feature that needs them; what is then granted replaces what was granted before
   * @throws ProviderUnavailable
   */
  authorizationUrl(
    pending: PendingSignIn,
    redirectUri: string,
    extras?: Readonly<Record<string, string>>,
    extraScopes?: string,
  ): Promise<URL>
  /**
   * Judges the callback in the order iss, error, code, exchange, id_token (contract 4). The caller
   * has looked `state` up before. @throws SignInRefused | ProviderUnavailable
   */
  exchange(
    callbackParameters: URLSearchParams,
    pending: PendingSignIn,
    redirectUri: string,
  ): Promise<ProvenSignIn>
  /**
   * Makes sure that the provider can be reached, before any token is on its way.
   * @returns what sends one refresh token, once
   * @throws ProviderUnavailable
   */
  openRefresh(): Promise<SendRefresh>
  /** Revokes a token (RFC 7009). @throws ProviderUnavailable */
  revoke(token: { text: string; kind: TokenKind }): Promise<RevocationAnswer>
  /** Where a browser ends its session at the provider; null where that cannot be offered. */
  endSessionUrl(returnUri: string, state: string): Promise<URL | null>
  /**
   * Judges a logout token by everything but its single use; its facts, or why it is refused.
   * @throws ProviderUnavailable
   */
  verifyLogoutToken(token: string): Promise<ProviderLogout | LogoutRefusal>
  /** Resolves when metadata and keys can be had. @throws ProviderUnavailable */
  check(): Promise<void>
}

export type ProviderDeps = {
  clock: Clock
  fetch?: typeof fetch
  /** Of each call, connect to last byte; 5000 by default. */
  deadlineMs?: number
  /** Issuers of the other configured providers: their origins never get our codes and secrets. */
  otherIssuers?: readonly string[]
  /** Told when another client secret than the one used so far was accepted; 0 is the first. */
  secretSwitched?: (position: number) => void
}

// Metadata this young shows that the provider is up; older is fetched again before a token is sent.
const reachableSeconds = 60

/** Random values of a new sign-in: 32 bytes each, 43 characters of base64url. */
export function randomPending(): PendingSignIn {
  return {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    codeVerifier: oauth.generateRandomCodeVerifier(),
  }
}

/**
 * The conversation with one OpenID Provider. Nothing is fetched before the first use. With several
 * providers each pending sign-in belongs to one of them: against mix-up stand its own endpoints,
 * `iss` of the response where the provider sends it, and the issuer of the id_token in any case.
 */
export function createProvider(config: OidcClientConfig, deps: ProviderDeps): Provider {
  const { clock } = deps
  const providerFetch = createProviderFetch(deps)
  const wire: WireOptions = {
    [oauth.customFetch]: providerFetch,
    [oauth.allowInsecureRequests]: config.allowInsecure,
  }
  const rules = { ...config, otherIssuers: deps.otherIssuers ?? [] }
  const currentMetadata = createMetadataCache(() => discover(rules, providerFetch), clock)
  const sendAsClient = createClientSender(config, deps.secretSwitched ?? (() => {}))
  const withKeys = createProviderKeys(clock)
  const verifySignature = createSignatureCheck(wire, clock, withKeys)
  const verifyLogoutSignature = createLogoutSignatureCheck(
    config.idTokenAlgorithms,
    providerFetch,
    withKeys,
  )

  const asClient = () => libraryClient(config.clientId, clock)
  const askUserinfo = (metadata: ProviderMetadata, accessToken: string, subject: string) =>
    fetchUserinfo(metadata, asClient(), { accessToken, subject }, wire, verifySignature)

  return {
    config,

    async authorizationUrl(pending, redirectUri, extras = {}, extraScopes = '') {
      const { authorization_endpoint } = await currentMetadata()
      const request = { pending, redirectUri, extras, extraScopes }
      return authorizationRequest(authorization_endpoint, config, request)
    },

    async exchange(callbackParameters, pending, redirectUri) {
      const metadata = await currentMetadata()
      const callback = judgeCallback(metadata, config.clientId, callbackParameters, pending.state)
      const response = await sendCode(metadata, asClient(), sendAsClient, wire, {
        callback,
        codeVerifier: pending.codeVerifier,
        redirectUri,
      })
      const { claims, idToken, tokens } = await readTokenResponse(
        metadata,
        asClient(),
        response,
        pending.nonce,
      )
      const header = readHeader(idToken)
      const reason = judgeIdToken(header, claims, {
        clientId: config.clientId,
        nowSeconds: unixSeconds(clock),
      })
      if (reason !== null) throw new SignInRefused(reason)
      if (!(await keepsAccessTokenHash(header, claims, tokens.accessToken))) {
        throw new SignInRefused('id-token-at-hash')
      }
      await verifySignature(metadata, response)
      const known = config.userinfo
        ? completeClaims(claims, await askUserinfo(metadata, tokens.accessToken, claims.sub))
        : claims
      return {
        ...readIdToken(config.issuer, known),
        // An answer that names no scope grants what was asked for; of that only the configured
        // part is certain here (RFC 6749, 5.1).
        tokens: config.storeTokens ? { ...tokens, scope: tokens.scope ?? config.scopes } : null,
      }
    },

    async openRefresh() {
      const metadata = await currentMetadata(reachableSeconds)
      const { clientId } = config
      const conversation = { metadata, clientId, sendAsClient, wire, verifySignature, clock }
      return (refreshToken, subject) => refreshTokens(conversation, refreshToken, subject)
    },

    async revoke(token) {
      return revokeToken(await currentMetadata(), asClient(), sendAsClient, wire, token)
    },

    endSessionUrl(returnUri, state) {
      return endSessionUrl(currentMetadata(), { clientId: config.clientId, returnUri, state })
    },

    async verifyLogoutToken(token) {
      const decoded = decodeLogoutToken(token)
      if (decoded === null) return 'logout-token-malformed'
      const reason = judgeLogoutToken(decoded, {
        issuer: config.issuer,
        clientId: config.clientId,
        algorithms: config.idTokenAlgorithms,
        nowSeconds: unixSeconds(clock),
      })
      if (reason !== null) return reason
      const fault = await verifyLogoutSignature(await currentMetadata(), token)
      return fault ?? readLogoutToken(decoded.claims)
    },

    async check() {
      const { jwks_uri } = await currentMetadata()
      const { keys } = await fetchKeySet(jwks_uri, providerFetch)
      if (keys.length === 0) throw new ProviderUnavailable('keys-malformed')
    },
  }
}
