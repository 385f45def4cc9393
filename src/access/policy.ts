import { Problem } from '#src/http/problems.ts'
import { type Permission, permissionsOf, type TokenPermission } from './roles.ts'

export type Resource =
  | 'order'
  | 'post'
  | 'document'
  | 'folder'
  | 'team'
  | 'invoice'
  | 'user'
  | 'webhook-endpoint'
  | 'delivery'
  | 'event'
  | 'notification'
  | 'audit'
  | 'billing-event'
export type Action = 'read' | 'create' | 'update' | 'delete' | 'replay'

/**
 * Where the scope of a row comes from: its owner; the tenant of the verified session; in the tenant
 * the chain from a team of the caller's to the row. What belongs to no tenant is for operators, by
 * the identity they signed in with.
 */
export type ScopeKind = 'owner' | 'tenant' | 'chain' | 'operator'

export type Rule = {
  readonly resource: Resource
  readonly action: Action
  /** Needed before the object is looked at; null when the scope alone decides. */
  readonly permission: Permission | null
  /** What a limited token has to name for it; the role is asked for all the same. */
  readonly tokenPermission: TokenPermission | null
  readonly scope: ScopeKind
  /** What forbids it although the rest allows it, judged on the object itself. */
  readonly unless: readonly Condition[]
}

/** Conditions of the specification's attribute rule; each concerns callers of one role. */
export type Condition = 'editor-of-another-department' | 'editor-outside-hours'

/**
 * Who may do what. What stands here is allowed, everything else is refused; the matrix of the
 * tests, route registration, the API description and docs/access.md read this table.
 */
export const policy: readonly Rule[] = [
  allow('order', 'read', 'owner', null, 'order:read'),
  allow('order', 'create', 'owner', null, 'order:write'),
  allow('order', 'update', 'owner', null, 'order:write'),
  allow('post', 'read', 'tenant', 'post:read', 'post:read'),
  allow('post', 'create', 'tenant', 'post:write', 'post:write'),
  allow('post', 'update', 'tenant', 'post:write', 'post:write', [
    'editor-of-another-department',
    'editor-outside-hours',
  ]),
  allow('post', 'delete', 'tenant', 'post:delete', 'post:delete'),
  allow('document', 'read', 'chain', null, 'document:read'),
  allow('document', 'create', 'chain', 'post:write', 'document:write'),
  allow('document', 'update', 'chain', 'post:write', 'document:write'),
  ...managed('folder'),
  ...managed('team'),
  allow('invoice', 'read', 'tenant', null, 'invoice:read'),
  ...managed('user'),
  ...managed('webhook-endpoint'),
  allow('delivery', 'read', 'tenant', 'user:manage', 'user:manage'),
  allow('delivery', 'replay', 'tenant', 'user:manage', 'user:manage'),
  allow('event', 'read', 'tenant', 'user:manage', 'user:manage'),
  allow('notification', 'read', 'tenant', 'user:manage', 'user:manage'),
  allow('audit', 'read', 'tenant', 'user:manage', 'user:manage'),
  allow('billing-event', 'read', 'operator', null, null),
  allow('billing-event', 'replay', 'operator', null, null),
]

function allow(
  resource: Resource,
  action: Action,
  scope: ScopeKind,
  permission: Permission | null,
  tokenPermission: TokenPermission | null,
  unless: readonly Condition[] = [],
): Rule {
  return { resource, action, permission, tokenPermission, scope, unless }
}

/** What the administrators of a tenant see to. */
function managed(resource: Resource): readonly Rule[] {
  const actions: readonly Action[] = ['read', 'create', 'update', 'delete']
  return actions.map((action) => allow(resource, action, 'tenant', 'user:manage', 'user:manage'))
}

/** What is known of the caller when the decision is made. */
export type Subject = {
  readonly role: string | null
  readonly tenantId: string | null
  readonly department?: string | null
  /** Only where it was found out; anything but true is no operator. */
  readonly operator?: boolean
  /** What the token of the request is limited to; null where nothing limits. */
  readonly tokenPermissions: readonly string[] | null
}

/** What conditions look at in an object. */
export type Attributes = { readonly department: string | null }

export type Decision = {
  readonly effect: 'allow' | 'deny'
  readonly rule: Rule | null
  readonly reason:
    | 'allowed'
    | 'no-rule'
    | 'no-tenant'
    | 'no-operator'
    | 'role-unknown'
    | 'permission-missing'
    | 'token-limited'
    | Condition
}

type Question = {
  readonly caller: Subject
  readonly resource: Resource
  readonly action: Action
}

/**
 * Decides whether the caller may do the action to this object, which the scope in the query has
 * found to be within their reach. What forbids goes before what allows; deny unless allowed.
 */
export function decide(
  question: Question & { readonly object: Attributes; readonly now: Date },
  rules: readonly Rule[] = policy,
): Decision {
  const { rule, ...rest } = decideWithoutObject(question, rules)
  const forbidding = rule?.unless.find((condition) => holds(condition, question))
  if (rule && forbidding) return { effect: 'deny', rule, reason: forbidding }
  return { rule, ...rest }
}

/**
 * Decides whether the caller may try the action at all, before an object is looked at. Whether
 * the object is within their reach is decided by the scope in the query and again by row-level
 * security; where the rule has conditions `decide` has to follow. Deny unless allowed.
 */
export function decideWithoutObject(
  { caller, resource, action }: Question,
  rules: readonly Rule[] = policy,
): Decision {
  const rule = rules.find((one) => one.resource === resource && one.action === action) ?? null
  if (rule === null) return { effect: 'deny', rule, reason: 'no-rule' }
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
  const limit = caller.tokenPermissions
  if (limit !== null && !(rule.tokenPermission && limit.includes(rule.tokenPermission))) {
    return { effect: 'deny', rule, reason: 'token-limited' }
  }
  return { effect: 'allow', rule, reason: 'allowed' }
}

// Specification, Request authentication and authorization: 09:00 to 17:00 UTC.
const firstHour = 9
const endHour = 17

function holds(
  condition: Condition,
  { caller, object, now }: Question & { object: Attributes; now: Date },
): boolean {
  if (caller.role !== 'editor') return false
  switch (condition) {
    case 'editor-of-another-department':
      return caller.department == null || caller.department !== object.department
    case 'editor-outside-hours': {
      const hour = now.getUTCHours()
      return !(hour >= firstHour && hour < endHour)
    }
  }
}

/** What a person is told; the code is in the log. */
const details: Partial<Record<Decision['reason'], string>> = {
  'editor-of-another-department': 'An editor may change what is of their own department only.',
  'editor-outside-hours': 'An editor may change this between 09:00 and 17:00 UTC only.',
}

/** The 403 for what `decide` has refused, in words where the reason is the caller's to know. */
export function toProblem(reason: Decision['reason']): Problem {
  const detail = details[reason]
  return new Problem('forbidden', detail === undefined ? {} : { detail })
}
