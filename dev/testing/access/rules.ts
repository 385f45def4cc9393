import type { Actor } from './actors.ts'
import type { Facts, Person } from './expected.ts'

/** The scope of an object: who can reach it. The app reaches every tenant that it names. */
export type Reach = 'owner' | 'member' | 'tenant' | 'chain' | 'operator' | 'self' | 'app' | 'anyone'

export type RuleRow = {
  reach: Reach
  /** The permission that the role needs. */
  permission?: string
  /** The permission a limited token must name; without it no limited token is allowed. */
  token?: string
  /** A further permission that it must name, which is looked at once the id is known to be one. */
  tokenToo?: string
  /** The rule whose permission a service needs, if it is not called as this one. */
  of?: string
  /** Needs a session, or one that was authenticated within five minutes. */
  credential?: 'session' | 'recent-session'
  /** The plan that the person needs. */
  plan?: string
  /** Any service may, whatever its permissions are. */
  anyService?: true
  /** `forbids` of the contract may deny it for an object that the caller reaches. */
  attribute?: true
}

/** A field that needs a permission, by the roles that have it. */
export type FieldRow = {
  readonly key: string
  readonly permission: string
  readonly roles: readonly string[]
}

/** Who may do what, written independently of the program, which the matrix compares with it. */
export type Contract = {
  /** The permissions of each role. */
  readonly roles: Readonly<Record<string, readonly string[]>>
  /** By `resource:action`. */
  readonly rules: Readonly<Record<string, RuleRow>>
  /** The fields that need a permission, by the kind of their rows. */
  readonly fields?: Readonly<Record<string, readonly FieldRow[]>>
  /** Everything that a token of a person, of a service and of the app can be limited to. */
  readonly givable: Readonly<Record<'token' | 'service' | 'app', readonly string[]>>
  /** The rules that a service, the app and a portal session may have. */
  readonly services: readonly string[]
  readonly apps: readonly string[]
  readonly portals: readonly string[]
  /** Whether the attribute rule denies. @param who the rule of the route */
  forbids(actor: Actor & Person, object: Facts, who: string): boolean
  /** Whether the actor sees the object among those in reach; everybody does by default. @param kind of the object */
  sees?(actor: Actor & Person, object: Facts, kind: string | undefined): boolean
}

/** The facts about a caller that a rule checks before the object. */
export type Claim = {
  role: string | null
  tenantId: string | null
  operator: boolean
  plan?: string | null
  /** The permissions of a limited token; null otherwise. */
  limit: readonly string[] | null
  /** Asks with a session, and not with a token. */
  session: boolean
  /** Authenticated in that session within the last five minutes. */
  recent: boolean
}

/** The permission of services and of the app for what a rule allows. */
export function permissionFor({ rules }: Contract, rule: string): string {
  return rules[rule]?.of ?? rule
}

/** Whether a service with these permissions may do it. */
export function permitsService(
  contract: Contract,
  rule: string,
  permissions: readonly string[],
): boolean {
  if (contract.rules[rule]?.anyService) return true
  return contract.services.includes(rule) && permissions.includes(permissionFor(contract, rule))
}

/** Whether the app may with a token of these permissions, and it may nothing else. */
export function permitsApp(
  { apps }: Contract,
  rule: string,
  permissions: readonly string[],
): boolean {
  return apps.includes(rule) && permissions.includes(rule)
}

/** Whether the rule allows them to try; 403 otherwise. */
export function permits({ roles }: Contract, rule: RuleRow, claim: Claim): boolean {
  const { role, tenantId, operator, limit, session, recent } = claim
  const permissions = role !== null && Object.hasOwn(roles, role) ? (roles[role] ?? []) : []
  const inTenant = rule.reach === 'tenant' || rule.reach === 'chain'
  if (inTenant && (tenantId === null || permissions.length === 0)) return false
  if (rule.reach === 'app') return false
  if (rule.reach === 'operator' && !operator) return false
  if (rule.permission !== undefined && !permissions.includes(rule.permission)) return false
  if (rule.credential !== undefined && !session) return false
  if (rule.credential === 'recent-session' && !recent) return false
  if (rule.plan !== undefined && rule.plan !== claim.plan) return false
  if (rule.reach === 'self') return true
  return limit === null || (rule.token !== undefined && limit.includes(rule.token))
}
