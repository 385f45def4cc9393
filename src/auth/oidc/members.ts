import { isJsonObject, type JsonObject } from '#src/runtime/json.ts'

/**
 * Members of a provider's JSON without those that are null or empty: providers write them where
 * others leave an optional member out.
 */
export function presentMembers(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null && value !== ''),
  )
}

// Printable ASCII; in a scope without quote and backslash (RFC 6749, appendix A).
export const tokenCharacters = /^[ -~]+$/
const scopeCharacters = /^[ !#-[\]-~]+$/
const decimal = /^\d{1,15}(?:\.\d*)?$/

/**
 * A token response (RFC 6749, 5.1) with the members that are used here. An optional one that has not
 * its form counts as absent, because the others are usable without it.
 */
export function usableTokenMembers(body: JsonObject): JsonObject {
  const { access_token, token_type, id_token, refresh_token, scope, expires_in } = body
  return presentMembers({
    access_token,
    token_type,
    id_token: typeof id_token === 'string' ? id_token : null,
    refresh_token: matches(refresh_token, tokenCharacters) ? refresh_token : null,
    scope: matches(scope, scopeCharacters) ? scope : null,
    expires_in: secondsOf(expires_in),
  })
}

/** Some providers send the number as text. */
function secondsOf(value: unknown): number | null {
  const seconds = matches(value, decimal) ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds) ? seconds : null
}

function matches(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value)
}

/**
 * A JWT whose claims are as `presentMembers` leaves them, to be judged by the library. `auth_time`
 * that is no number counts as absent too: only a confirmation of the identity needs it. The signature
 * is that of the token as received, which must be verified.
 */
export function withPresentClaims(token: string): string {
  const [header, payload = '', signature, ...rest] = token.split('.')
  const claims = parsePayload(payload)
  if (claims === null || signature === undefined || rest.length > 0) return token
  const { auth_time, ...present } = presentMembers(claims)
  const usable = typeof auth_time === 'number' ? { ...present, auth_time } : present
  if (Object.keys(usable).length === Object.keys(claims).length) return token
  return [header, Buffer.from(JSON.stringify(usable)).toString('base64url'), signature].join('.')
}

function parsePayload(payload: string): JsonObject | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return isJsonObject(claims) ? claims : null
  } catch {
    return null
  }
}

/** The `typ` of a JOSE header in lower case, without `application/` (RFC 7515, 4.1.9). */
export function typeOf({ typ }: { typ?: unknown }): unknown {
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ
}
