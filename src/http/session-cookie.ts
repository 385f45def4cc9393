import { Signer } from '@fastify/cookie'

export const sessionCookie = 'sid'

/** Session cookies in a `Cookie` header; more than one if another site has set a duplicate. */
export function countSessionCookies(header: string | undefined): number {
  const pairs = header?.split(';') ?? []
  return pairs.filter((pair) => pair.split('=', 1)[0]?.trim() === sessionCookie).length
}

/**
 * Signs and verifies session ids with `secrets`; the first one signs. `@fastify/session` signs every
 * id that it has just verified: if the first secret has verified it, the signature is known.
 */
export function createSessionSigner(secrets: readonly string[]) {
  const signer = new Signer([...secrets])
  let verified = { id: '', cookie: '' }
  return {
    sign: (id: string) => (id === verified.id ? verified.cookie : signer.sign(id)),
    unsign(cookie: string) {
      const result = signer.unsign(cookie)
      if (result.valid && !result.renew) verified = { id: result.value, cookie }
      return result
    },
  }
}
