import { noPlan } from '../plans.ts'
import type { Resource } from './define.ts'
import type { Field } from './fields/field.ts'

/** SQL for who asks; each is NULL for a program, and role and department for somebody who is no member. */
export type AskingSql = {
  readonly user: string
  readonly role: string
  readonly department: string
  /** A subselect of ids. */
  readonly teams: string
  readonly plan: string
  /** `session` or `token`. */
  readonly credential: string
  /** A condition: whether they manage the tenant. */
  readonly manages: string
}

/**
 * Whether a member sees a row. It knows itself as SQL, so lists, counts and searches leave out the others, and
 * row-level security hides them.
 * @template Key fields that it reads
 */
export type Visible<Key extends string = string> = {
  /** In docs and descriptions, after "who see": `the assignee`. */
  readonly words: string
  readonly fields: readonly { readonly key: Key; readonly needs: keyof typeof kinds }[]
  readonly roles: readonly string[]
  readonly plans: readonly string[]
  /** Services that may read the resource see every row. Otherwise a resource for services has no condition. */
  readonly isForServices?: true
  /** It reads no other table, as the policies of a distributed database. */
  readonly readsNoTable?: true
  sql(asking: AskingSql, column: (key: string) => string): string
}

/** What a condition compares a field with, by how a message calls such a field. */
const kinds = {
  person: 'an author or a member',
  text: 'a text',
  value: 'a text or a flag',
  team: 'an integer',
} as const

/** The person whom a field names: an author or a member. */
export function personOf<const Key extends string>(key: Key): Visible<Key> {
  return {
    words: `the person of ${key}`,
    ...{ fields: [{ key, needs: 'person' }], roles: [], plans: [] },
    sql: ({ user }, column) => `${column(key)} = ${user}`,
  }
}

/** The members of the department that a field has. */
export function departmentOf<const Key extends string>(key: Key): Visible<Key> {
  return {
    words: `the department of ${key}`,
    ...{ fields: [{ key, needs: 'text' }], roles: [], plans: [] },
    sql: ({ department }, column) => `${column(key)} = ${department}`,
  }
}

/** The members of the team whose id a field has. */
export function teamOf<const Key extends string>(key: Key): Visible<Key> {
  return {
    words: `the team of ${key}`,
    ...{ fields: [{ key, needs: 'team' }], roles: [], plans: [] },
    sql: ({ teams }, column) => `${column(key)} IN ${teams}`,
  }
}

/** The members with one of these roles. */
export function haveRole(...roles: readonly [string, ...string[]]): Visible<never> {
  return {
    words: `the role ${roles.join(' or ')}`,
    ...{ fields: [], roles, plans: [] },
    sql: ({ role }) => `${role} IN (${roles.map(literal).join(', ')})`,
  }
}

/** The members with one of these plans; `free` is that of people without a subscription. */
export function havePlan(...plans: readonly [string, ...string[]]): Visible<never> {
  return {
    words: `the plan ${plans.join(' or ')}`,
    ...{ fields: [], roles: [], plans },
    sql: ({ plan }) => `${plan} IN (${plans.map(literal).join(', ')})`,
  }
}

/** The members who ask in a session, such as with a browser, or those who ask with an API token. */
export function haveCredential(credential: 'session' | 'token'): Visible<never> {
  return {
    words: credential === 'session' ? 'everybody in a session' : 'everybody with an API token',
    ...{ fields: [], roles: [], plans: [] },
    sql: (asking) => `${asking.credential} = ${literal(credential)}`,
  }
}

/** Every member, of a row whose field has this value. */
export function fieldIs<const Key extends string>(key: Key, value: string | boolean): Visible<Key> {
  return {
    words: `everybody if ${key} is ${value}`,
    ...{ fields: [{ key, needs: 'value' }], roles: [], plans: [] },
    sql: (_asking, column) => `${column(key)} = ${literal(String(value))}`,
  }
}

/** The members who see the row by at least one of the conditions. */
export function anyOf<Key extends string>(...all: readonly Visible<Key>[]): Visible<Key> {
  return joined(all, 'or')
}

