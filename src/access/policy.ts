import { type Permission, permissionsOf, type TokenPermission } from './roles.ts'

export type Resource = 'order' | 'invoice' | 'audit' | 'billing-event'
export type Action = 'read' | 'update' | 'replay'

/**
 * Where the scope of a row comes from: its owner, or the tenant of the verified session. What
 * belongs to no tenant is for operators, by the identity they signed in with.
 */
export type ScopeKind = 'owner' | 'tenant' | 'operator'

export type Rule = {
  readonly resource: Resource
  readonly action: Action
  /** Needed before the object is looked at; null when the scope alone decides. */
  readonly permission: Permission | null
  /** What a limited token has to name for it; the role is asked for all the same. */
  readonly tokenPermission: TokenPermission | null
  readonly scope: ScopeKind
}

/**
 * Who may do what. What stands here is allowed, everything else is refused; matrix tests, route
 * registration and the API description read this table.
 */
export const policy: readonly Rule[] = [
  {
    resource: 'order',
    action: 'read',
    permission: null,
    tokenPermission: 'order:read',
    scope: 'owner',
  },
  {
    resource: 'order',
    action: 'update',
    permission: null,
    tokenPermission: 'order:write',
    scope: 'owner',
  },
  {
    resource: 'invoice',
    action: 'read',
    permission: null,
    tokenPermission: 'invoice:read',
    scope: 'tenant',
  },
  {
    resource: 'audit',
    action: 'read',
    permission: 'user:manage',
    tokenPermission: 'user:manage',
    scope: 'tenant',
  },
  {
    resource: 'billing-event',
    action: 'read',
    permission: null,
    tokenPermission: null,
    scope: 'operator',
  },
  {
    resource: 'billing-event',
    action: 'replay',
    permission: null,
    tokenPermission: null,
    scope: 'operator',
  },
]

/** What is known of the caller when the decision is made. */
export type Subject = {
  readonly role: string | null
  readonly tenantId: string | null
  /** Only where it was found out; anything but true is no operator. */
  readonly operator?: boolean
  /** What the token of the request is limited to; null where nothing limits. */
  readonly tokenPermissions: readonly string[] | null
}

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
}

/**
 * Decides whether the caller may try the action at all. Whether the object is the caller's is
 * decided by the scope in the query and again by row-level security. Deny unless allowed.
 */
export function decide(
  subject: Subject,
  resource: Resource,
  action: Action,
  rules: readonly Rule[] = policy,
): Decision {
  const rule = rules.find((one) => one.resource === resource && one.action === action) ?? null
  if (rule === null) return { effect: 'deny', rule, reason: 'no-rule' }
  if (rule.scope === 'tenant' && subject.tenantId === null) {
    return { effect: 'deny', rule, reason: 'no-tenant' }
  }
  if (rule.scope === 'tenant' && permissionsOf(subject.role).length === 0) {
    return { effect: 'deny', rule, reason: 'role-unknown' }
  }
  if (rule.scope === 'operator' && subject.operator !== true) {
    return { effect: 'deny', rule, reason: 'no-operator' }
  }
  if (rule.permission !== null && !permissionsOf(subject.role).includes(rule.permission)) {
    return { effect: 'deny', rule, reason: 'permission-missing' }
  }
  const limit = subject.tokenPermissions
  if (limit !== null && !(rule.tokenPermission && limit.includes(rule.tokenPermission))) {
    return { effect: 'deny', rule, reason: 'token-limited' }
  }
  return { effect: 'allow', rule, reason: 'allowed' }
}
