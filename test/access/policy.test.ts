import t from 'tap'
import type { Caller, Service } from '#src/access/caller.ts'
import { accessOverview } from '#src/access/overview.ts'
import {
  type Action,
  canGiveRole,
  decide,
  decideWithoutObject,
  policy,
  type Resource,
  type Rule,
  requirePerson,
  type Subject,
  toProblem,
} from '#src/access/policy.ts'
import {
  assignablePermissions,
  effectivePermissions,
  tokenPermissions as everyTokenPermission,
  permissionsOf,
  rolePermissions,
} from '#src/access/roles.ts'
import type { Condition } from '#src/resources/kit/define.ts'
import { tokenPermissions as contractTokens } from '#test/access/matrix/contract.ts'

const tenantId = '00000000-0000-4000-8000-00000000000a'
const tokenPermissions: null = null
const tokenPermission = 'order:read'
const noConditions = { unless: [], plans: [], credential: 'any', forServices: false } as const
const anyone: Subject = {
  userId: 7,
  role: null,
  tenantId,
  department: null,
  plan: null,
  operator: false,
  tokenPermissions: null,
  serviceId: null,
  sessionId: 'a session',
  authenticatedSecondsAgo: 0,
}
const all = ['post:read', 'post:write', 'post:delete', 'user:manage'] as const

function askNaming(facts: Partial<Subject>, resource: Resource, action: Action) {
  const caller = { ...anyone, ...facts }
  return decideWithoutObject({ caller, resource, action, namesTenant: true })
}

function ask(facts: Partial<Subject>, resource: Resource, action: Action, rules?: readonly Rule[]) {
  return decideWithoutObject({ caller: { ...anyone, ...facts }, resource, action }, rules)
}

/** Specification, Roles and permissions. */
const specified: Record<string, readonly string[]> = {
  viewer: ['post:read'],
  editor: ['post:read', 'post:write'],
  admin: ['post:read', 'post:write', 'post:delete', 'user:manage'],
}
const unknownRoles = [
  null,
  '',
  'owner',
  'Admin',
  'admin ',
  'admin,viewer',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
]

t.test('the roles table is the specification’s', async (t) => {
  t.same(rolePermissions, specified)
  for (const [role, permissions] of Object.entries(specified)) {
    t.same(permissionsOf(role), permissions, role)
  }
})

t.test('a role that is not in the table has no permissions', async (t) => {
  for (const role of unknownRoles) t.same(permissionsOf(role), [], String(role))
})

t.test('a permission is required exactly if the rule names one', async (t) => {
  for (const permission of all) {
    const rules: Rule[] = [
      {
        resource: 'order',
        action: 'read',
        permission,
        tokenPermission,
        scope: 'owner',
        ...noConditions,
      },
    ]
    for (const role of [...Object.keys(specified), ...unknownRoles]) {
      const holds = role !== null && Object.hasOwn(specified, role)
      const allowed = holds && specified[role]?.includes(permission)
      const decision = ask({ role, tenantId, tokenPermissions }, 'order', 'read', rules)
      t.equal(decision.effect, allowed ? 'allow' : 'deny', `${role} ${permission}`)
      t.equal(decision.reason, allowed ? 'allowed' : 'permission-missing')
      t.equal(decision.rule, rules[0])
    }
  }
})

t.test('a rule with plans is for people who have one of them', async (t) => {
  const rule: Rule = {
    ...{ resource: 'order', action: 'read', permission: null, tokenPermission, scope: 'owner' },
    ...noConditions,
    plans: ['pro', 'team'],
  }
  for (const [plan, reason] of [
    ['pro', 'allowed'],
    ['team', 'allowed'],
    ['free', 'plan-required'],
    ['', 'plan-required'],
    ['pro,team', 'plan-required'],
    [null, 'plan-required'],
  ] as const) {
    t.equal(ask({ plan }, 'order', 'read', [rule]).reason, reason, String(plan))
  }
  const limited = ask({ plan: 'pro', tokenPermissions: [] }, 'order', 'read', [rule])
  t.equal(limited.reason, 'token-limited', 'a plan gives no permission')
  for (const forServices of [false, true, 'always'] as const) {
    const service = { serviceId: 'a service', plan: 'pro', tokenPermissions: ['order:read'] }
    const decision = ask(service, 'order', 'read', [{ ...rule, forServices }])
    t.equal(decision.reason, 'person-required', 'a service has no plan')
  }
  const problem = toProblem('plan-required', { rule })
  t.match(problem, {
    code: 'plan-required',
    reason: 'plan-required',
    detail:
      'You need the plan pro or team. Open /app/account#plan to see your plan and the others.',
  })
  const [row] = accessOverview([rule])
  t.strictSame(row?.conditions, ['only with the plan pro or team'])
  t.strictSame(row?.roles, ['viewer', 'editor', 'admin'], 'whatever the role')
})

