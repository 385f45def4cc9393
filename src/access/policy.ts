import { Problem } from '#src/http/problems.ts'
import type { Condition, ConditionCaller } from '#src/resources/kit/define.ts'
import { rulesOf } from '#src/resources/kit/derived.ts'
import { distinctFromOwn } from '#src/resources/kit/distinct.ts'
import { placeIn } from '#src/resources/load-app.ts'
import { plansWith } from '#src/resources/plans.ts'
import { app, appFolder, resources } from '#src/resources/running-app.ts'
import { type Caller, isRecentlyAuthenticated, type Principal } from './caller.ts'
import { entitlementsOf } from './entitlements.ts'
import {
  effectivePermissions,
  managingRole,
  type Permission,
  permissionsOf,
  type TokenPermission,
} from './roles.ts'

/** What rules are about: the declared resources, by their names, and the others. */
export type Resource =
  | (string & {})
  | 'folder'
  | 'team'
  | 'user'
  | 'webhook-endpoint'
  | 'delivery'
  | 'event'
  | 'notification'
  | 'audit'
  | 'usage'
  | 'billing-event'
  | 'billing-customer'
  | 'operation'
  | 'profile'
  | 'verification'
  | 'plan'
  | 'account'
  | 'session'
  | 'token'
  | 'service-token'
  | 'identity'
  | 'tenant'
  | 'tenant-name'
  | 'tenant-deletion'
  | 'invitation'
  | 'activity'
  | 'member'
  | 'app-token'
  | 'event-type'
  | 'portal-link'
export type Action = (string & {}) | 'read' | 'create' | 'update' | 'delete' | 'replay' | 'publish'

/**
 * How a row is scoped: by its owner; by the active tenant of the caller; within that tenant by the
 * chain from one of the caller's teams to the row; or as the person's own account. Rows of no tenant
 * are for operators, who are known by the identity they signed in with. `app`: for the app alone, in
 * the tenant that its request names.
 */
export type ScopeKind = 'owner' | 'tenant' | 'chain' | 'operator' | 'self' | 'app'

/** Which credential a rule accepts; `recent-session`: authenticated within the last five minutes. */
export type CredentialKind = 'any' | 'session' | 'recent-session'

export type Rule = {
  readonly resource: Resource
  readonly action: Action
  /** Checked before the object is read; null if the scope alone decides. */
  readonly permission: Permission | null
  /** The permission a limited token needs, in addition to the role of its owner. */
  readonly tokenPermission: TokenPermission | null
  readonly scope: ScopeKind
  readonly credential: CredentialKind
  /** Whether a service token can have the permission `resource:action`; `always`: it needs none. */
  readonly forServices: boolean | 'always'
  /** Whether a portal session may do it. */
  readonly forPortal?: true
  /** Whether the app may do it too, on routes that name the tenant. */
  readonly forApp?: true
  /** The plans of which the person needs one; empty if none is needed. */
  readonly plans: readonly string[]
  /** What the plan of the person must have; `plans` are those that have it. */
  readonly feature?: string
  /** Whether code of the app runs with it, which may refuse it too. */
  readonly hasOwnCode?: boolean
  /** Conditions on the object that deny it although everything else allows it. */
  readonly unless: readonly Condition[]
}

const declaredRules = rulesOf(resources, app.plans)

/**
 * The permissions. Everything that is not listed is refused. The access matrix of the tests, route
 * registration, the OpenAPI document and docs/access.md are derived from this table. The rules of the
 * declared resources are in src/resources.
 */
