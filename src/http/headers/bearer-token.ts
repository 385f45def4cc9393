/**
 * Reads an `Authorization` header (RFC 6750, section 2.1): the one place that decides whether a
 * request presents a bearer token.
 * @returns null without the scheme `Bearer`; an empty string if the scheme has no single token
 */
export function readBearerToken(header: string | undefined): string | null {
  const match = /^bearer(?: +(\S+)|\s.*)?$/is.exec(header ?? '')
  return match === null ? null : (match[1] ?? '')
}