t.test('a feature is that of the plan, whichever plans the rule names', async (t) => {
  const rule: Rule = {
    ...{ resource: 'order', action: 'read', permission: null, tokenPermission, scope: 'owner' },
    ...noConditions,
    ...{ plans: ['pro'], feature: 'export' },
  }
  // The app of these tests gives no feature to any plan. test/resources/plans.ts has one that does.
  for (const plan of ['pro', 'free', null]) {
    t.equal(ask({ plan }, 'order', 'read', [rule]).reason, 'plan-required', String(plan))
  }
  t.match(toProblem('plan-required', { rule }), {
    detail:
      'You need the feature export, which the plan pro has. Open /app/account#plan to see your plan and the others.',
  })
  const [row] = accessOverview([rule])
  t.strictSame(row?.conditions, ['only with the feature export (the plan pro)'])
})

t.test('an action without a rule is denied', async (t) => {
  const admin = { role: 'admin', tenantId, tokenPermissions }
  t.same(ask(admin, 'order', 'read', []), { effect: 'deny', rule: null, reason: 'no-rule' })
  for (const name of ['', '__proto__', 'constructor', 'ORDER']) {
    t.equal(ask(admin, name as never, 'read').effect, 'deny', `resource ${name}`)
    t.equal(ask(admin, 'order', name as never).effect, 'deny', `action ${name}`)
  }
})

t.test('a rule applies to its resource and action only', async (t) => {
  const rules: Rule[] = [
    {
      resource: 'order',
      action: 'update',
      permission: null,
      tokenPermission,
      scope: 'owner',
      ...noConditions,
    },
    {
      resource: 'invoice',
      action: 'read',
      permission: null,
      tokenPermission,
      scope: 'owner',
      ...noConditions,
    },
  ]
  t.equal(
    ask({ role: 'admin', tenantId, tokenPermissions }, 'order', 'read', rules).reason,
    'no-rule',
  )
  t.equal(
    ask({ role: 'admin', tenantId, tokenPermissions }, 'order', 'update', rules).rule,
    rules[0],
  )
})

t.test(
  'without an active tenant, tenant rules deny, owner rules and rules of the account allow',
  async (t) => {
    for (const rule of policy) {
      const subject = { role: 'admin', tenantId: null, tokenPermissions }
      const decision = ask(subject, rule.resource, rule.action)
      const name = `${rule.resource}:${rule.action}`
      if (rule.scope === 'owner' || rule.scope === 'self') t.equal(decision.effect, 'allow', name)
      else if (rule.scope === 'app')
        t.match(decision, { effect: 'deny', reason: 'app-required' }, name)
      else if (rule.scope !== 'operator')
        t.match(decision, { effect: 'deny', reason: 'no-tenant' }, name)
    }
  },
)

t.test('each pair of resource and action has one rule', async (t) => {
  const names = policy.map(({ resource, action }) => `${resource}:${action}`)
  t.same(names, [...new Set(names)])
})

t.test('an operator rule allows only operators, whatever the role', async (t) => {
  const rules = policy.filter(({ scope }) => scope === 'operator')
  t.ok(rules.length > 0)
  for (const { resource, action } of rules) {
    for (const role of [...Object.keys(specified), ...unknownRoles]) {
      for (const operator of [undefined, false, 'true', 1]) {
        const subject = { role, tenantId, tokenPermissions, operator: operator as false }
        t.match(ask(subject, resource, action), { effect: 'deny', reason: 'no-operator' })
      }
      t.equal(
        ask({ role, tenantId, tokenPermissions, operator: true }, resource, action).effect,
        'allow',
      )
      const limited = { role, tenantId, tokenPermissions: everyTokenPermission, operator: true }
      t.match(ask(limited, resource, action), { effect: 'deny', reason: 'token-limited' })
    }
  }
})

