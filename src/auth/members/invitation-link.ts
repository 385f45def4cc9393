import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { equalBytes, hmacSha256, sha256 } from '#src/crypto/hash.ts'

/** The secret of a link as it is in the URL: 32 bytes in base64url. */
export const linkPattern = '^[A-Za-z0-9_-]{43}$'

/**
 * Holds the secret of a link while its person signs in. Browsers send it to the page of that invitation and
 * to the end of a sign-in, which may create an account for it.
 */
export const linkCookie = 'invitation'

const linkForm = new RegExp(linkPattern)

/** The secret in the cookie; undefined without one. */
export function linkOf(cookies: Readonly<Record<string, string | undefined>>): string | undefined {
  const kept = cookies[linkCookie]
  return kept !== undefined && linkForm.test(kept) ? kept : undefined
}

/**
 * The secret of the link of a new invitation, for `hash` to be stored. It is derived from the id, so that
 * a mail that is tried again and the members page show the same link. Computing it needs the key.
 */
export function deriveLink({ secret }: EncryptionKeys[number], id: string) {
  const link = hmacSha256(secret, `gatehouse invitation link 1 ${id}`)
  return { link: link.toString('base64url'), hash: sha256(link) }
}

/**
 * The URL that an invited person opens: with its secret they answer the invitation if they sign in with
 * the invited address, also through a provider that is not trusted for it.
 * @param hash the stored hash. If its key was removed, the URL has no secret, and the address must be
 *   verified by a trusted provider
 */
export function invitationUrl(
  { baseUrl, keys }: { baseUrl: string; keys: EncryptionKeys },
  id: string,
  hash: Uint8Array | null,
): string {
  const page = `${baseUrl}/app/invitations/${id}`
  const derived = keys.map((key) => deriveLink(key, id))
  const known = derived.find((one) => hash !== null && equalBytes(one.hash, hash))
  return known === undefined ? page : `${page}/open?link=${known.link}`
}

/** The bytes of a secret; null without one. */
export function readLink(link: string | undefined): Buffer | null {
  return link === undefined ? null : Buffer.from(link, 'base64url')
}
