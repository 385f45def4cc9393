import { exampleOf, type Schema } from '#src/http/openapi/examples.ts'
import { type Plans, plansWith } from '../plans.ts'
import type { Action, ActionName, Resource } from './define.ts'
import { columns as columnTypes } from './fields/columns.ts'
import type { Field } from './fields/field.ts'
import { inOrderOfNeed, type Link, linksOf } from './links.ts'
import { columnOf, wordsTableOf } from './names.ts'

/* What the program reads from the declared resources. */

const actionNames: readonly ActionName[] = ['read', 'create', 'update', 'delete']

function actionsOf({ actions, own }: Resource): [string, Action][] {
  const standard = actionNames.flatMap((name): [string, Action][] => {
    const action = actions[name]
    return action === undefined ? [] : [[name, action]]
  })
  return [...standard, ...Object.entries(own)]
}

/** The rules of the policy. A feature is that of the plans which have it. */
export function rulesOf(resources: readonly Resource[], declared: Plans = {}) {
  return resources.flatMap((resource) =>
    actionsOf(resource).map(
      ([action, { permission, token, plan = [], feature, unless = [], run }]) => ({
        resource: resource.name,
        action,
        permission,
        tokenPermission: token ?? permission,
        scope: resource.scope,
        credential: 'any' as const,
        forServices: resource.forServices,
        plans: feature === undefined ? [plan].flat() : plansWith(feature, declared),
        ...(feature !== undefined && { feature }),
        unless,
        hasOwnCode: run !== undefined,
      }),
    ),
  )
}

/** The permissions of limited tokens that no role has. */
export function tokenPermissionsOf(
  resources: readonly Resource[],
  ofRoles: readonly string[],
): string[] {
  const named = resources.flatMap((one) => actionsOf(one).map(([, { token }]) => token))
  return [...new Set(named)].filter(
    (one) => one !== undefined && !ofRoles.includes(one),
  ) as string[]
}

/**
 * The privileges of the roles on each table: nothing that no action needs.
 * @param worksInBackground whether workers run code of the app, which may do what its actions may
 */
export function privilegesOf(
  resources: readonly Resource[],
  worksInBackground = false,
): Record<string, { web: string; worker: string }> {
  return Object.fromEntries(
    resources.flatMap((one) => {
      const web = webPrivilegesOf(one)
      const worker = one.worker === '' && worksInBackground ? web : one.worker
      const read = { web: 'SELECT', worker: worker.includes('SELECT') ? 'SELECT' : '' }
      const ofWords = one.search.length === 0 ? [] : [[wordsTableOf(one), read] as const]
      return [[one.plural, { web, worker }] as const, ...ofWords]
    }),
  )
}

function webPrivilegesOf(resource: Resource): string {
  const { create, delete: removal } = resource.actions
  const changed = [...changedKeysOf(resource)].map(columnOf)
  return [
    'SELECT',
    ...(create === undefined ? [] : ['INSERT']),
    ...(changed.length === 0 ? [] : [`UPDATE (${changed.join(', ')})`]),
    ...(removal === undefined ? [] : ['DELETE']),
  ].join(', ')
}

/** The fields that changes write, each once: those of update and of own actions, and those that every change sets. */
export function changedKeysOf({ fields, actions, own }: Resource): Set<string> {
  const changes = [actions.update, ...Object.values(own)].filter((one) => one !== undefined)
  if (changes.length === 0) return new Set()
  const written = changes.flatMap(({ accepts = [], sets = [] }) => [...accepts, ...sets])
  return new Set([...written, ...Object.keys(fields).filter((key) => fields[key]?.isTouched)])
}

/** The fields whose values come from clients: those of bodies, and those that are computed from them. */
export function givenKeysOf({ fields, actions }: Pick<Resource, 'fields' | 'actions'>): string[] {
  const computed = Object.keys(fields).filter((key) => fields[key]?.computes !== undefined)
  const { create, update } = actions
  return [...new Set([...(create?.accepts ?? []), ...(update?.accepts ?? []), ...computed])]
}

/** Columns that the scope fills in. */
const scopeKeys: Readonly<Record<Resource['scope'], readonly string[]>> = {
  owner: ['tenantId', 'userId'],
  tenant: ['tenantId'],
  chain: ['tenantId', 'folderId', 'teamId'],
}

export function isWritten(key: string, action: Action | undefined): boolean {
  return [...(action?.accepts ?? []), ...(action?.sets ?? [])].includes(key)
}

/** The fields that an INSERT writes beside the columns of the scope, in their order. */
export function insertedKeysOf({ scope, fields, actions }: Resource): string[] {
  return Object.keys(fields).filter(
    (key) =>
      !scopeKeys[scope].includes(key) &&
      (fields[key]?.initial !== undefined || isWritten(key, actions.create)),
  )
}

/** The required fields that neither `create` nor the scope gives a new row. Then its column needs a value of its own. */
export function unfilledKeysOf(resource: Resource): string[] {
  const { scope, fields, actions } = resource
  if (actions.create === undefined) return []
  const given = ['id', ...scopeKeys[scope], ...insertedKeysOf(resource)]
  const isOptional = ({ isNullable, computes }: Field) => isNullable || computes !== undefined
  return Object.entries(fields).flatMap(([key, field]) =>
    isOptional(field) || given.includes(key) ? [] : [key],
  )
}

/** Of a field that is among `unfilledKeysOf`. */
export function fillRemedyOf({ name }: Pick<Resource, 'name'>, key: string): string {
  return `Let create of ${name} accept ${key}, name it in its sets and set it in run, give it a value with initially(…), or declare it optional(…).`
}

