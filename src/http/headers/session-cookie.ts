export const sessionCookie = 'sid'

/** Session cookies in a `Cookie` header; more than one if another site has set a duplicate. */
export function countSessionCookies(header: string | undefined): number {
  const pairs = header?.split(';') ?? []
  return pairs.filter((pair) => pair.split('=', 1)[0]?.trim() === sessionCookie).length
}

/** As @fastify/cookie has it: the first of its secrets signs, `renew` says that another one verified. */
type Signer = {
  sign(id: string): string
  unsign(cookie: string): Unsigned
}
type Unsigned = { readonly valid: boolean; readonly renew: boolean; readonly value: string | null }

/** Cookies whose signature was verified last are known; each takes about 300 bytes. */
const maxVerified = 1_000

/**
 * The same signer for `@fastify/session`, which verifies the cookie of every request and then signs its id again. A
 * cookie whose signature it has verified before is not computed again: its result depends on nothing else.
 * Whether the session is live is in the database. If the first secret has verified an id, its signature is known.
 */
export function rememberVerified(signer: Signer): Signer {
  const verified = new Map<string, Unsigned>()
  let latest = { id: '', cookie: '' }
  const remember = (cookie: string, result: Unsigned) => {
    const [oldest = ''] = verified.size < maxVerified ? [] : verified.keys()
    verified.delete(oldest)
    verified.set(cookie, result)
  }
  return {
    sign: (id) => (id === latest.id ? latest.cookie : signer.sign(id)),
    unsign(cookie) {
      const known = verified.get(cookie)
      const result = known ?? signer.unsign(cookie)
      const { value, renew } = result
      if (value === null) return result
      if (known === undefined) remember(cookie, result)
      if (!renew) latest = { id: value, cookie }
      return result
    },
  }
}
