import { loopbackHosts } from '#src/config/parse.ts'

/** The verified facts about a user from a completed sign-in at a provider. */
export type VerifiedIdentity = {
  provider: string
  issuer: string
  subject: string
  email: string | null
  /** The provider has verified the address and is trusted for its domain. */
  emailTrusted: boolean
  name: string | null
  /** The language that the person reads, BCP 47; null if neither provider nor browser names one. */
  locale: string | null
  /** Unix seconds of the last authentication at the provider; null if it is not known. */
  authenticatedAt: number | null
}

/** The purpose of the sign-in at the provider. */
export type Intent =
  | { kind: 'sign-in' }
  | {
      kind: 'link' | 'reauthenticate'
      /** The user who started it. */
      userId: number
      /** The current user of the session that started it; null if the session has ended. */
      sessionUserId: number | null
      /** Unix seconds by the program's clock. */
      startedAt: number
      /** False if the provider of the session did not say when the user authenticated. */
      isTimeKnown: boolean
    }

/** The users in the database that match the identity. */
export type ExistingUsers = {
  /** The user with this identity (provider and `sub`). */
  identityUserId: number | null
  /** The issuer that this identity came from. */
  identityIssuer: string | null
  /**
   * The user who has verified the same address through a trusted provider. Addresses are compared
   * with ASCII letters in lower case.
   */
  addressUserId: number | null
  /** That user also has the identity of an operator. */
  addressUserOperates: boolean
  /** One of that user's identities had the address, verified, at its latest sign-in. */
  addressIsCurrent: boolean
}

export type IdentityRefusal =
  | 'email-known'
  | 'session-changed'
  | 'identity-of-another'
  | 'another-identity'
  | 'not-authenticated-anew'
  | 'concurrent-change'
  | 'issuer-changed'
  | 'sign-up-closed'
  | 'not-invited'

/** Who may get an account (setting `SIGN_UP`). */
export type SignUp = 'open' | 'invited' | 'closed'

/** What the database knows about a person who asks to be let in. */
export type AdmissionFacts = {
  /** The address has an open invitation. */
  invited: boolean
  /** The browser has opened the link of that invitation, which shows that the person reads its mailbox. */
  hasLink: boolean
}

export type IdentityDecision =
  | { kind: 'sign-in'; userId: number }
  | { kind: 'link'; userId: number }
  | { kind: 'create' }
  /** Links on the user's own request; `known` if the identity is already linked to them. */
  | { kind: 'link-own'; userId: number; known: boolean }
  | { kind: 'reauthenticate'; userId: number }
  /** The user confirmed their identity at a provider that never says when they authenticated. */
  | { kind: 'confirm'; userId: number }
  | { kind: 'refuse'; reason: IdentityRefusal }

/** Tolerated clock difference: the provider's clock may be this far behind. */
export const authenticationToleranceSeconds = 30

/**
 * Decides what a verified identity leads to. The key is provider and `sub`, never the address. An
 * identity never moves to another user: it signs in its user or is refused. The same `sub` from another
 * issuer is another person: of another tenant of the provider, or because the provider's name was given
 * to another provider (contract 2).
 */
export function decideIdentity(
  identity: VerifiedIdentity,
  intent: Intent,
  existing: ExistingUsers,
): IdentityDecision {
  const { identityIssuer } = existing
  if (identityIssuer !== null && !isSameIssuer(identityIssuer, identity.issuer)) {
    return refuse('issuer-changed')
  }
  if (intent.kind === 'sign-in') return decideSignIn(identity, existing)
  const { userId } = intent
  if (intent.sessionUserId !== userId) return refuse('session-changed')
  const owner = existing.identityUserId
  if (intent.kind === 'link') {
    if (owner !== null && owner !== userId) return refuse('identity-of-another')
    return { kind: 'link-own', userId, known: owner === userId }
  }
  if (owner !== userId) return refuse('another-identity')
  const { authenticatedAt } = identity
  if (authenticatedAt === null && !intent.isTimeKnown) return { kind: 'confirm', userId }
  const earliest = intent.startedAt - authenticationToleranceSeconds
  if (authenticatedAt === null || authenticatedAt < earliest) {
    return refuse('not-authenticated-anew')
  }
  return { kind: 'reauthenticate', userId }
}

/**
 * A new identity is linked by its address only to another one that has it: both have it verified
 * through a trusted provider (specification, Authentication 9). An identity that only claims an address
 * that a user has verified is refused, because it could take over the account, and so is one with an
 * address that the user's identities no longer have: the provider has changed theirs, or they have
 * unlinked it, and it may be somebody else's now. An operator's user is never linked. An address that no
 * user has verified does not prevent a sign-in.
 */
function decideSignIn(
  { emailTrusted }: VerifiedIdentity,
  { identityUserId, addressUserId, addressUserOperates, addressIsCurrent }: ExistingUsers,
): IdentityDecision {
  if (identityUserId !== null) return { kind: 'sign-in', userId: identityUserId }
  if (addressUserId === null) return { kind: 'create' }
  if (!emailTrusted || !addressIsCurrent || addressUserOperates) return refuse('email-known')
  return { kind: 'link', userId: addressUserId }
}

/**
 * Whether the decision may be carried out. Accounts that exist are not affected by `SIGN_UP`, nor are
 * operators, who would lock themselves out of a new installation.
 * @returns the reason to refuse, or null
 */
export function decideAdmission(
  { emailTrusted }: Pick<VerifiedIdentity, 'emailTrusted'>,
  decision: IdentityDecision,
  { invited, hasLink }: AdmissionFacts,
  { signUp, isOperator }: { signUp: SignUp; isOperator: boolean },
): IdentityRefusal | null {
  if (decision.kind !== 'create' || signUp === 'open' || isOperator) return null
  if (signUp === 'closed') return 'sign-up-closed'
  return invited && (emailTrusted || hasLink) ? null : 'not-invited'
}

/** Issuers are compared exactly. Only a provider on this machine (http) may listen on another port than before. */
function isSameIssuer(one: string, other: string): boolean {
  const path = localPath(one)
  return one === other || (path !== null && path === localPath(other))
}

/** The path of an issuer on this machine; null for any other. */
function localPath(issuer: string): string | null {
  const url = URL.parse(issuer)
  return url?.protocol === 'http:' && loopbackHosts.includes(url.hostname) ? url.pathname : null
}

function refuse(reason: IdentityRefusal): IdentityDecision {
  return { kind: 'refuse', reason }
}

/** True if the provider is trusted to verify this address (setting `OIDC_<NAME>_TRUST_EMAIL`). */
export function trustsAddress(trust: boolean | readonly string[], email: string): boolean {
  if (typeof trust === 'boolean') return trust
  return trust.includes(lowerAscii(email.slice(email.lastIndexOf('@') + 1)))
}

/** Only ASCII letters, as the database compares addresses: `K` (Kelvin) does not become `k`. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
