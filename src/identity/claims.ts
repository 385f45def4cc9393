/** What a provider has proven about a person. */
export type ProvenIdentity = {
  provider: string
  issuer: string
  subject: string
  email: string | null
  /** The provider says so and is trusted for the address's domain. */
  emailTrusted: boolean
  name: string | null
}

/** What the database knows that bears on the identity. */
export type Known = {
  /** The user who holds this (provider, sub), if any. */
  identityUserId: number | null
  /** Users with the same ASCII-lower-cased address. */
  sameAddress: readonly { userId: number; emailVerified: boolean }[]
}

export type IdentityDecision =
  | { kind: 'sign-in'; userId: number }
  | { kind: 'link'; userId: number }
  | { kind: 'create'; emailVerified: boolean }
  | { kind: 'refuse'; reason: 'email-known' }

/**
 * Decides what a proven identity means. The key is (provider, sub), never the address. An address
 * links two identities only when both sides hold it verified through a trusted provider; an
 * address that is known but not so proven is refused, so no account can be taken by claiming one.
 */
export function decideIdentity(identity: ProvenIdentity, known: Known): IdentityDecision {
  if (known.identityUserId !== null) return { kind: 'sign-in', userId: known.identityUserId }
  if (identity.email === null || known.sameAddress.length === 0) {
    return { kind: 'create', emailVerified: identity.email !== null && identity.emailTrusted }
  }
  const [only, ...others] = known.sameAddress
  if (identity.emailTrusted && only?.emailVerified && others.length === 0) {
    return { kind: 'link', userId: only.userId }
  }
  return { kind: 'refuse', reason: 'email-known' }
}

/** Whether the provider may vouch for the address: setting `OIDC_<NAME>_TRUST_EMAIL`. */
export function trustsAddress(trust: boolean | readonly string[], email: string): boolean {
  if (typeof trust === 'boolean') return trust
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return trust.includes(domain)
}