const withToken = { sessionId: null, authenticatedSecondsAgo: null }

t.test('rules of the account need a session, whatever the role, tenant or limit', async (t) => {
  const rules = policy.filter(({ scope }) => scope === 'self')
  t.ok(rules.length > 0)
  for (const { resource, action, credential } of rules) {
    const name = `${resource}:${action}`
    for (const role of [...Object.keys(specified), ...unknownRoles]) {
      t.equal(ask({ role, tenantId: null }, resource, action).effect, 'allow', name)
      for (const limit of [null, [], everyTokenPermission]) {
        const decision = ask({ ...withToken, role, tokenPermissions: limit }, resource, action)
        const reason = credential === 'any' ? 'allowed' : 'session-required'
        t.equal(decision.reason, reason, `${name} with a token`)
      }
    }
  }
  const open = rules.filter(({ credential }) => credential === 'any')
  t.same(
    open.map(({ resource, action }) => `${resource}:${action}`),
    ['profile:read', 'verification:read'],
    'a token may only ask who it is',
  )
})

t.test(
  'new tokens and sign-in methods, and deletions, need an authentication of the last five minutes',
  async (t) => {
    for (const { resource, action, credential, scope } of policy) {
      if (scope === 'app') continue
      const reasonAt = (authenticatedSecondsAgo: number | null) =>
        ask({ authenticatedSecondsAgo, role: 'admin', operator: true }, resource, action).reason
      const name = `${resource}:${action}`
      for (const seconds of [0, 299, 300]) t.equal(reasonAt(seconds), 'allowed', name)
      const late = credential === 'recent-session' ? 'reauthentication-required' : 'allowed'
      for (const seconds of [301, 86_400, null]) t.equal(reasonAt(seconds), late, name)
    }
    const recent = policy.filter(({ credential }) => credential === 'recent-session')
    t.same(
      recent.map(({ resource, action }) => `${resource}:${action}`),
      [
        'service-token:create',
        'service-token:update',
        'tenant-deletion:create',
        'billing-customer:update',
        'app-token:create',
        'app-token:update',
        'account:delete',
        'token:create',
        'identity:create',
        'identity:delete',
      ],
    )
  },
)

t.test('a limited token needs what the rule names, and its owner needs the rest', async (t) => {
  for (const rule of policy) {
    if (rule.tokenPermission === null) continue
    const name = `${rule.resource}:${rule.action}`
    const asRole = (role: string, limit: readonly string[] | null) =>
      ask({ role, tenantId, tokenPermissions: limit }, rule.resource, rule.action)
    t.equal(asRole('admin', null).effect, 'allow', name)
    t.equal(asRole('admin', [rule.tokenPermission]).effect, 'allow', name)
    t.match(asRole('admin', []), { effect: 'deny', reason: 'token-limited' }, name)
    const others = everyTokenPermission.filter((one) => one !== rule.tokenPermission)
    t.match(asRole('admin', others), { effect: 'deny', reason: 'token-limited' }, name)
    if (rule.permission === null) continue
    const without = Object.keys(specified).filter(
      (role) => !specified[role]?.includes(rule.permission ?? ''),
    )
    for (const role of without) {
      t.match(
        asRole(role, everyTokenPermission),
        { reason: 'permission-missing' },
        `${name} ${role}`,
      )
    }
  }
})

t.test('the permissions of a limited token, and the effective ones', async (t) => {
  const own = contractTokens.filter((permission) => !all.some((one) => one === permission))
  t.same(everyTokenPermission, [...all, ...own])
  for (const role of [...Object.keys(specified), ...unknownRoles]) {
    const permissions = permissionsOf(role)
    t.same(assignablePermissions(role), [...permissions, ...own])
    t.same(effectivePermissions(role, null), permissions)
    t.same(effectivePermissions(role, []), [])
    t.same(effectivePermissions(role, everyTokenPermission), [...permissions, ...own])
  }
})

