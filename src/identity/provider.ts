import * as oauth from 'oauth4webapi'
import { type Clock, unixSeconds } from '#src/clock.ts'
import { judgeCallback } from './callback.ts'
import { endSessionUrl } from './end-session.ts'
import { judgeIdToken, keepsAccessTokenHash, readIdToken, type VerifiedSignIn } from './id-token.ts'
import { createLogoutSignatureCheck } from './logout-signature.ts'
import {
  decodeLogoutToken,
  judgeLogoutToken,
  type LogoutRefusal,
  type ProviderLogout,
  readLogoutToken,
} from './logout-token.ts'
import { createProviderFetch } from './provider-fetch.ts'
import { createProviderKeys, createSignatureCheck } from './provider-keys.ts'
import { createMetadataCache, discover } from './provider-metadata.ts'
import { ProviderUnavailable, SignInRefused } from './refusal.ts'
import {
  type ClientCredentials,
  createCodeSender,
  readTokenResponse,
  type WireOptions,
} from './token-exchange.ts'

export type ProviderConfig = ClientCredentials & {
  name: string
  label: string
  /** Compared with the provider's metadata as text. */
  issuer: string
  /** Space-separated. */
  scopes: string
  /** The only algorithms an id_token may be signed with; asymmetric ones. */
  idTokenAlgorithms: readonly [string, ...string[]]
  /** http on loopback, outside production: derived once, in the configuration. */
  allowInsecure: boolean
}

/** The secrets of one sign-in between its start and its callback. */
export type PendingSignIn = { state: string; nonce: string; codeVerifier: string }

export type Provider = {
  config: ProviderConfig
  /**
   * Where to send the browser (specification, Authorize request).
   * @param extras further parameters, such as `max_age`
   * @throws ProviderUnavailable
   */
  authorizationUrl(
    pending: PendingSignIn,
    redirectUri: string,
    extras?: Readonly<Record<string, string>>,
  ): Promise<URL>
  /**
   * Judges the callback in the order iss, error, code, exchange, id_token (contract 4). The caller
   * has looked `state` up before. @throws SignInRefused | ProviderUnavailable
   */
  exchange(
    callbackParameters: URLSearchParams,
    pending: PendingSignIn,
    redirectUri: string,
  ): Promise<VerifiedSignIn>
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

export type ProviderDependencies = {
  clock: Clock
  fetch?: typeof fetch
  /** Of each call, connect to last byte; 5000 by default. */
  deadlineMs?: number
  /** Issuers of the other configured providers: their origins never get our codes and secrets. */
  otherIssuers?: readonly string[]
  /** Told when another client secret than the one used so far was accepted; 0 is the first. */
  secretSwitched?: (position: number) => void
}

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
export function createProvider(config: ProviderConfig, deps: ProviderDependencies): Provider {
  const { clock } = deps
  const providerFetch = createProviderFetch(deps)
  const wire: WireOptions = {
    [oauth.customFetch]: providerFetch,
    [oauth.allowInsecureRequests]: config.allowInsecure,
  }
  const rules = { ...config, otherIssuers: deps.otherIssuers ?? [] }
  const currentMetadata = createMetadataCache(() => discover(rules, providerFetch), clock)
  const sendCode = createCodeSender(config, wire, deps.secretSwitched ?? (() => {}))
  const withKeys = createProviderKeys(clock)
  const verifySignature = createSignatureCheck(wire, clock, withKeys)
  const verifyLogoutSignature = createLogoutSignatureCheck(
    config.idTokenAlgorithms,
    providerFetch,
    withKeys,
  )

  return {
    config,

    async authorizationUrl(pending, redirectUri, extras = {}) {
      const url = new URL((await currentMetadata()).authorization_endpoint)
      const parameters = {
        ...extras,
        response_type: 'code',
        client_id: config.clientId,
        redirect_uri: redirectUri,
        scope: config.scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(pending.codeVerifier),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url
    },

    async exchange(callbackParameters, pending, redirectUri) {
      const metadata = await currentMetadata()
      const callback = judgeCallback(metadata, config.clientId, callbackParameters, pending.state)
      const response = await sendCode(metadata, callback, pending.codeVerifier, redirectUri)
      const { claims, idToken, accessToken } = await readTokenResponse(
        metadata,
        config.clientId,
        response,
        pending.nonce,
        clock,
      )
      const header = readHeader(idToken)
      const reason = judgeIdToken(header, claims, {
        clientId: config.clientId,
        nowSeconds: unixSeconds(clock),
      })
      if (reason !== null) throw new SignInRefused(reason)
      if (!(await keepsAccessTokenHash(header, claims, accessToken))) {
        throw new SignInRefused('id-token-at-hash')
      }
      await verifySignature(metadata, response)
      return readIdToken(config.issuer, claims)
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
      const response = await providerFetch(jwks_uri, {
        method: 'GET',
        headers: { accept: 'application/json, application/jwk-set+json' },
      })
      const keySet: unknown = await response.json().catch(() => null)
      if (response.status !== 200 || !hasKeys(keySet)) {
        throw new ProviderUnavailable('keys-malformed')
      }
    },
  }
}

/** The library has parsed this header before; it judged `alg` by it. */
function readHeader(idToken: string): { alg: unknown; typ?: unknown } {
  const [encoded = ''] = idToken.split('.')
  return JSON.parse(Buffer.from(encoded, 'base64url').toString())
}

function hasKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return false
  return Array.isArray(value.keys) && value.keys.length > 0
}
