import { inspect } from 'node:util'
import type { Test } from 'tap'
import {
  createProvider,
  type PendingSignIn,
  type Provider,
  type ProviderDeps,
  randomPending,
} from '#src/auth/oidc/client.ts'
import { ProviderUnavailable, SignInRefused } from '#src/auth/oidc/errors.ts'
import type { VerifiedSignIn } from '#src/auth/oidc/tokens/id-token.ts'
import type { OidcClientConfig } from '#src/config/providers/providers.ts'
import { type Calls, type Faults, startHostileProvider } from './hostile-provider.ts'
import { makeKey } from './hostile-tokens.ts'
import { withoutQuirks } from './without-quirks.ts'

export const redirectUri = 'http://localhost:3000/auth/callback'
export const clientId = 'gatehouse'
export const clientSecret = 'secret_of_the_client'

/** Far from the system time, so that a check against another clock fails. */
export const now = Date.UTC(2031, 4, 6, 7, 8, 9) / 1000
export const clock = { seconds: now, now: () => new Date(clock.seconds * 1000 + 250) }

export const rsaKey = await makeKey('RS256', 'rsa-1')
export const ecKey = await makeKey('ES256', 'ec-1')
/** Keys that are never published. */
export const strangerKey = await makeKey('RS256', 'rsa-1')

/** A hostile provider that runs until the end of the test. */
export async function startProvider(t: Test) {
  const keys = [rsaKey, ecKey] as const
  const op = await startHostileProvider({ clock, keys, secret: clientSecret })
  t.teardown(() => op.close())
  return op
}

export type Opponent = Awaited<ReturnType<typeof startProvider>>

export function relyingParty(
  op: Opponent,
  config: Partial<OidcClientConfig> = {},
  deps: Partial<ProviderDeps> = {},
): Provider {
  const honest: OidcClientConfig = {
    name: 'hostile',
    label: 'Hostile',
    issuer: op.issuer,
    clientId,
    clientSecrets: [clientSecret],
    clientAuth: 'client_secret_post',
    clientKey: null,
    ...withoutQuirks,
    storeTokens: false,
    userinfo: false,
    scopes: 'openid email profile',
    idTokenAlgorithms: ['RS256'],
    allowInsecure: true,
  }
  return createProvider({ ...honest, ...config }, { clock, ...deps })
}

/** A whole sign-in: start, authorization, callback. */
export async function signIn(
  op: Opponent,
  provider: Provider,
  pending: PendingSignIn = randomPending(),
): Promise<VerifiedSignIn> {
  const url = await provider.authorizationUrl(pending, redirectUri)
  return provider.exchange(op.approve(url), pending, redirectUri)
}

export type Attempt = {
  outcome: VerifiedSignIn | null
  /** Reason code of a refusal or outage; null after success. */
  reason: string | null
  error: SignInRefused | ProviderUnavailable | null
  /** Calls to the provider during the sign-in. */
  calls: Pick<Calls, 'metadata' | 'jwks' | 'token'>
}

/** Runs a sign-in with a fault and checks that the error, if any, contains no secret. */
export async function attempt(
  t: Test,
  op: Opponent,
  fault: Partial<Faults>,
  provider: Provider = relyingParty(op),
): Promise<Attempt> {
  op.fault = fault
  const before = { ...op.calls }
  const pending = randomPending()
  const result = await signIn(op, provider, pending).then(
    (outcome) => ({ outcome, reason: null, error: null }),
    (error: unknown) => ({ outcome: null, ...judged(t, error, pending) }),
  )
  await fetch(`${op.issuer}/marker`) // all earlier requests have arrived before this one
  const { metadata, jwks, token } = op.calls
  const calls = {
    metadata: metadata - before.metadata,
    jwks: jwks - before.jwks,
    token: token - before.token,
  }
  return { ...result, calls }
}

/** The error of a promise that must reject with SignInRefused or ProviderUnavailable. */
export async function failure(
  t: Test,
  promise: Promise<unknown>,
): Promise<SignInRefused | ProviderUnavailable> {
  return promise.then(
    () => Promise.reject(new Error('nothing was refused')),
    (error: unknown) => judged(t, error, randomPending()).error,
  )
}

function judged(t: Test, error: unknown, pending: PendingSignIn) {
  if (!(error instanceof SignInRefused) && !(error instanceof ProviderUnavailable)) throw error
  t.notOk('cause' in error, 'no cause')
  const shown = `${inspect(error, { depth: 9, showHidden: true })}${JSON.stringify(error)}`
  const secrets = [...Object.values(pending), clientSecret, 'eyJ', 'opaque-', 'grant_']
  const leaked = secrets.filter((secret) => shown.includes(secret))
  t.same(leaked, [], 'the error contains no secret')
  return { error, reason: error.reason }
}
