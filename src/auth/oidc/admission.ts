import type { Requirement } from '#src/config/providers/providers.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import type { RefusalReason } from './errors.ts'

/**
 * Whether a person whose identity is verified may sign in at all: settings `OIDC_<NAME>_TENANTS` and
 * `OIDC_<NAME>_REQUIRE`. Both are judged by the claims of the provider's answer; to ask only for such
 * people in the authorization request would not keep others out.
 * @param claims with `email` only if it is verified
 * @returns the reason to refuse them, or null
 */
export function admit(
  claims: JsonObject,
  rules: { tenants: readonly string[]; require: readonly Requirement[] },
): Extract<RefusalReason, 'tenant-not-allowed' | 'claim-required'> | null {
  const { tenants, require } = rules
  if (tenants.length > 0 && !tenants.includes(String(claims.tid))) return 'tenant-not-allowed'
  return require.every((requirement) => isMet(requirement, claims)) ? null : 'claim-required'
}

/** A list claim, such as groups, has to contain one of the values. */
export function isMet({ claim, values }: Requirement, claims: JsonObject): boolean {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : null
  const found: unknown[] = Array.isArray(value) ? value : [value]
  return found.some(
    (one) => ['string', 'number', 'boolean'].includes(typeof one) && values.includes(String(one)),
  )
}
