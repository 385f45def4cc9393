import type { Resource as DeclaredResource } from '#src/resources/kit/define.ts'
import { guardedOf } from '#src/resources/kit/fields/guarded.ts'
import { app } from '#src/resources/running-app.ts'
import {
  type Action,
  type CredentialKind,
  decideWithoutObject,
  policy,
  type Resource,
  type Rule,
  type ScopeKind,
} from './policy.ts'
import { permissionsOf, roles, type TokenPermission } from './roles.ts'

/** One rule of the policy, in words. */
export type AccessRow = {
  resource: Resource
  action: Action
  /** The roles that are allowed; empty if no role is. */
  roles: readonly string[]
  /** True if operators are allowed, whatever their role. */
  forOperators: boolean
  /** The objects it applies to. */
  scope: string
  /** Further conditions. */
  conditions: readonly string[]
  tokenPermission: TokenPermission | null
  /** Which credentials are accepted. */
  credential: string
  acceptsToken: boolean
  /** Whether code of the app's own runs with it, which may refuse it too. */
  hasOwnCode: boolean
  /** Whether an app token can be permitted to do it, and whether nobody else may. */
  forApp: 'only' | 'too' | false
  /** Whether a service token can be permitted to do it, or always may. */
  forServices: Rule['forServices']
}

export const scopeWords: Readonly<Record<ScopeKind, string>> = {
  owner: 'own',
  tenant: 'of the active tenant',
  chain: 'of the active tenant, in a folder of one of the user’s teams',
  operator: 'of no tenant; operators only',
  self: 'own account',
  app: 'of the tenant that the app names',
}
const credentialWords: Readonly<Record<CredentialKind, string>> = {
  any: 'session or token',
  session: 'session',
  'recent-session': 'session authenticated within five minutes',
}

/** The policy as a table: one row per rule, in the same order. */
export function accessOverview(rules: readonly Rule[] = policy): AccessRow[] {
  return rules.map((rule) => ({
    resource: rule.resource,
    action: rule.action,
    roles: roles.filter((role) => mayTry(role, rule, rules)),
    forOperators: rule.scope === 'operator',
    scope: scopeWords[rule.scope],
    conditions: [...planWords(rule), ...rule.unless.map(({ words }) => words)],
    hasOwnCode: rule.hasOwnCode === true,
    tokenPermission: rule.tokenPermission,
    credential: rule.scope === 'app' ? 'app token' : credentialWords[rule.credential],
    acceptsToken: rule.credential === 'any',
    forApp: rule.scope === 'app' ? 'only' : rule.forApp === true && 'too',
    forServices: rule.forServices,
  }))
}

/** Asks the policy itself, for a member of some tenant. */
function mayTry(role: string, { resource, action, plans }: Rule, rules: readonly Rule[]): boolean {
  const caller = {
    serviceId: null,
    userId: null,
    role,
    tenantId: 'any',
    department: null,
    plan: plans[0] ?? null,
    operator: false,
    tokenPermissions: null,
    sessionId: 'any',
    authenticatedSecondsAgo: 0,
  }
  return decideWithoutObject({ caller, resource, action }, rules).effect === 'allow'
}

function planWords({ plans, feature }: Rule): string[] {
  if (plans.length === 0) return []
  const named = `the plan ${plans.join(' or ')}`
  return [
    feature === undefined ? `only with ${named}` : `only with the feature ${feature} (${named})`,
  ]
}

const introduction = (source: string) => `# Permissions

Generated from ${source}. Everything that is not in the table is refused. The permission is checked first (403), then the scope of the object (404, the same for a missing object), then the further conditions (403). A limited token needs the permission in its column, and its owner needs the rest. A service token has no role: it may do exactly what the permissions in the last column name that it was given, on the objects of its tenant. An app token has no role either: a row that names its permission is for it alone, or for it too, on the routes in which it names the tenant.
`

function serviceCell({
  resource,
  action,
  forServices,
}: Pick<AccessRow, 'resource' | 'action' | 'forServices'>): string {
  if (forServices === 'always') return 'any'
  return forServices ? `\`${resource}:${action}\`` : '–'
}

function credentialCell(
  credential: string,
  { resource, action, forApp }: Pick<AccessRow, 'resource' | 'action' | 'forApp'>,
): string {
  const permission = `with \`${resource}:${action}\``
  if (forApp === 'only') return `${credential} ${permission}`
  return forApp === 'too' ? `${credential}, or app token ${permission}` : credential
}

/** The fields that not everybody sees who reads the row, and the rows that not all members see. */
function narrowed(resources: readonly Declared[]): string {
  const rows = resources.flatMap(({ name, visible }) =>
    visible === undefined ? [] : [`| ${name} | ${visible.words} |`],
  )
  const fields = resources.flatMap(({ name, fields }) =>
    guardedOf(fields).map(({ key, permission }) => {
      const having = roles.filter((role) => permissionsOf(role).includes(permission))
      return `| ${name} | ${key} | \`${permission}\` | ${having.join(', ')} |`
    }),
  )
  const section = (heading: string, lead: string, header: string, lines: readonly string[]) =>
    lines.length === 0 ? '' : `\n## ${heading}\n\n${lead}\n\n${header}\n${lines.join('\n')}\n`
  return [
    section(
      'Rows that some members see',
      'For everybody else who may read the resource these rows are missing: 404, in no list and not counted.',
      '| Resource | Who see a row |\n| --- | --- |',
      rows,
    ),
    section(
      'Fields with a permission',
      'People without the permission do not see the field, and get 403 if they write it. No event has it.',
      '| Resource | Field | Permission, to read and to write | Roles |\n| --- | --- | --- | --- |',
      fields,
    ),
  ].join('')
}

type Declared = Pick<DeclaredResource, 'name' | 'fields' | 'visible'>

/**
 * The policy as a Markdown document.
 * @param source what it is generated from, and how
 * @param resources those of the app, whose rows and fields may be narrowed
 */
export function accessDocument(
  rows: readonly AccessRow[],
  source = '[the policy](../src/access/policy.ts): `npm run generate`',
  resources: readonly Declared[] = app.resources,
): string {
  const header = [
    'Resource',
    'Action',
    ...roles,
    'Objects',
    'Conditions',
    'Credential',
    'Limited token',
    'Service token',
  ]
  const lines = rows.map(
    ({ roles: allowed, scope, conditions, credential, tokenPermission, ...rule }) => [
      rule.resource,
      rule.action,
      ...roles.map((role) => (allowed.includes(role) ? 'yes' : '–')),
      scope,
      [...conditions, ...(rule.hasOwnCode ? ['code of its own, which may refuse'] : [])].join('; '),
      credentialCell(credential, rule),
      rule.forApp === 'only'
        ? '–'
        : tokenPermission !== null
          ? `\`${tokenPermission}\``
          : rule.acceptsToken
            ? 'any'
            : '–',
      serviceCell(rule),
    ],
  )
  const table = [header, header.map(() => '---'), ...lines].map(
    (cells) => `| ${cells.join(' | ')} |`,
  )
  return `${introduction(source)}\n${table.join('\n')}\n${narrowed(resources)}`
}
