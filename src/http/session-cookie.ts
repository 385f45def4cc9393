export const sessionCookie = 'sid'

/** Session cookies in a `Cookie` header; more than one if another site has set a duplicate. */
export function countSessionCookies(header: string | undefined): number {
  const pairs = header?.split(';') ?? []
  return pairs.filter((pair) => pair.split('=', 1)[0]?.trim() === sessionCookie).length
}
