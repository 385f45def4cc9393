import t from 'tap'
import type { Claim, RuleRow } from '#dev/testing/access/rules.ts'
import {
  decide,
  decideWithoutObject,
  servicePermissions as granted,
  policy,
  type Subject,
} from '#src/access/policy.ts'
import {
  permits,
  permitsService,
  roles,
  rules,
  servicePermissions,
  tokenPermissions,
} from '#test/access/matrix/contract.ts'

const tenantId = '00000000-0000-4000-8000-00000000000a'
const everyRole = [...Object.keys(roles), 'owner', 'constructor', '', null]
const limits = [null, [], ...tokenPermissions.map((permission) => [permission])]
const departments = ['press', 'sales', null]
const times = ['00:00:00.000', '08:59:59.999', '09:00:00.000', '16:59:59.999', '17:00:00.000']

const credentials = [
  ...limits.map((limit) => ({ session: false, recent: false, limit })),
  { session: true, recent: false, limit: null },
  { session: true, recent: true, limit: null },
]

/** All callers that the policy distinguishes. Only a session makes an operator. */
const claims = everyRole.flatMap((role) =>
  [tenantId, null].flatMap((tenantId) =>
    [true, false].flatMap((operator) =>
      credentials.map((credential) => ({
        ...{ role, tenantId, ...credential },
        operator: operator && credential.session,
      })),
    ),
  ),
)

/** The same caller, as the program knows them. */
function subjectOf(claim: Claim): Subject {
  const { role, tenantId, operator, plan = null, limit, session, recent } = claim
  return {
    ...{ role, tenantId, operator, department: null, plan, tokenPermissions: limit },
    ...{ serviceId: null, userId: 7 },
    sessionId: session ? 'a session' : null,
    authenticatedSecondsAgo: session ? (recent ? 300 : 301) : null,
  }
}

function rowOf(rule: { resource: string; action: string }): RuleRow {
  const row = rules[`${rule.resource}:${rule.action}`]
  if (row === undefined) throw new Error(`No row for ${rule.resource}:${rule.action}.`)
  return row
}

t.test('every rule of the policy decides as the contract says, for every caller', async (t) => {
  const wrong = policy.flatMap((rule) => {
    const { resource, action } = rule
    return claims
      .filter((claim) => {
        const caller = subjectOf(claim)
        const { effect } = decideWithoutObject({ caller, resource, action })
        return (effect === 'allow') !== permits(rowOf(rule), claim)
      })
      .map((claim) => `${resource}:${action} for ${JSON.stringify(claim)}`)
  })
  t.strictSame(wrong, [])
  t.same(Object.keys(rules).length, policy.length)
  for (const rule of policy) {
    // Also checked if every role has the permission, where leaving it out would change nothing today.
    const { permission = null, token = null, credential = 'any', plan = [] } = rowOf(rule)
    t.match(
      rule,
      { permission, tokenPermission: token, credential, plans: [plan].flat() },
      `${rule.resource}:${rule.action}`,
    )
  }
  const withPlan = policy.map((rule) => ({ ...rule, plans: ['pro'] }))
  const wrongWithPlan = policy.flatMap(({ resource, action }) =>
    ['pro', 'team', null].flatMap((plan) =>
      claims.flatMap((claim) => {
        const caller = subjectOf({ ...claim, plan })
        const { effect } = decideWithoutObject({ caller, resource, action }, withPlan)
        const row = { ...rowOf({ resource, action }), plan: 'pro' }
        const may = permits(row, { ...claim, plan })
        return (effect === 'allow') === may ? [] : [`${resource}:${action} ${plan}`]
      }),
    ),
  )
  t.strictSame(wrongWithPlan, [], 'and with a plan as a condition of each')
  t.comment(`policy: ${policy.length} rules, ${policy.length * claims.length} decisions`)
})

t.test('a service may do what its permissions name, and nothing else', async (t) => {
  const grants = [[], servicePermissions, ...servicePermissions.map((one) => [one])]
  // Also names that no form offers, and facts that no service has.
  const forged = policy.map(({ resource, action }) => `${resource}:${action}`)
  const wrong = policy.flatMap(({ resource, action }) =>
    [...grants, forged, ['*', 'user:manage', 'post:write', resource]].flatMap((permissions) =>
      [null, 'admin'].flatMap((role) =>
        [true, false].flatMap((operator) => {
          const claim = {
            role,
            tenantId,
            operator,
            limit: permissions,
            session: true,
            recent: true,
          }
          const caller = { ...subjectOf(claim), serviceId: 'a service' }
          const { effect } = decideWithoutObject({ caller, resource, action })
          const may = permitsService(`${resource}:${action}`, permissions)
          return (effect === 'allow') === may ? [] : [`${resource}:${action} ${permissions}`]
        }),
      ),
    ),
  )
  t.strictSame(wrong, [])
  t.strictSame([...granted].toSorted(), [...servicePermissions].toSorted())
  const ofAdmin = servicePermissions.filter((name) => {
    const row = rules[name]
    return row !== undefined && permits(row, { ...inSession, operator: false, role: 'admin' })
  })
  t.strictSame(ofAdmin, servicePermissions, 'nothing that an admin may not do')
  const subject = { ...subjectOf({ ...inSession, role: 'admin' }), serviceId: 'x', tenantId: null }
  const nowhere = { ...subject, tokenPermissions: servicePermissions }
  const inNoTenant = { caller: nowhere, resource: 'post', action: 'read' } as const
  t.equal(decideWithoutObject(inNoTenant).reason, 'no-tenant')
})

const inSession = { tenantId, operator: true, limit: null, session: true, recent: true }

t.test('the attribute rule denies exactly where the contract says', async (t) => {
  const situations = ['editor', 'admin'].flatMap((role) =>
    departments.flatMap((department) =>
      departments.flatMap((own) => times.map((time) => ({ role, department, own, time }))),
    ),
  )
  const wrong = policy.flatMap((rule) => {
    const { resource, action } = rule
    const row = rowOf(rule)
    return situations
      .filter(({ role, department, own, time }) => {
        const claim = { ...inSession, role }
        const caller = { ...subjectOf(claim), department: own }
        const now = new Date(`2026-11-21T${time}Z`)
        const within = own !== null && own === department
        const open = time >= '09:00:00.000' && time < '17:00:00.000'
        const forbidden = row.attribute === true && role === 'editor' && !(within && open)
        const may = permits(row, claim) && !forbidden
        const { effect } = decide({ caller, resource, action, object: { department }, now })
        return (effect === 'allow') !== may
      })
      .map((situation) => `${resource}:${action} for ${JSON.stringify(situation)}`)
  })
  t.strictSame(wrong, [])
})
