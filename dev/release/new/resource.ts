import { readFile } from 'node:fs/promises'
import type { Edit } from './edit.ts'
import { InputFault, type NewField, type NewResource } from './input.ts'

/** The app that gets the resource. */
export const app = 'examples/shop'

/**
 * What the command writes.
 * @param stamp of the migration, such as 20261126100000
 * @throws InputFault if a name of the table is too long
 */
export async function editsOf(resource: NewResource, stamp: string): Promise<Edit[]> {
  const { name, table } = resource
  refuseLongNames(resource)
  const words = wordsOf(resource)
  const fill = (template: string) => filled(template, words)
  const { plurals = '', constant = '', file = '' } = words
  return [
    { path: `${app}/migrations/${stamp}_${table}/migration.sql`, text: await fill('migration') },
    { path: `${app}/resources/${file}.ts`, text: await fill('declaration') },
    {
      path: `${app}/gatehouse.config.ts`,
      after: `import { documents }`,
      text: `import { ${plurals} } from './resources/${file}.ts'\n`,
    },
    { path: `${app}/gatehouse.config.ts`, before: '],\n  routes:', text: `, ${plurals}` },
    { path: `${app}/test/${name}.ts`, text: await fill('description') },
    {
      path: `${app}/test/index.ts`,
      after: `import { document }`,
      text: `import { ${constant} } from './${name}.ts'\n`,
    },
    { path: `${app}/test/index.ts`, before: ']\n', text: `, ${constant}` },
  ]
}

async function filled(template: string, words: Readonly<Record<string, string>>): Promise<string> {
  const text = await readFile(new URL(`./${template}.txt`, import.meta.url), 'utf8')
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_all, key: string) => words[key] ?? '')
}

/** The words of the templates. */
function wordsOf(resource: NewResource): Record<string, string> {
  const { name, table, scope, page, fields } = resource
  const camel = (text: string) =>
    text.replaceAll(/[-_](\w)/g, (_all, letter: string) => letter.toUpperCase())
  const plurals = camel(table)
  const file = table.replaceAll('_', '-')
  const sentence = table.replaceAll('_', ' ')
  const heading = fields.find(({ kind, isOptional }) => kind === 'line' && !isOptional)?.key ?? ''
  const choices = fields.filter(({ kind }) => kind === 'choice')
  const accepted = list([
    ...fields.map(({ key }) => key),
    ...(scope === 'chain' ? ['folderId'] : []),
  ])
  const changed = list(fields.map(({ key }) => key))
  const filters = [...choices.map(({ key }) => key), ...(scope === 'chain' ? ['folderId'] : [])]
  const owns = { owner: ['userId'], tenant: ['authorId'], chain: ['folderId'] }[scope]
  const [allowed, ruled] = [allowedOf(resource), rulesOf(resource)]
  return {
    ...{ name, table, scope, plurals, file, heading },
    constant: camel(name),
    path: `/${file}`,
    Sentence: capital(sentence),
    helpers: helpersOf(resource).join(', '),
    fields: lines(4, [
      'id: id()',
      { owner: 'userId: owner()', tenant: 'authorId: author()', chain: 'folderId: folder()' }[
        scope
      ],
      ...fields.map((field) => `${field.key}: ${declared(field)}`),
      'createdAt: created()',
      'updatedAt: updated()',
    ]),
    filters: list(filters),
    actions: lines(4, [
      `read: { ${allowed.read} }`,
      `create: { ${allowed.create}, accepts: [${accepted}] }`,
      `update: { ${allowed.update}, accepts: [${changed}] }`,
      `delete: { ${allowed.delete} }`,
    ]),
    events: lines(4, [
      `created: '${capital(aOf(name))} was created'`,
      `updated: '${capital(aOf(name))} was changed'`,
    ]),
    page:
      page === null
        ? ''
        : `\n  page: { label: '${page}', heading: '${heading}', columns: [${list([...choices.map(({ key }) => key), 'updatedAt'])}] },`,
    ...databaseWords(resource),
    rules: lines(4, ruled),
    facts: {
      owner: 'tenantId, userId',
      tenant: 'tenantId, userId',
      chain: 'tenantId, folderId, teamId',
    }[scope],
    answerFacts: { owner: 'userId', tenant: 'userId', chain: 'folderId' }[scope],
    row: [
      'tenant_id: tenantId',
      {
        owner: 'user_id: userId',
        tenant: 'author_id: userId',
        chain: 'folder_id: folderId, team_id: teamId',
      }[scope],
      ...fields.map((field) => `${columnOf(field.key)}: ${sample(field)}`),
    ].join(', '),
    body: fields.map((field) => `${field.key}: ${sample(field)}`).join(', '),
    change: fields
      .slice(0, 1)
      .map((field) => `${field.key}: ${other(field)}`)
      .join(', '),
    answer: [
      ...owns.map((key) => (key === 'authorId' ? 'authorId: userId' : key)),
      ...fields.map((field) => `${field.key}: ${sample(field)}`),
    ].join(', '),
    described: `POST: '${name}.created', PATCH: '${name}.updated'`,
    forms:
      page === null ? '' : `\n  forms: { create: ${formOf(fields)}, change: ${formOf(fields)} },`,
  }
}