/** The members who see the row by each of the conditions. */
export function allOf<Key extends string>(...all: readonly Visible<Key>[]): Visible<Key> {
  return joined(all, 'and')
}

function joined<Key extends string>(all: readonly Visible<Key>[], word: 'and' | 'or') {
  const none = word === 'and' ? 'true' : 'false'
  return {
    words: all.map(({ words }) => words).join(` ${word} `),
    fields: all.flatMap(({ fields }) => fields),
    roles: all.flatMap(({ roles }) => roles),
    plans: all.flatMap(({ plans }) => plans),
    sql: (asking: AskingSql, column: (key: string) => string) =>
      `(${all.map((one) => one.sql(asking, column)).join(` ${word.toUpperCase()} `) || none})`,
  }
}

/**
 * Who asks as a member. The scope alone says all of it, so both locks judge the same: what only the program knows, such
 * as how long ago somebody has signed in, is in no condition on who sees a row.
 * @param scope its tenant, user and kind as SQL, and whether the user manages the tenant
 */
export function askingOf({ tenant, user, kind, manages }: ScopeSql): AskingSql {
  const ofMember = (column: string) =>
    `(SELECT m.${column} FROM memberships m WHERE m.tenant_id = ${tenant} AND m.user_id = ${user})`
  return {
    user,
    role: ofMember('role'),
    department: ofMember('department'),
    teams: `(SELECT o.team_id FROM team_members o WHERE o.tenant_id = ${tenant} AND o.user_id = ${user})`,
    // As enter_session has it.
    plan: `(SELECT coalesce(CASE WHEN t.subscription_cancels_at <= now() THEN NULL ELSE t.plan END, CASE WHEN u.subscription_cancels_at <= now() THEN NULL ELSE u.plan END, ${literal(noPlan)}) FROM users u LEFT JOIN tenants t ON t.id = ${tenant} WHERE u.id = ${user})`,
    // Only a session downloads what there is about a person.
    credential: `CASE ${kind} WHEN 'session' THEN 'session' WHEN 'export' THEN 'session' WHEN 'token' THEN 'token' END`,
    manages,
  }
}

type ScopeSql = { readonly [Fact in 'tenant' | 'user' | 'kind' | 'manages']: string }

/** The name of the policy. A row that its author would not see is refused by it. */
export const visiblePolicy = 'visible'

/** The kinds of scopes in which a person asks; `order` is the tenant of a row that the person owns. */
export const personKinds = "('session', 'token', 'order', 'export')"

/** What is wrong with the condition on who sees a row. */
export function visibleFaultsOf({
  scope,
  fields,
  forServices,
  unique,
  visible,
}: Resource): [boolean, string][] {
  if (visible === undefined) return []
  const strange = visible.fields.find(({ key, needs }) => !isFit(fields[key], needs))
  return [
    [scope !== 'tenant', 'says who sees a row, which is only for the scope tenant'],
    [
      forServices && visible.isForServices !== true,
      'says which members see a row, and is for services, which are none',
    ],
    [unique.length > 0, 'says who sees a row, and its unique key tells of rows to everybody'],
    [
      strange !== undefined,
      `says who sees a row by ${strange?.key}, which is not ${kinds[strange?.needs ?? 'value']}`,
    ],
  ]
}

/** Whether somebody's teams decide which rows of the resource they see, so its policy reads them. */
export function seesTeams({ visible }: Resource): boolean {
  return visible?.fields.some(({ needs }) => needs === 'team') === true
}

function isFit(field: Field | undefined, needs: keyof typeof kinds): boolean {
  switch (needs) {
    case 'person':
      return field?.isPerson === true
    case 'text':
      return field?.column === 'text'
    case 'value':
      return field?.column === 'text' || field?.column === 'boolean'
    case 'team': {
      const isOther = field?.isPerson === true || field?.refersTo !== undefined
      return (field?.column === 'bigint' || field?.column === 'integer') && !isOther
    }
  }
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