t.test(
  'only who manages gives more than they have, to others, in an unlimited session',
  async (t) => {
    const admin = { userId: 1, role: 'admin', sessionId: 'live', tokenPermissions: null }
    const mayGive = (giver: Partial<Subject>, to: number | null = 2) =>
      canGiveRole({ ...admin, ...giver }, 'admin', to)
    t.ok(mayGive({}))
    t.ok(mayGive({ tokenPermissions: null, sessionId: null }), 'what an unlimited token has')
    t.notOk(mayGive({ role: 'editor' }))
    t.notOk(mayGive({ role: 'editor' }, 1), 'nor to oneself')
    t.notOk(mayGive({ role: null }))
    t.notOk(mayGive({ tokenPermissions: ['user:manage'] }), 'a session that is limited')
    t.notOk(mayGive({ tokenPermissions: ['user:manage'], sessionId: null }))
    t.notOk(
      mayGive({ role: null, sessionId: null, tokenPermissions: ['user:create'] }),
      'a service',
    )
  },
)

t.test(
  'an editor changes a post of their own department between 09:00 and 17:00 UTC',
  async (t) => {
    const change = (caller: Partial<Subject>, department: string | null, time: string) =>
      decide({
        caller: { ...anyone, role: 'editor', department: 'press', ...caller },
        resource: 'post',
        action: 'update',
        object: { department },
        now: new Date(`2026-11-21T${time}Z`),
      }).reason

    for (const time of ['09:00:00.000', '12:00:00.000', '16:59:59.999']) {
      t.equal(change({}, 'press', time), 'allowed', time)
    }
    for (const time of ['08:59:59.999', '17:00:00.000', '00:00:00.000', '23:59:59.999']) {
      t.equal(change({}, 'press', time), 'editor-outside-hours', time)
      t.equal(change({ role: 'admin' }, 'press', time), 'allowed', `admin ${time}`)
    }
    for (const department of ['Press', 'press ', 'sales', '', null]) {
      t.equal(change({}, department, '12:00:00'), 'editor-of-another-department')
      t.equal(change({ role: 'admin' }, department, '12:00:00'), 'allowed')
    }
    for (const department of [null, undefined]) {
      t.equal(
        change({ department: department as null }, null, '12:00:00'),
        'editor-of-another-department',
      )
    }
    t.equal(change({ role: 'viewer' }, 'press', '12:00:00'), 'permission-missing')
    t.equal(change({}, 'press', 'no time at all'), 'editor-outside-hours', 'an invalid date denies')
  },
)

t.test('a service is not a person', async (t) => {
  const person = { serviceId: null } as Caller
  t.equal(requirePerson(person), person)
  const service = { serviceId: 'a service' } as Service
  t.throws(() => requirePerson(service), { code: 'person-required' })
})

t.test('in the portal one may do everything with webhooks, and nothing else', async (t) => {
  const portal = { portalSessionId: 'one', serviceId: 'an app token', tenantId } as const
  for (const { resource, action } of policy) {
    const isOpen = ['webhook-endpoint', 'delivery'].includes(resource)
    const isRead = resource === 'event' && action === 'read'
    const every = policy.map((rule) => `${rule.resource}:${rule.action}`)
    for (const tokenPermissions of [null, [], every]) {
      const facts = { ...portal, role: 'admin', operator: true, sessionId: 'x', tokenPermissions }
      const { reason } = ask(facts, resource, action)
      t.equal(reason, isOpen || isRead ? 'allowed' : 'portal-limited', `${resource}:${action}`)
      const naming = askNaming(facts, resource, action).reason
      t.equal(naming, 'portal-limited', `${resource}:${action}, on a route for the app`)
    }
  }
})