function helpersOf({ scope, fields }: NewResource): string[] {
  const own = { owner: 'owner', tenant: 'author', chain: 'folder' }[scope]
  const kinds = fields.map(({ kind }) => kind)
  const optional = fields.some(({ isOptional }) => isOptional) ? ['optional'] : []
  return [
    ...new Set(['created', 'defineResource', own, 'id', ...kinds, ...optional, 'updated']),
  ].toSorted()
}

function declared({ kind, limit, words, isOptional }: NewField): string {
  const made = {
    line: `line(${grouped(limit)})`,
    text: `text(${grouped(limit)})`,
    choice: `choice(${list(words)})`,
    integer: 'integer()',
    flag: 'flag()',
  }[kind]
  return isOptional ? `optional(${made})` : made
}

/** Under the permissions of posts; an owner's rows need no role. */
function allowedOf({
  name,
  scope,
}: NewResource): Record<'read' | 'create' | 'update' | 'delete', string> {
  const [read, write] = [
    `permission: null, token: '${name}:read'`,
    `permission: null, token: '${name}:write'`,
  ]
  if (scope === 'owner') return { read, create: write, update: write, delete: write }
  const [token, of] =
    scope === 'chain' ? [`, token: '${name}:write'`, read] : ['', `permission: 'post:read'`]
  return {
    read: of,
    create: `permission: 'post:write'${token}`,
    update: `permission: 'post:write'${token}`,
    delete: `permission: 'post:delete'${token}`,
  }
}

function rulesOf({ name, scope }: NewResource): string[] {
  const row = (action: string, permission: string | null, token: string) =>
    `${action}: { reach: '${scope}', ${permission === null ? '' : `permission: '${permission}', `}token: '${token}' }`
  const [reads, writes] = [`${name}:read`, `${name}:write`]
  const inRole = scope !== 'owner'
  const isTenant = scope === 'tenant'
  return [
    row('read', isTenant ? 'post:read' : null, isTenant ? 'post:read' : reads),
    row('create', inRole ? 'post:write' : null, isTenant ? 'post:write' : writes),
    row('update', inRole ? 'post:write' : null, isTenant ? 'post:write' : writes),
    row('delete', inRole ? 'post:delete' : null, isTenant ? 'post:delete' : writes),
  ]
}