/** The function that enters the tenant of an owner's row, whose event belongs there. */
export function homeFunctionOf({ name }: Pick<Resource, 'name'>): string {
  return `enter_${name.replaceAll('-', '_')}_tenant`
}

/** The functions of `homeFunctionOf` as GRANT names them. */
export function homeFunctionsOf(resources: readonly Resource[]): string[] {
  return resources.filter(publishesAtHome).map((one) => `${homeFunctionOf(one)}(bigint)`)
}

/** Whether changes of a row publish events in its own tenant, whichever tenant its owner has active. */
export function publishesAtHome({ scope, events }: Resource): boolean {
  return scope === 'owner' && Object.keys(events).some((event) => event !== 'created')
}

type Insert = { text: string; values: unknown[] }
type Tenant = { readonly tenantId: string; readonly userId: number }

/** One row of each table that the web role may insert into, for the isolation check at start. */
export function isolationRowsOf(
  resources: readonly Resource[],
): Record<string, (tenant: Tenant) => Insert> {
  const inserted = inOrderOfNeed(resources).filter(({ actions }) => actions.create !== undefined)
  return Object.fromEntries(
    inserted.map((resource) => [
      resource.plural,
      (tenant: Tenant) => insertOf(resource, tenant, linksOf(resources)),
    ]),
  )
}

function insertOf(
  resource: Resource,
  { tenantId, userId }: Tenant,
  links: readonly Link[],
): Insert {
  const { plural, scope, fields } = resource
  const people = Object.keys(fields).filter((key) => fields[key]?.isPerson)
  const row = new Map<string, unknown>([
    ['tenant_id', tenantId],
    ...insertedKeysOf(resource).map((key) => [columnOf(key), exampleValue(resource, key)] as const),
    ...people.map((key) => [columnOf(key), userId] as const),
  ])
  row.delete('folder_id')
  const own = links.filter(({ from }) => from === resource)
  for (const { key } of own) row.delete(columnOf(key))
  const values = [...row.values()]
  const columns = [...row.keys(), 'id']
  const marks = [...values.map((_, index) => `$${index + 1}`), freeId]
  for (const { key, to, isNullable } of own) {
    if (isNullable) continue
    columns.push(columnOf(key))
    marks.push(firstOf(to.plural))
  }
  if (scope === 'chain') {
    // The isolation check has one team and one folder in each tenant.
    columns.push('team_id', 'folder_id')
    marks.push(firstOf('teams'), firstOf('folders'))
  }
  return {
    text: `INSERT INTO ${plural} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
           VALUES (${marks.join(', ')})`,
    values,
  }
}

/** An id that no sequence gives, so the check uses up none. */
export const freeId = '(-1 - floor(random() * 9007199254740991))::bigint'

const firstOf = (table: string) =>
  `coalesce((SELECT min(id) FROM ${table} WHERE tenant_id = $1), 0)`

function exampleValue({ fields }: Resource, key: string): unknown {
  const { column = 'text', written, shown } = fields[key] ?? {}
  const example = exampleOf(plain(written ?? shown), key)
  return columnTypes[column].sent?.(example) ?? example
}

/** The name of its section in an export. */
export function sectionOf({ plural }: Pick<Resource, 'plural'>): string {
  return plural.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

/** The sections of the downloads, as `export_sections` in the database names them. */
export function sectionsOf(resources: readonly Resource[]) {
  const named = resources.map((resource) => ({
    section: sectionOf(resource),
    scope: resource.scope,
    isPersonal:
      resource.scope === 'chain' || Object.values(resource.fields).some(({ isPerson }) => isPerson),
  }))
  const sections = (wanted: (one: (typeof named)[number]) => boolean) =>
    named.filter(wanted).map(({ section }) => section)
  return {
    ofPerson: sections(({ scope }) => scope === 'owner'),
    ofPersonInTenant: sections(({ scope, isPersonal }) => scope !== 'owner' && isPersonal),
    ofTenant: sections(() => true),
  }
}

/** The type of an event of a resource. */
export type ResourceEvent = `${string}.${string}`

export function eventTypesOf(
  resources: readonly Pick<Resource, 'name' | 'events'>[],
): ResourceEvent[] {
  return resources.flatMap(({ name, events }) =>
    Object.keys(events).map((event): ResourceEvent => `${name}.${event}`),
  )
}

/** Each kind of event: what has happened, and the schema of its data. */
export function eventKindsOf(
  resources: readonly Pick<Resource, 'name' | 'events' | 'payloads' | 'eventShape'>[],
) {
  return resources.flatMap(({ name, events, payloads, eventShape }) =>
    Object.entries(events).map(([event, summary]) => ({
      type: `${name}.${event}` as const,
      summary,
      data: payloads[event] ?? eventShape,
    })),
  )
}

/** Example data of an event with a schema of its own. */
export function examplePayload(schema: object): object {
  return Object(exampleOf(plain(schema), 'data'))
}

/** Example data of an event: what its schema allows, with the ids of the person who asks. */
export function exampleRow(
  { fields, example }: Pick<Resource, 'fields' | 'example'>,
  ids: { id: number; userId: number; tenantId: string },
  now: Date,
): object {
  const own: Record<string, unknown> = { id: ids.id, tenantId: ids.tenantId }
  const values = Object.entries(fields).flatMap(([key, one]) => {
    if (one.isOmitted || one.isHidden || one.permission !== undefined) return []
    if (one.example !== undefined) return [[key, one.example({ userId: ids.userId, now })]]
    return [[key, own[key] ?? exampleOf(plain(one.shown), key)]]
  })
  return { ...Object.fromEntries(values), ...example }
}

/** A copy without TypeBox's marks, which are no part of JSON Schema. */
function plain(schema: unknown): Schema {
  return JSON.parse(JSON.stringify(schema ?? {}))
}
