import type { Resource } from './define.ts'

/** SQL for who asks; each is NULL for a program, and the last two for somebody who is no member. */
export type AskingSql = {
  readonly user: string
  readonly role: string
  readonly department: string
}

/**
 * Whether a member sees a row. It knows itself as SQL, so lists, counts and searches leave out the others, and
 * row-level security hides them.
 * @template Key fields that it reads
 */
export type Visible<Key extends string = string> = {
  /** In docs and descriptions, after "who see": `the assignee`. */
  readonly words: string
  readonly fields: readonly { readonly key: Key; readonly needs: 'person' | 'text' | 'value' }[]
  readonly roles: readonly string[]
  sql(asking: AskingSql, column: (key: string) => string): string
}

/** The person whom a field names: an author or a member. */
export function personOf<const Key extends string>(key: Key): Visible<Key> {
  return {
    words: `the person of ${key}`,
    ...{ fields: [{ key, needs: 'person' }], roles: [] },
    sql: ({ user }, column) => `${column(key)} = ${user}`,
  }
}

/** The members of the department that a field has. */
export function departmentOf<const Key extends string>(key: Key): Visible<Key> {
  return {
    words: `the department of ${key}`,
    ...{ fields: [{ key, needs: 'text' }], roles: [] },
    sql: ({ department }, column) => `${column(key)} = ${department}`,
  }
}

/** The members with one of these roles. */
export function haveRole(...roles: readonly [string, ...string[]]): Visible<never> {
  return {
    words: `the role ${roles.join(' or ')}`,
    ...{ fields: [], roles },
    sql: ({ role }) => `${role} IN (${roles.map(literal).join(', ')})`,
  }
}

/** Every member, of a row whose field has this value. */
export function fieldIs<const Key extends string>(key: Key, value: string | boolean): Visible<Key> {
  return {
    words: `everybody if ${key} is ${value}`,
    ...{ fields: [{ key, needs: 'value' }], roles: [] },
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
    sql: (asking: AskingSql, column: (key: string) => string) =>
      `(${all.map((one) => one.sql(asking, column)).join(` ${word.toUpperCase()} `) || none})`,
  }
}

/** Who asks as a member. @param tenant and user are SQL */
export function askingOf(tenant: string, user: string): AskingSql {
  const ofMember = (column: string) =>
    `(SELECT m.${column} FROM memberships m WHERE m.tenant_id = ${tenant} AND m.user_id = ${user})`
  return { user, role: ofMember('role'), department: ofMember('department') }
}

/** The name of the policy. A row that its author would not see is refused by it. */
export const visiblePolicy = 'visible'

/** The kinds of scopes in which a person asks. */
export const personKinds = "('session', 'token', 'export')"

/** What is wrong with the condition on who sees a row. */
export function visibleFaultsOf({
  scope,
  fields,
  forServices,
  unique,
  visible,
}: Resource): [boolean, string][] {
  if (visible === undefined) return []
  const strange = visible.fields.find(({ key, needs }) => {
    const field = fields[key]
    if (needs === 'person') return field?.isPerson !== true
    return field?.column !== 'text' && (needs === 'text' || field?.column !== 'boolean')
  })
  const kinds = { person: 'an author or a member', text: 'a text', value: 'a text or a flag' }
  return [
    [scope !== 'tenant', 'says who sees a row, which is only for the scope tenant'],
    [forServices, 'says which members see a row, and is for services, which are none'],
    [unique.length > 0, 'says who sees a row, and its unique key tells of rows to everybody'],
    [
      strange !== undefined,
      `says who sees a row by ${strange?.key}, which is not ${kinds[strange?.needs ?? 'value']}`,
    ],
  ]
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