const columnTypes = {
  line: 'text',
  text: 'text',
  choice: 'text',
  integer: 'bigint',
  flag: 'boolean',
} as const
function databaseWords({ table, scope, fields }: NewResource) {
  const own = {
    owner: 'user_id bigint NOT NULL',
    tenant: 'author_id bigint',
    chain: 'folder_id bigint NOT NULL',
  }[scope]
  const columns = [
    'tenant_id uuid NOT NULL',
    'id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991)',
    own,
    ...(scope === 'chain' ? ['team_id bigint NOT NULL'] : []),
    ...fields.map(
      ({ key, kind, isOptional }) =>
        `${columnOf(key)} ${columnTypes[kind]}${isOptional ? '' : ' NOT NULL'}`,
    ),
    'created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP',
    'updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP',
  ]
  const indexes = indexesOf({ scope, fields })
  return {
    tableColumns: columns.map((one) => `  ${one}`).join(',\n'),
    keys:
      scope === 'chain'
        ? ',\n  FOREIGN KEY (tenant_id, folder_id, team_id) REFERENCES folders(tenant_id, id, team_id)'
        : '',
    tableIndexes: indexes
      .map((keys) => [...keys, 'id'].map(columnOf))
      .map((keys) => `CREATE INDEX ${indexName(table, keys)} ON ${table} (${keys.join(', ')});`)
      .join('\n'),
  }
}

/** The fields of each index, before the id. */
function indexesOf({ scope, fields }: Pick<NewResource, 'scope' | 'fields'>): string[][] {
  const filters = fields.filter(({ kind }) => kind === 'choice').map(({ key }) => key)
  const own = {
    owner: [['userId'], ['userId', 'createdAt']],
    tenant: [
      ['tenantId', 'authorId'],
      ['tenantId', 'createdAt'],
    ],
    chain: [
      ['tenantId', 'teamId'],
      ['tenantId', 'teamId', 'createdAt'],
      ['tenantId', 'folderId', 'teamId'],
    ],
  }[scope]
  const scoped = { owner: ['userId'], tenant: ['tenantId'], chain: ['tenantId', 'teamId'] }[scope]
  return [...own, ...filters.map((key) => [...scoped, key])]
}

function indexName(table: string, columns: readonly string[]): string {
  return `${table}_${columns.join('_')}_idx`
}

const maxName = 63 // PostgreSQL cuts off the end of a longer one

function refuseLongNames(resource: NewResource): void {
  const { name, table, scope } = resource
  const names = [
    ...indexesOf(resource).map((keys) => indexName(table, [...keys, 'id'].map(columnOf))),
    ...(scope === 'chain' ? [`${table}_tenant_id_folder_id_team_id_fkey`] : []),
  ]
  const excess = Math.max(...names.map(({ length }) => length)) - maxName
  if (excess <= 0) return
  throw new InputFault(
    `${name}: names of indexes of ${table} would be ${excess} characters too long. Use a shorter --plural or field.`,
  )
}

function sample({ key, kind, words }: NewField): string {
  if (kind === 'choice') return `'${words[0]}'`
  if (kind === 'integer') return '1'
  if (kind === 'flag') return 'true'
  return `'${capital(spaced(key)).slice(0, 1)}'`
}

function other({ kind, words }: NewField): string {
  if (kind === 'choice') return `'${words[1]}'`
  if (kind === 'integer') return '2'
  if (kind === 'flag') return 'false'
  return `'x'`
}

function formOf(fields: readonly NewField[]): string {
  const inputs = fields.map((field) => {
    const value =
      { integer: `'1'`, flag: `'yes'` }[field.kind as 'integer' | 'flag'] ?? sample(field)
    return `${field.key}: ${value}`
  })
  return `{ ${inputs.join(', ')} }`
}

function columnOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function spaced(key: string): string {
  return columnOf(key).replaceAll('_', ' ')
}

function aOf(name: string): string {
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name.replaceAll('-', ' ')}`
}

function list(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ')
}

function lines(indent: number, all: readonly string[]): string {
  return all.map((one) => `${' '.repeat(indent)}${one},`).join('\n')
}

function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, '_')
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
