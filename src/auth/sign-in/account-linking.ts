/** What a provider has proven about a person. */
export type ProvenIdentity = {
  provider: string
  issuer: string
  subject: string
  email: string | null
  /** The provider says so and is trusted for the address's domain. */
  emailTrusted: boolean
  name: string | null
  /** Unix seconds at which the person last authenticated there; null when the provider is silent. */
  authenticatedAt: number | null
}

/** What the visit to the provider was for. */
export type Intent =
  | { kind: 'sign-in' }
  | {
      kind: 'link' | 'reauthenticate'
      /** Who started it. */
      userId: number
      /** Whose the session is that started it, now that the answer is here; null when it ended. */
      sessionUserId: number | null
      /** Unix seconds by the program's clock. */
      startedAt: number
    }

/** What the database knows that bears on the identity. */
export type Known = {
  /** The user who holds this (provider, sub), if any. */
  identityUserId: number | null
  /** Users with the same ASCII-lower-cased address. */
  sameAddress: readonly { userId: number; emailVerified: boolean }[]
}

export type IdentityRefusal =
  | 'email-known'
  | 'session-changed'
  | 'identity-of-another'
  | 'another-identity'
  | 'not-authenticated-anew'

export type IdentityDecision =
  | { kind: 'sign-in'; userId: number }
  | { kind: 'link'; userId: number }
  | { kind: 'create'; emailVerified: boolean }
  /** Explicitly, into the session that started it; nothing to add when it is theirs already. */
  | { kind: 'link-own'; userId: number; known: boolean }
  | { kind: 'reauthenticate'; userId: number }
  | { kind: 'refuse'; reason: IdentityRefusal }

/** Clocks differ: a provider's may be this many seconds behind ours. */
export const authenticationToleranceSeconds = 30

/**
 * Decides what a proven identity means. The key is (provider, sub), never the address. An identity
 * never changes its owner: one that is somebody's signs in that somebody or is refused.
 */
export function decideIdentity(
  identity: ProvenIdentity,
  intent: Intent,
  known: Known,
): IdentityDecision {
  if (intent.kind === 'sign-in') return decideSignIn(identity, known)
  const { userId } = intent
  if (intent.sessionUserId !== userId) return refuse('session-changed')
  const owner = known.identityUserId
  if (intent.kind === 'link') {
    if (owner !== null && owner !== userId) return refuse('identity-of-another')
    return { kind: 'link-own', userId, known: owner === userId }
  }
  if (owner !== userId) return refuse('another-identity')
  const { authenticatedAt } = identity
  const earliest = intent.startedAt - authenticationToleranceSeconds
  if (authenticatedAt === null || authenticatedAt < earliest) {
    return refuse('not-authenticated-anew')
  }
  return { kind: 'reauthenticate', userId }
}

/**
 * An address links two identities only when both sides hold it verified through a trusted provider;
 * an address that is known but not so proven is refused, so no account can be taken by claiming one.
 */
function decideSignIn(identity: ProvenIdentity, known: Known): IdentityDecision {
  if (known.identityUserId !== null) return { kind: 'sign-in', userId: known.identityUserId }
  if (identity.email === null || known.sameAddress.length === 0) {
    return { kind: 'create', emailVerified: identity.email !== null && identity.emailTrusted }
  }
  const [only, ...others] = known.sameAddress
  if (identity.emailTrusted && only?.emailVerified && others.length === 0) {
    return { kind: 'link', userId: only.userId }
  }
  return refuse('email-known')
}

function refuse(reason: IdentityRefusal): IdentityDecision {
  return { kind: 'refuse', reason }
}

/** Whether the provider may vouch for the address: setting `OIDC_<NAME>_TRUST_EMAIL`. */
export function trustsAddress(trust: boolean | readonly string[], email: string): boolean {
  if (typeof trust === 'boolean') return trust
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return trust.includes(domain)
}
