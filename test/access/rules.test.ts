import t from 'tap'
import { decide, decideWithoutObject, policy } from '#src/access/policy.ts'
import {
  permits,
  type RuleRow,
  roles,
  rules,
  tokenPermissions,
} from '#test/access/matrix/contract.ts'

const tenantId = '00000000-0000-4000-8000-00000000000a'
const everyRole = [...Object.keys(roles), 'owner', 'constructor', '', null]
const limits = [null, [], ...tokenPermissions.map((permission) => [permission])]
const departments = ['press', 'sales', null]
const times = ['00:00:00.000', '08:59:59.999', '09:00:00.000', '16:59:59.999', '17:00:00.000']

/** All callers that the policy distinguishes. */
const claims = everyRole.flatMap((role) =>
  [tenantId, null].flatMap((tenantId) =>
    [true, false].flatMap((operator) =>
      limits.map((limit) => ({ role, tenantId, operator, limit })),
    ),
  ),
)

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
        const caller = { ...claim, tokenPermissions: claim.limit }
        const { effect } = decideWithoutObject({ caller, resource, action })
        return (effect === 'allow') !== permits(rowOf(rule), claim)
      })
      .map((claim) => `${resource}:${action} for ${JSON.stringify(claim)}`)
  })
  t.strictSame(wrong, [])
  t.same(Object.keys(rules).length, policy.length)
  for (const rule of policy) {
    // Also checked if every role has the permission, where leaving it out would change nothing today.
    const { permission = null, token = null } = rowOf(rule)
    t.match(rule, { permission, tokenPermission: token }, `${rule.resource}:${rule.action}`)
  }
  t.comment(`policy: ${policy.length} rules, ${policy.length * claims.length} decisions`)
})

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
        const caller = { role, tenantId, department: own, operator: true, tokenPermissions: null }
        const now = new Date(`2026-11-21T${time}Z`)
        const within = own !== null && own === department
        const open = time >= '09:00:00.000' && time < '17:00:00.000'
        const forbidden = row.attribute === true && role === 'editor' && !(within && open)
        const may = permits(row, { role, tenantId, operator: true, limit: null }) && !forbidden
        const { effect } = decide({ caller, resource, action, object: { department }, now })
        return (effect === 'allow') !== may
      })
      .map((situation) => `${resource}:${action} for ${JSON.stringify(situation)}`)
  })
  t.strictSame(wrong, [])
})
