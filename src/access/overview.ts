import {
  type Action,
  type Condition,
  decideWithoutObject,
  policy,
  type Resource,
  type Rule,
  type ScopeKind,
} from './policy.ts'
import { roles, type TokenPermission } from './roles.ts'

/** One rule of the policy as people read it. */
export type AccessRow = {
  resource: Resource
  action: Action
  /** The roles that may; none where no role gives it. */
  roles: readonly string[]
  /** Which objects. */
  scope: string
  /** What is asked beside. */
  conditions: readonly string[]
  tokenPermission: TokenPermission | null
}

const scopeWords: Readonly<Record<ScopeKind, string>> = {
  owner: 'one’s own',
  tenant: 'of one’s tenant',
  chain: 'of one’s tenant, where a chain leads from one of one’s teams',
  operator: 'of no tenant: for operators alone',
}
const conditionWords: Readonly<Record<Condition, string>> = {
  'editor-of-another-department': 'an editor only in their own department',
  'editor-outside-hours': 'an editor only from 09:00 until before 17:00 UTC',
}

/** Who may do what, one row for each rule of the policy, in its order. */
export function accessOverview(rules: readonly Rule[] = policy): AccessRow[] {
  return rules.map((rule) => ({
    resource: rule.resource,
    action: rule.action,
    roles: roles.filter((role) => mayTry(role, rule, rules)),
    scope: scopeWords[rule.scope],
    conditions: rule.unless.map((condition) => conditionWords[condition]),
    tokenPermission: rule.tokenPermission,
  }))
}

/** The policy itself is asked, as for a member of a tenant. */
function mayTry(role: string, { resource, action }: Rule, rules: readonly Rule[]): boolean {
  const caller = { role, tenantId: 'any', tokenPermissions: null }
  return decideWithoutObject({ caller, resource, action }, rules).effect === 'allow'
}

const introduction = `# Who may do what

Generated from [the policy](../src/access/policy.ts): \`npm run generate\`. What is not in the table is refused. The permission is judged first (403), then whether the object is within reach (404 for what is missing and for what is not), then what else is asked (403). A limited token needs what its column names, and its owner the rest.
`

/** The policy as a Markdown document. */
export function accessDocument(rows: readonly AccessRow[]): string {
  const header = ['Resource', 'Action', ...roles, 'Which', 'Only', 'Limited token']
  const lines = rows.map(
    ({ resource, action, roles: allowed, scope, conditions, tokenPermission }) => [
      resource,
      action,
      ...roles.map((role) => (allowed.includes(role) ? 'yes' : '–')),
      scope,
      conditions.join('; '),
      tokenPermission === null ? '–' : `\`${tokenPermission}\``,
    ],
  )
  const table = [header, header.map(() => '---'), ...lines].map(
    (cells) => `| ${cells.join(' | ')} |`,
  )
  return `${introduction}\n${table.join('\n')}\n`
}
