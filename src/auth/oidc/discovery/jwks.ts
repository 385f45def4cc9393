import { compactVerify, importJWK } from 'jose'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { ProviderUnavailable } from '../errors.ts'
import type { ProviderFetch } from '../fetch.ts'
import { type Token, textOf } from '../token.ts'
import { maySign } from './issuer.ts'

/** What a signature is verified for. */
export type KeyUse = 'sign-in' | 'logout'

/** `key`: no published key matches the token, or several do. */
export type SignatureFault = 'key' | 'signature'

/**
 * Verifies a signature with the published keys. The caller has checked that the algorithm is one of
 * the configured ones.
 * @returns null for a valid signature
 * @throws ProviderUnavailable
 */
export type VerifySignature = (
  keysUrl: string,
  use: KeyUse,
  token: Token,
) => Promise<SignatureFault | null>

type KeySet = { url: string; keys: readonly JsonObject[]; fetchedAt: number }

const lifetimeSeconds = 300
const renewalWindowSeconds = 60

/**
 * The published keys of one provider, cached for five minutes. If no key matches a token, they are
 * fetched once more: a provider may rotate its keys right before it signs. That happens at most once
 * per minute and use: logout tokens come from anyone, so forged ones must not use up the renewals of
 * sign-ins. Keys that were fetched stay known while the provider cannot send newer ones. Keys in a
 * header (`jwk`, `jku`, `x5u`, `x5c`) are ignored.
 */
export function createSignatureCheck(fetch: ProviderFetch, clock: Clock): VerifySignature {
  let known: KeySet | undefined
  const pendingFetches = new Map<string, Promise<KeySet>>()
  const renewedAt = new Map<KeyUse, number>()

  /** Concurrent calls share one fetch. */
  function load(url: string): Promise<KeySet> {
    const pending = pendingFetches.get(url)
    if (pending !== undefined) return pending
    const fetched = fetchKeySet(url, fetch)
      .then((keys) => {
        known = { url, keys, fetchedAt: unixSeconds(clock) }
        return known
      })
      .finally(() => pendingFetches.delete(url))
    pendingFetches.set(url, fetched)
    return fetched
  }

  async function currentKeys(url: string): Promise<KeySet> {
    const isFresh =
      known?.url === url && unixSeconds(clock) - known.fetchedAt < lifetimeSeconds && known
    return isFresh || load(url)
  }

  function mayRenew(use: KeyUse): boolean {
    const now = unixSeconds(clock)
    if (now - (renewedAt.get(use) ?? Number.NEGATIVE_INFINITY) < renewalWindowSeconds) return false
    renewedAt.set(use, now)
    return true
  }

  async function findCandidates(url: string, use: KeyUse, token: Token): Promise<JsonObject[]> {
    const first = await currentKeys(url)
    const found = candidatesFor(first.keys, token)
    if (found.length > 0) return found
    const renewing = pendingFetches.get(url) // for a concurrent token
    const latest = renewing === undefined ? known : await renewing
    if (latest !== undefined && latest !== first) return candidatesFor(latest.keys, token)
    if (!mayRenew(use)) return []
    return candidatesFor((await load(url)).keys, token)
  }

  return async function verifySignature(keysUrl, use, token) {
    if (keyTypeOf(token.header.alg) === null) return 'signature'
    const [key, ...others] = await findCandidates(keysUrl, use, token)
    if (key === undefined || others.length > 0) return 'key'
    return (await isSignedBy(key, token)) ? null : 'signature'
  }
}

const publicMembers = ['kty', 'crv', 'n', 'e', 'x', 'y'] as const

async function isSignedBy(key: JsonObject, { text, header }: Token): Promise<boolean> {
  const algorithm = String(header.alg)
  const members = publicMembers.map((name) => [name, key[name]])
  try {
    const imported = await importJWK(Object.fromEntries(members), algorithm)
    await compactVerify(text, imported, { algorithms: [algorithm] })
    return true
  } catch {
    return false
  }
}

/** The published keys that may have signed the token; a key that is listed twice counts once. */
function candidatesFor(keys: readonly JsonObject[], { header, claims }: Token): JsonObject[] {
  const type = keyTypeOf(header.alg)
  if (type === null) return []
  const kid = textOf(header.kid)
  const found = keys.filter(
    (key) =>
      key.kty === type.kty &&
      type.members.every((name) => textOf(key[name]) !== null) &&
      (type.crv === undefined || key.crv === type.crv) &&
      (kid === null || key.kid === kid) &&
      (textOf(key.use) ?? 'sig') === 'sig' &&
      (textOf(key.alg) ?? header.alg) === header.alg &&
      (!Array.isArray(key.key_ops) || key.key_ops.length === 0 || key.key_ops.includes('verify')) &&
      maySign(key.issuer, claims),
  )
  const byMaterial = new Map(
    found.map((key) => [JSON.stringify(publicMembers.map((name) => key[name])), key]),
  )
  return [...byMaterial.values()]
}

/** `members`: without them it is no key, whatever its `kid`. */
type KeyType = { kty: string; crv?: string; members: readonly ('n' | 'e' | 'x' | 'y')[] }

const point = ['x', 'y'] as const

const curves: Readonly<Record<string, KeyType>> = {
  ES256: { kty: 'EC', crv: 'P-256', members: point },
  ES384: { kty: 'EC', crv: 'P-384', members: point },
  ES512: { kty: 'EC', crv: 'P-521', members: point },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', members: ['x'] },
  Ed25519: { kty: 'OKP', crv: 'Ed25519', members: ['x'] },
}

/** Null for symmetric algorithms and for `none`, which no key verifies. */
function keyTypeOf(algorithm: unknown): KeyType | null {
  if (typeof algorithm !== 'string') return null
  if (/^[RP]S(256|384|512)$/.test(algorithm)) return { kty: 'RSA', members: ['n', 'e'] }
  return Object.hasOwn(curves, algorithm) ? (curves[algorithm] ?? null) : null
}

/**
 * Fetches a key set (RFC 7517, 5). Entries that are not objects are left out.
 * @throws ProviderUnavailable
 */
export async function fetchKeySet(url: string, fetch: ProviderFetch): Promise<JsonObject[]> {
  const response = await fetch(url, {
    method: 'GET',
    headers: { accept: 'application/json, application/jwk-set+json' },
  })
  const body = response.status === 200 ? parseJsonObject(await response.text()) : null
  const entries: unknown = body?.keys
  if (!Array.isArray(entries)) throw new ProviderUnavailable('keys-malformed')
  const keys = entries.filter(isJsonObject)
  if (keys.length === 0 && entries.length > 0) throw new ProviderUnavailable('keys-malformed')
  return keys
}
