import { headingOf, lines, namesOf } from '#src/commands/development/new/declaration.ts'
import type { NewField, NewResource } from '#src/commands/development/new/input.ts'
import { valuesOf } from '#src/commands/development/new/kinds.ts'
import { columnOf } from '#src/resources/kit/names.ts'

const typeFile = '#test/resources/description.ts'

/** What the tests of this repository expect of a new resource, for a person to compare with what was wanted. */
export function descriptionOf(resource: NewResource): string {
  const { name, table, scope, page, fields } = resource
  const { constant, path, sentence } = namesOf(resource)
  const values = fields.map((field) => `${field.key}: ${valuesOf(field)[0]}`)
  const stored = fields.map((field) => `${columnOf(field.key)}: ${valuesOf(field)[0]}`)
  const { facts, own, known, shown } = ofScope[scope]
  const change = fields
    .filter(({ key }) => key === headingOf(resource))
    .map((field) => `${field.key}: ${valuesOf(field)[1]}`)
  const form = `{ ${fields.map(inputOf).join(', ')} }`
  const events =
    scope === 'owner' ? '' : `\n  events: { POST: '${name}.created', PATCH: '${name}.updated' },`
  const forms = page === null ? '' : `\n  forms: { create: ${form}, change: ${form} },`
  return `import type { Description } from '${typeFile}'

/** ${sentence}. */
export const ${constant}: Description = {
  // Compare every line with what you want, then delete the mark.
  mark: 'review me',
  ...{ name: '${name}', path: '${path}', table: '${table}' },
  rules: {
${lines(4, rulesOf(resource))}
  },
  row: ({ ${facts} }) => ({ tenant_id: tenantId, ${[own, ...stored].join(', ')} }),
  body: { ${values.join(', ')} },
  change: { ${change.join(', ')} },
  answer: ({ ${known} }, now) => ({ ${[shown, ...values].join(', ')}, createdAt: now, updatedAt: now }),${events}${forms}
}
`
}

const ofScope = {
  owner: {
    ...{ facts: 'tenantId, userId', own: 'user_id: userId', known: 'userId', shown: 'userId' },
  },
  tenant: {
    facts: 'tenantId, userId',
    own: 'author_id: userId',
    known: 'userId',
    shown: 'authorId: userId',
  },
  chain: {
    facts: 'tenantId, folderId, teamId',
    own: 'folder_id: folderId, team_id: teamId',
    known: 'folderId',
    shown: 'folderId',
  },
} as const

/** What a form sends. */
function inputOf(field: NewField): string {
  const [value] = valuesOf(field)
  if (field.kind === 'integer') return `${field.key}: '${value}'`
  return `${field.key}: ${field.kind === 'flag' ? "'yes'" : value}`
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
