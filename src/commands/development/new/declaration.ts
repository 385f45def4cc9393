import type { NewField, NewResource } from './input.ts'

/** The names under which a resource appears in the files of an app. */
export function namesOf({ name, table }: Pick<NewResource, 'name' | 'table'>) {
  const file = table.replaceAll('_', '-')
  return {
    /** Of the resource, and of its description. */
    plurals: camel(table),
    constant: camel(name),
    file,
    path: `/${file}`,
    sentence: capital(table.replaceAll('_', ' ')),
  }
}

/**
 * The file of the declaration.
 * @param hasRoles whether the app declares its roles: then the resource has permissions of its own, else those of posts
 */
export function declarationOf(resource: NewResource, hasRoles: boolean): string {
  const { name, table, scope, page, fields } = resource
  const { plurals, sentence } = namesOf(resource)
  const allowed = allowedOf(resource, hasRoles)
  const changed = fields.map(({ key }) => key)
  const accepted = [...changed, ...(scope === 'chain' ? ['folderId'] : [])]
  const choices = fields.filter(({ kind }) => kind === 'choice').map(({ key }) => key)
  const filters = [...choices, ...(scope === 'chain' ? ['folderId'] : [])]
  const declared = [
    'id: id()',
    { owner: 'userId: owner()', tenant: 'authorId: author()', chain: 'folderId: folder()' }[scope],
    ...fields.map((field) => `${field.key}: ${fieldOf(field)}`),
    'createdAt: created()',
    'updatedAt: updated()',
  ]
  const actions = [
    `read: { ${allowed.read} }`,
    `create: { ${allowed.create}, accepts: [${quoted(accepted)}] }`,
    `update: { ${allowed.update}, accepts: [${quoted(changed)}] }`,
    `delete: { ${allowed.delete} }`,
  ]
  const told = [
    `created: '${capital(aOf(name))} was created'`,
    `updated: '${capital(aOf(name))} was changed'`,
  ]
  // An event of an owner's row would show the row to the admins of the tenant.
  const events = scope === 'owner' ? '' : `\n  events: {\n${lines(4, told)}\n  },`
  const columns = quoted([...choices, 'updatedAt'])
  const shown = `\n  page: { label: '${page}', heading: '${headingOf(resource)}', columns: [${columns}] },`
  return `import { ${helpersOf(resource).join(', ')} } from 'gatehouse'

/** ${sentence}. */
export const ${plurals} = defineResource('${name}', {
  plural: '${table}',
  scope: '${scope}',
  fields: {
${lines(4, declared)}
  },
  filters: [${quoted(filters)}],
  actions: {
${lines(4, actions)}
  },${events}${page === null ? '' : shown}
})
`
}

/**
 * The configuration of the app with one more resource.
 * @returns null if it has no list of resources in it
 */
export function withResource(
  config: string,
  resource: Pick<NewResource, 'name' | 'table'>,
): string | null {
  const { plurals, file } = namesOf(resource)
  const found = /\bresources:\s*\[([^[\]]*)\]/d.exec(config)
  const [, listed = ''] = found ?? []
  const [from, to] = found?.indices?.[1] ?? []
  if (from === undefined || to === undefined) return null
  const end = listed.trimEnd()
  const separator = end === '' || end.endsWith(',') ? '' : ','
  const space = end === '' ? '' : ' '
  const list = `${end}${separator}${space}${plurals}${listed.slice(end.length)}`
  const whole = `${config.slice(0, from)}${list}${config.slice(to)}`
  const imports = [...whole.matchAll(/^import\b[^'"]*['"][^'"]*['"];?$/gm)]
  const last = imports.at(-1)
  const place = last === undefined ? 0 : last.index + last[0].length + 1
  const line = `import { ${plurals} } from './resources/${file}.ts'\n`
  return `${whole.slice(0, place)}${line}${whole.slice(place)}`
}

/** The first line of a row's page. */
export function headingOf({ fields }: Pick<NewResource, 'fields'>): string {
  return fields.find(({ kind, isOptional }) => kind === 'line' && !isOptional)?.key ?? ''
}

function helpersOf({ scope, fields }: NewResource): string[] {
  const own = { owner: 'owner', tenant: 'author', chain: 'folder' }[scope]
  const kinds = fields.map(({ kind }) => kind)
  const optional = fields.some(({ isOptional }) => isOptional) ? ['optional'] : []
  return [
    ...new Set(['created', 'defineResource', own, 'id', ...kinds, ...optional, 'updated']),
  ].toSorted()
}

function fieldOf({ kind, limit, words, isOptional }: NewField): string {
  const made = `${kind}(${limit === 0 ? quoted(words) : grouped(limit)})`
  return isOptional ? `optional(${made})` : made
}

/** An owner's rows need no role. */
function allowedOf(
  { name, scope }: NewResource,
  hasRoles: boolean,
): Record<'read' | 'create' | 'update' | 'delete', string> {
  const [read, write] = [
    `permission: null, token: '${name}:read'`,
    `permission: null, token: '${name}:write'`,
  ]
  if (scope === 'owner') return { read, create: write, update: write, delete: write }
  const [ofReading, ofWriting, ofDeleting] = permissionsOf(name, hasRoles)
  const [token, of] =
    scope === 'chain' ? [`, token: '${name}:write'`, read] : ['', `permission: '${ofReading}'`]
  return {
    read: of,
    create: `permission: '${ofWriting}'${token}`,
    update: `permission: '${ofWriting}'${token}`,
    delete: `permission: '${ofDeleting}'${token}`,
  }
}

/** What a role needs to read, to write and to delete. */
export function permissionsOf(name: string, hasRoles: boolean): [string, string, string] {
  const of = hasRoles ? name : 'post'
  return [`${of}:read`, `${of}:write`, `${of}:delete`]
}

function aOf(name: string): string {
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name.replaceAll('-', ' ')}`
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ')
}

export function lines(indent: number, all: readonly string[]): string {
  return all.map((one) => `${' '.repeat(indent)}${one},`).join('\n')
}

function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, '_')
}

function camel(text: string): string {
  return text.replaceAll(/[-_](\w)/g, (_all, letter: string) => letter.toUpperCase())
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