export const policy: readonly Rule[] = [
  ...declaredRules,
  ...forServices(
    ...managed('folder'),
    ...managed('team'),
    allow('user', 'read', 'tenant', 'user:manage', 'user:manage'),
  ),
  allow('user', 'create', 'tenant', 'user:manage', 'user:manage'),
  allow('user', 'update', 'tenant', 'user:manage', 'user:manage'),
  allow('user', 'delete', 'tenant', 'user:manage', 'user:manage'),
  ...forPortal(
    ...forServices(
      ...forApp(['read', 'create', 'delete'], managed('webhook-endpoint')),
      allow('delivery', 'read', 'tenant', 'user:manage', 'user:manage'),
      allow('delivery', 'replay', 'tenant', 'user:manage', 'user:manage'),
      allow('event', 'read', 'tenant', 'user:manage', 'user:manage'),
    ),
  ),
  allow('event', 'publish', 'app', null, null),
  allow('portal-link', 'create', 'app', null, null),
  allow('portal-link', 'delete', 'app', null, null),
  allow('member', 'read', 'app', null, null),
  ...forServices(
    allow('notification', 'read', 'tenant', 'user:manage', 'user:manage'),
    allow('audit', 'read', 'tenant', 'user:manage', 'user:manage'),
    allow('usage', 'read', 'tenant', 'user:manage', 'user:manage'),
  ),
  inSession('service-token', 'read', 'session'),
  inSession('service-token', 'create', 'recent-session'),
  inSession('service-token', 'update', 'recent-session'),
  inSession('service-token', 'delete', 'session'),
  inSession('tenant-name', 'update', 'session'),
  inSession('tenant-deletion', 'create', 'recent-session'),
  allow('billing-event', 'read', 'operator', null, null),
  allow('billing-event', 'replay', 'operator', null, null),
  allow('billing-event', 'update', 'operator', null, null),
  allow('billing-customer', 'read', 'operator', null, null),
  { ...allow('billing-customer', 'update', 'operator', null, null), credential: 'recent-session' },
  allow('operation', 'read', 'operator', null, null),
  allow('app-token', 'read', 'operator', null, null),
  { ...allow('app-token', 'create', 'operator', null, null), credential: 'recent-session' },
  { ...allow('app-token', 'update', 'operator', null, null), credential: 'recent-session' },
  allow('app-token', 'delete', 'operator', null, null),
  allow('event-type', 'read', 'app', null, null),
  allow('event-type', 'update', 'app', null, null),
  own('profile', 'read', 'any'),
  { ...own('verification', 'read', 'any'), forServices: 'always' },
  own('plan', 'create', 'session'),
  own('plan', 'update', 'session'),
  own('account', 'read', 'session'),
  own('account', 'delete', 'recent-session'),
  own('session', 'read', 'session'),
  own('session', 'delete', 'session'),
  own('token', 'read', 'session'),
  own('token', 'create', 'recent-session'),
  own('token', 'delete', 'session'),
  own('identity', 'read', 'session'),
  own('identity', 'create', 'recent-session'),
  own('identity', 'delete', 'recent-session'),
  own('tenant', 'read', 'session'),
  own('tenant', 'create', 'session'),
  own('tenant', 'update', 'session'),
  own('tenant', 'delete', 'session'),
  own('invitation', 'read', 'session'),
  own('invitation', 'update', 'session'),
  own('activity', 'read', 'session'),
]

// Even with another action, a resource of that name would have what the roles and tokens of the other have.
distinctFromOwn(
  [
    ...resources.map(({ name }) => name),
    ...new Set(policy.slice(declaredRules.length).map(({ resource }) => resource)),
  ],
  (name) => name,
  (name) => `The resource ${name} at ${placeIn(appFolder, name)} has the name of one of Gatehouse.`,
)

function allow(
  resource: Resource,
  action: Action,
  scope: ScopeKind,
  permission: Permission | null,
  tokenPermission: TokenPermission | null,
): Rule {
  // Operators are known by the identity of their session; a token has none.
  const credential = scope === 'operator' ? 'session' : 'any'
  return {
    ...{ resource, action, permission, tokenPermission, scope, credential },
    ...{ forServices: false, plans: [], unless: [] },
  }
}

/** A rule for what the administrators of a tenant may do with a session only. */
function inSession(resource: Resource, action: Action, credential: CredentialKind): Rule {
  return { ...allow(resource, action, 'tenant', 'user:manage', null), credential }
}

/** Rules whose permissions a service token can have. They concern rows of the tenant, not of people. */
function forServices(...rules: readonly Rule[]): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, forServices: true }))
}

/** Rules for the customers of the app, who see the webhooks of their tenant in its portal. */
function forPortal(...rules: readonly Rule[]): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, forPortal: true }))
}

/** The rules; those with one of the actions are for the app too, in the tenant that its request names. */
function forApp(actions: readonly Action[], rules: readonly Rule[]): readonly Rule[] {
  return rules.map((rule) => (actions.includes(rule.action) ? { ...rule, forApp: true } : rule))
}

