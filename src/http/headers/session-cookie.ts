export const sessionCookie = 'sid'

/** Session cookies in a `Cookie` header; more than one if another site has set a duplicate. */
export function countSessionCookies(header: string | undefined): number {
  const pairs = header?.split(';') ?? []
  return pairs.filter((pair) => pair.split('=', 1)[0]?.trim() === sessionCookie).length
}

/** As @fastify/cookie has it: the first of its secrets signs, `renew` says that another one verified. */
type Signer = {
  sign(id: string): string
  unsign(cookie: string): { valid: boolean; renew: boolean; value: string | null }
}

/**
 * The same signer for `@fastify/session`, which signs every id that it has just verified: if the first
 * secret has verified it, its signature is known.
 */
export function rememberVerified(signer: Signer): Signer {
  let verified = { id: '', cookie: '' }
  return {
    sign: (id) => (id === verified.id ? verified.cookie : signer.sign(id)),
    unsign(cookie) {
      const result = signer.unsign(cookie)
      const { value } = result
      if (value !== null && !result.renew) verified = { id: value, cookie }
      return result
    },
  }
}
