import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { JsonObject } from '#src/runtime/json.ts'

/** A signed token whose signature is not verified yet. */
export type Token = { text: string; header: JsonObject; claims: JsonObject }

/** @returns null unless the text is a compact JWS over a JSON object without `crit` */
export function decodeToken(text: string): Token | null {
  try {
    const header: JsonObject = decodeProtectedHeader(text)
    const claims: JsonObject = decodeJwt(text)
    // No critical extension is supported, such as unencoded payloads (RFC 7797).
    return header.crit === undefined ? { text, header, claims } : null
  } catch {
    return null
  }
}

/**
 * A non-empty string. Providers send optional members as null, as empty text or with another type;
 * those count as absent.
 */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * Compares media types without case; `application/` may be left out (RFC 7515, 4.1.9).
 * @param expected in lower case, without `application/`
 */
export function isMediaType(value: string, expected: readonly string[]): boolean {
  return expected.includes(value.toLowerCase().replace(/^application\//, ''))
}

/** A member that is checked if it is there; null and empty text count as absent. */
export function present(value: unknown): unknown {
  return value === undefined || value === '' ? null : value
}

/** True if the header `typ` is absent or one of these media types. */
export function hasType({ typ }: JsonObject, expected: readonly string[]): boolean {
  const type = present(typ)
  return type === null || (typeof type === 'string' && isMediaType(type, expected))
}

/** Seconds since 1970, with a fraction or without (RFC 7519, 2: NumericDate). */
export function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