/** Rules for a person's own account, which do not depend on tenant or role. */
function own(resource: Resource, action: Action, credential: CredentialKind): Rule {
  const none = { permission: null, tokenPermission: null, forServices: false }
  return { resource, action, scope: 'self', credential, ...none, plans: [], unless: [] }
}

/** Everything about a resource that the administrators of a tenant manage. */
function managed(resource: Resource): readonly Rule[] {
  const actions: readonly Action[] = ['read', 'create', 'update', 'delete']
  return actions.map((action) => allow(resource, action, 'tenant', 'user:manage', 'user:manage'))
}

/** The name of the permission that a service or app token needs for a rule. */
function servicePermissionOf({ resource, action }: Pick<Rule, 'resource' | 'action'>): string {
  return `${resource}:${action}`
}

/** Everything that a service token can be permitted to do. */
export const servicePermissions: readonly string[] = policy
  .filter((rule) => rule.forServices === true)
  .map(servicePermissionOf)

/** Everything that an app token can be permitted to do. */
export const appPermissions: readonly string[] = policy
  .filter(({ scope, forApp }) => scope === 'app' || forApp === true)
  .map(servicePermissionOf)

/**
 * The rules of writes that end or narrow a right: a session or its id, a token, a membership, an account, a
 * tenant. They wait for the writes that use the right (`Entry.endsRight`).
 */
export const endingRules: ReadonlySet<string> = new Set([
  'account:delete',
  'app-token:delete',
  'app-token:update',
  'identity:delete',
  'portal-link:delete',
  'service-token:delete',
  'service-token:update',
  'session:delete',
  'team:delete',
  'team:update',
  'tenant:create', // the page switches to the new tenant
  'tenant:delete',
  'tenant:update',
  'tenant-deletion:create',
  'token:delete',
  'user:delete',
  'user:update',
])

/** The facts about the caller that a decision needs. */
export type Subject = Pick<
  Principal,
  | 'isApp'
  | 'portalSessionId'
  | 'serviceId'
  | 'userId'
  | 'role'
  | 'tenantId'
  | 'department'
  | 'plan'
  | 'operator'
  | 'tokenPermissions'
  | 'sessionId'
  | 'authenticatedSecondsAgo'
>

export type Decision = {
  readonly effect: 'allow' | 'deny'
  readonly rule: Rule | null
  readonly reason:
    | 'allowed'
    | 'no-rule'
    | 'no-tenant'
    | 'no-operator'
    | 'session-required'
    | 'reauthentication-required'
    | 'role-unknown'
    | 'permission-missing'
    | 'token-limited'
    | 'plan-required'
    | 'person-required'
    | 'service-limited'
    | 'app-required'
    | 'app-limited'
    | 'portal-limited'
    | Condition['name']
  /** The condition that denies it. */
  readonly condition?: Condition
}

/** The rule that a route states, and a feature that it asks for beside it. */
export type Stated = {
  readonly resource: Resource
  readonly action: Action
  readonly feature?: string | undefined
}

/** The rule with the feature of the route; null if there is no such rule. */
export function ruleOf(
  { resource, action, feature }: Stated,
  rules: readonly Rule[] = policy,
): Rule | null {
  const rule = rules.find((one) => one.resource === resource && one.action === action) ?? null
  if (rule === null || feature === undefined) return rule
  return { ...rule, feature, plans: plansWith(feature, app.plans) }
}

type Question = Stated & {
  readonly caller: Subject
  /** Whether the route is for the app, which names the tenant. */
  readonly namesTenant?: boolean | undefined
}

/** Whether a condition that may refuse the caller needs to know their teams. */
export function needsTeams(unless: readonly Condition[], caller: Subject): boolean {
  return unless.some(
    ({ needsTeams, appliesTo }) => needsTeams === true && (appliesTo?.(caller) ?? true),
  )
}

function credentialOf({
  sessionId,
  serviceId,
}: Pick<Subject, 'sessionId' | 'serviceId'>): ConditionCaller['credential'] {
  if (serviceId !== null) return 'service'
  return sessionId === null ? 'token' : 'session'
}

type OnObject = Question & {
  readonly object: object
  readonly now: Date
  /** The ids of the caller's teams, if a condition needs them. */
  readonly teams?: readonly number[]
}

/**
 * Decides whether the caller may perform the action on this object, which a scoped query has found.
 * A condition that denies overrides the rest. Denied unless allowed.
 * @throws Error if a condition needs the teams of the caller, and they are not given
 */
