import type { Entitlements } from '#src/resources/plans.ts'

/** A person who is asking, as the database found them when their credential opened the transaction. */
export type Caller = {
  readonly isApp?: false
  readonly portalSessionId?: undefined
  readonly serviceId: null
  readonly serviceName: null
  /** The row of the session; null when the request came with an API token. */
  readonly sessionId: string | null
  /** The row of the API token; null when the request came with a session. */
  readonly tokenId: string | null
  /** What the token is limited to; null where nothing limits. */
  readonly tokenPermissions: readonly string[] | null
  /** Whole seconds since the person authenticated in this session, by database time. */
  readonly authenticatedSecondsAgo: number | null
  readonly userId: number
  readonly email: string | null
  readonly plan: string | null
  /** When the user was created. */
  readonly createdAt: Date
  /** The active tenant of the session, or the tenant of the token. */
  readonly tenantId: string | null
  readonly role: string | null
  readonly department: string | null
  /** Whether the identity that signed in is one of the setting OPERATORS. */
  readonly operator: boolean
} & Entitlements

/**
 * A program that is asking with a service token of its tenant. It is no person and no member: it has
 * no user, no role and no session.
 */
export type Service = {
  readonly isApp?: false
  readonly portalSessionId?: undefined
  /** The row of the service token; of an app and of a portal session, the row of the app token. */
  readonly serviceId: string
  readonly serviceName: string
  readonly tenantId: string
  /** What it may do, `resource:action`; nothing else. */
  readonly tokenPermissions: readonly string[]
  /** When the token was created. */
  readonly createdAt: Date
  readonly userId: null
  readonly sessionId: null
  readonly tokenId: null
  readonly authenticatedSecondsAgo: null
  readonly email: null
  readonly plan: null
  readonly role: null
  readonly department: null
  readonly operator: false
}

/**
 * The application behind this program, with an app token. It acts in the tenant that its request names.
 * Like a service, it is not a person.
 */
export type App = Omit<Service, 'tenantId' | 'isApp'> & {
  readonly isApp: true
  /** The tenant that the request names; null if it names none, or one that does not exist. */
  readonly tenantId: string | null
}

/**
 * Somebody who has opened a link of the app to the webhook pages of one tenant. They have no account: what they do is
 * recorded as done by the app.
 */
export type Portal = Omit<Service, 'portalSessionId'> & {
  readonly portalSessionId: string
  readonly tenantName: string
}

/** Who is asking: a person, a service, the app, or a portal session. */
export type Principal = Caller | Service | App | Portal

/** An app in a tenant. */
export type TenantApp = App & { readonly tenantId: string }

/** A caller with an active tenant. */
export type Member = Caller & { readonly tenantId: string }

/** A principal with an active tenant: a member, a service or a portal session, or an app in the tenant that it names. */
export type TenantPrincipal = Member | Service | Portal | TenantApp

/** The first lock of tenant rows: the tenant of the caller, or of a job. */
export type TenantScope = Pick<Member, 'tenantId'>

/** The first lock of owned rows. */
export type OwnerScope = Pick<Caller, 'userId'>

/** Who submits a form: a person, or somebody in a portal session. */
export type Submitter = Pick<Principal, 'userId' | 'tenantId' | 'portalSessionId'>

/** A caller with a session. */
export type SessionCaller = Caller & { readonly sessionId: string }

// Sign-in rules: changing how one signs in needs an authentication this fresh.
const recentSeconds = 300

/** Whether the person authenticated in this session within the last five minutes, 300 s included. */
export function isRecentlyAuthenticated({
  authenticatedSecondsAgo: age,
}: Pick<Caller, 'authenticatedSecondsAgo'>): boolean {
  return age !== null && age <= recentSeconds
}