t.test('the app may do what its permissions name, and nobody else may on its routes', async (t) => {
  const app = { serviceId: 'an app token', isApp: true, sessionId: null } as const
  const service = { serviceId: 'a service token', sessionId: null }
  const every = policy.map(({ resource, action }) => `${resource}:${action}`)
  const shared = ['webhook-endpoint:read', 'webhook-endpoint:create', 'webhook-endpoint:delete']
  for (const { resource, action, scope } of policy) {
    const name = `${resource}:${action}`
    for (const asked of [ask, askNaming]) {
      const isForApp = scope === 'app' || (asked === askNaming && shared.includes(name))
      const asApp = (tokenPermissions: readonly string[] | null) =>
        asked({ ...app, tokenPermissions }, resource, action).reason
      t.equal(asApp(every), isForApp ? 'allowed' : 'person-required', name)
      if (isForApp) t.equal(asApp([name]), 'allowed', name)
      for (const permissions of [null, [], every.filter((one) => one !== name)]) {
        t.equal(asApp(permissions), isForApp ? 'app-limited' : 'person-required', name)
      }
      if (scope !== 'app' && asked === ask) continue
      for (const other of [{ role: 'admin', operator: true }, service]) {
        const decision = asked({ ...other, tokenPermissions: every }, resource, action)
        t.equal(decision.reason, 'app-required', name)
      }
    }
  }
})

t.test('a condition knows who asks, and with which plan', (t) => {
  const foreign: Condition<{ authorId: number }> = {
    name: 'post-of-another',
    words: 'only the author, or with the plan pro',
    detail: 'Only the author can change this.',
    appliesTo: ({ plan }) => plan !== 'pro',
    forbids: ({ caller, object }) => object.authorId !== caller.userId,
  }
  const rule: Rule = {
    ...{ resource: 'post', action: 'update', permission: 'post:write', scope: 'tenant' },
    ...noConditions,
    tokenPermission: 'post:write',
    unless: [foreign as Condition],
  }
  const ask = (facts: Partial<Subject>) => {
    const caller = { ...anyone, role: 'editor', ...facts }
    const question = { caller, resource: 'post', action: 'update', now: new Date() } as const
    return decide({ ...question, object: { authorId: 7 } }, [rule])
  }
  t.match(ask({ userId: 7 }), { effect: 'allow' })
  t.match(ask({ userId: 8 }), { effect: 'deny', reason: 'post-of-another' })
  t.match(ask({ userId: 8, plan: 'pro' }), { effect: 'allow' })
  t.end()
})

t.test('a condition knows the credential, and the teams if it says so', (t) => {
  const ofTeam: Condition<{ readonly teamId: number }> = {
    ...{ name: 'post-of-team', words: 'only by its team', detail: 'Only its team can.' },
    needsTeams: true,
    forbids: ({ caller, object }) => !caller.teams.includes(object.teamId),
  }
  const inSession: Condition = {
    ...{ name: 'post-in-session', words: 'only in a session', detail: 'Sign in.' },
    forbids: ({ caller }) => caller.credential !== 'session',
  }
  const ask = (unless: Condition[], facts: Partial<Subject>, teams?: number[]) => {
    const rule: Rule = {
      ...{ resource: 'post', action: 'update', permission: 'post:write', scope: 'tenant' },
      ...{ ...noConditions, tokenPermission: 'post:write', forServices: true, unless },
    }
    const caller = { ...anyone, role: 'editor', ...facts }
    const question = { caller, resource: 'post', action: 'update', now: new Date() } as const
    const object = { teamId: 7 }
    return decide({ ...question, object, ...(teams && { teams }) }, [rule])
  }
  t.match(ask([ofTeam as Condition], {}, [7, 8]), { effect: 'allow' })
  t.match(ask([ofTeam as Condition], {}, [8]), { effect: 'deny', reason: 'post-of-team' })
  t.throws(() => ask([ofTeam as Condition], {}), {
    message: 'The teams of the caller are unknown to post:update.',
  })
  t.match(ask([inSession], { sessionId: 'a' }), { effect: 'allow' })
  t.match(ask([inSession], { sessionId: null }), { effect: 'deny', reason: 'post-in-session' })
  const service = { userId: null, serviceId: 'b', sessionId: 'a' } // a program, whatever else is there
  t.match(ask([inSession], service), { effect: 'deny', reason: 'post-in-session' })
  t.end()
})