export function decide(question: OnObject, rules: readonly Rule[] = policy): Decision {
  const { rule, ...rest } = decideWithoutObject(question, rules)
  const { now, teams } = question
  const unless = rule?.unless ?? []
  if (teams === undefined && needsTeams(unless, question.caller)) {
    throw new Error(
      `The teams of the caller are unknown to ${question.resource}:${question.action}.`,
    )
  }
  // The row has the fields that the conditions of its resource read: defineResource compares them.
  const object = question.object as never
  const caller = {
    ...question.caller,
    ...{ credential: credentialOf(question.caller), teams: teams ?? [] },
  }
  const condition = unless.find(
    ({ appliesTo, forbids }) =>
      (appliesTo?.(question.caller) ?? true) && forbids({ caller, object, now }),
  )
  if (condition !== undefined) return { effect: 'deny', rule, reason: condition.name, condition }
  return { rule, ...rest }
}

/**
 * Decides whether the caller may try the action, before an object is read. The scope of the query
 * and row-level security decide whether the object is visible. If the rule has conditions, `decide`
 * must follow. Denied unless allowed.
 */
export function decideWithoutObject(
  { caller, namesTenant = false, ...stated }: Question,
  rules: readonly Rule[] = policy,
): Decision {
  const rule = ruleOf(stated, rules)
  if (rule === null) return { effect: 'deny', rule, reason: 'no-rule' }
  if (caller.isApp === true) return decideForApp(caller, rule, namesTenant)
  if (caller.portalSessionId !== undefined) return decideForPortal(rule, namesTenant)
  if (rule.scope === 'app' || namesTenant) return { effect: 'deny', rule, reason: 'app-required' }
  if (caller.serviceId !== null) return decideForService(caller, rule)
  const inTenant = rule.scope === 'tenant' || rule.scope === 'chain'
  if (inTenant && caller.tenantId === null) return { effect: 'deny', rule, reason: 'no-tenant' }
  if (inTenant && permissionsOf(caller.role).length === 0) {
    return { effect: 'deny', rule, reason: 'role-unknown' }
  }
  if (rule.scope === 'operator' && caller.operator !== true) {
    return { effect: 'deny', rule, reason: 'no-operator' }
  }
  if (rule.permission !== null && !permissionsOf(caller.role).includes(rule.permission)) {
    return { effect: 'deny', rule, reason: 'permission-missing' }
  }
  if (rule.credential !== 'any' && caller.sessionId === null) {
    return { effect: 'deny', rule, reason: 'session-required' }
  }
  if (rule.credential === 'recent-session' && !isRecentlyAuthenticated(caller)) {
    return { effect: 'deny', rule, reason: 'reauthentication-required' }
  }
  const limit = rule.scope === 'self' ? null : caller.tokenPermissions
  if (limit !== null && !(rule.tokenPermission && limit.includes(rule.tokenPermission))) {
    return { effect: 'deny', rule, reason: 'token-limited' }
  }
  if (!hasPlan(caller, rule)) return { effect: 'deny', rule, reason: 'plan-required' }
  return { effect: 'allow', rule, reason: 'allowed' }
}

function hasPlan({ plan }: Pick<Subject, 'plan'>, { plans, feature }: Rule): boolean {
  if (feature !== undefined) return entitlementsOf(plan).features.includes(feature)
  return plans.length === 0 || (plan !== null && plans.includes(plan))
}

/**
 * A service has no role: what its permissions do not name, it may not do. It has no plan either, and the
 * plan of another never counts for it.
 */
function decideForService(
  { tenantId, tokenPermissions }: Pick<Subject, 'tenantId' | 'tokenPermissions'>,
  rule: Rule,
): Decision {
  if (rule.forServices === false || rule.plans.length > 0) {
    return { effect: 'deny', rule, reason: 'person-required' }
  }
  if (rule.forServices === 'always') return { effect: 'allow', rule, reason: 'allowed' }
  if (tenantId === null) return { effect: 'deny', rule, reason: 'no-tenant' }
  if (!tokenPermissions?.includes(servicePermissionOf(rule))) {
    return { effect: 'deny', rule, reason: 'service-limited' }
  }
  return { effect: 'allow', rule, reason: 'allowed' }
}

/** The app may do what its permissions name, on routes that are for it alone. */
function decideForApp(
  { tokenPermissions }: Pick<Subject, 'tokenPermissions'>,
  rule: Rule,
  namesTenant: boolean,
): Decision {
  const isForApp = rule.scope === 'app' || (rule.forApp === true && namesTenant)
  if (!isForApp) return { effect: 'deny', rule, reason: 'person-required' }
  if (!tokenPermissions?.includes(servicePermissionOf(rule))) {
    return { effect: 'deny', rule, reason: 'app-limited' }
  }
  return { effect: 'allow', rule, reason: 'allowed' }
}

/** Somebody in the portal may do everything with the webhooks of its tenant, and nothing else. */
function decideForPortal(rule: Rule, namesTenant: boolean): Decision {
  if (rule.forPortal !== true || namesTenant)
    return { effect: 'deny', rule, reason: 'portal-limited' }
  return { effect: 'allow', rule, reason: 'allowed' }
}

type Giver = Pick<Subject, 'userId' | 'role' | 'sessionId' | 'tokenPermissions'>

/**
 * Whether the caller may give a role. Who manages the tenant may give every role of the app to others, in a session:
 * that is what managing means, and an app can keep a permission from the managing role. Everybody else, every token
 * and people with their own role give no more than they have.
 * @param to whose role it becomes; null for an invitation
 */
export function canGiveRole(giver: Giver, role: string, to: number | null): boolean {
  const { userId, sessionId, tokenPermissions } = giver
  const isSession = sessionId !== null && tokenPermissions === null
  const manages = isSession && giver.role === managingRole && to !== userId
  const own = effectivePermissions(giver.role, tokenPermissions)
  return manages || permissionsOf(role).every((permission) => own.includes(permission))
}

/** @throws Problem `forbidden` unless `canGiveRole` */
export function requireAssignableRole(giver: Giver, role: string, to: number | null): void {
  if (canGiveRole(giver, role, to)) return
  const detail =
    to === giver.userId
      ? 'You cannot give yourself a role with permissions that you lack.'
      : 'A token cannot give a role with permissions that it lacks. Give the role in a session.'
  throw new Problem('forbidden', { reason: 'token-limited', detail })
}

/** The page with the plans. */
export const plansPath = '/app/account#plan'

/** Details for the caller. The reason itself is in the log. */
const details: Readonly<Record<string, string>> = {
  'session-required': 'Only a signed-in person may do this.',
  'person-required':
    'A service or app token cannot do this. Use a session, or an API token of a member.',
  'service-limited':
    'The service token lacks the permission. An admin of the tenant can change its permissions.',
  'no-operator': 'Only operators may do this.',
  'app-required': 'Only the app may do this, with an app token.',
  'app-limited': 'The app token lacks the permission. An operator can change its permissions.',
  'reauthentication-required':
    'Open /auth/login?reauthenticate=true, confirm who you are, then try again within five minutes.',
}

/** Where plans are bought: the end of a detail. A page has a button instead. */
export const plansHint = ` Open ${plansPath} to see your plan and the others.`

/** The feature and the plans in a sentence, with where they are bought. */
function planDetail({ plans, feature }: Pick<Rule, 'plans' | 'feature'>): string {
  const named = `the plan ${plans.join(' or ')}`
  const need = feature === undefined ? named : `the feature ${feature}, which ${named} has`
  return `You need ${need}.${plansHint}`
}

/** The 403 for a denied action, with a detail if the caller may know the reason. */
export function toProblem(
  reason: Decision['reason'],
  { rule = null, condition }: Partial<Pick<Decision, 'rule' | 'condition'>> = {},
): Problem {
  const ofPlan = reason === 'plan-required' && rule !== null ? planDetail(rule) : undefined
  const detail = condition?.detail ?? ofPlan ?? details[reason]
  const code = isOwnCode(reason) ? reason : 'forbidden'
  return new Problem(code, { reason, ...(detail !== undefined && { detail }) })
}

/** @throws Problem `person-required` for a caller that is no person: it has the id of a service or app token */
export function requirePerson(caller: Principal): Caller {
  if (caller.serviceId !== null) throw toProblem('person-required')
  return caller
}

const ownCodes = [
  'session-required',
  'reauthentication-required',
  'person-required',
  'plan-required',
] as const

/** Whether the reason has an error code of its own. */
function isOwnCode(reason: string): reason is (typeof ownCodes)[number] {
  return ownCodes.some((code) => code === reason)
}
