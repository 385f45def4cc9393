import type { LightMyRequestResponse } from 'fastify'
import { html } from '#src/pages/kit/html.ts'
import { labelOf } from '#src/pages/resources/rows.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { guardedOf } from '#src/resources/kit/fields/guarded.ts'
import { pagePathOf, pathOf } from '#src/resources/kit/names.ts'
import { app } from '#src/resources/running-app.ts'
import type { Actor } from './actors.ts'
import type { Entry } from './entries.ts'
import { hasField } from './expected.ts'
import { isPage } from './request.ts'
import type { RouteRow } from './route-row.ts'
import type { Contract, FieldRow } from './rules.ts'
import type { AccessTable, ResourceAccess } from './table.ts'

/* Fields with a permission: responses have them for those who have it, and others cannot write them. */

/** The fields of each resource of the table, with the permission that the app declares. */
export function fieldRowsOf({ resources = {} }: AccessTable): NonNullable<Contract['fields']> {
  return Object.fromEntries(
    app.resources.map(({ name, fields }) => [
      name,
      guardedOf(fields).map(({ key, permission }): FieldRow => {
        const roles = resources[name]?.fields?.[key]?.callers ?? []
        return { key, permission, roles }
      }),
    ]),
  )
}

/** Where the table and the app have different fields with a permission. */
export function fieldGaps({ resources = {} }: AccessTable): string[] {
  return app.resources.flatMap(({ name, fields }) => {
    const access = resources[name]
    if (access === undefined) return []
    const declared = guardedOf(fields).map(({ key }) => key)
    const named = Object.keys(access.fields ?? {})
    const services = named.filter((key) => access.fields?.[key]?.callers.includes('service'))
    return [
      ...declared
        .filter((key) => !named.includes(key))
        .map((key) => `no row for the field ${name}.${key}`),
      ...named
        .filter((key) => !declared.includes(key))
        .map((key) => `no field with a permission for the row ${name}.${key}`),
      ...services.map((key) => `${name}.${key} names service: service tokens have no such field`),
    ]
  })
}

/**
 * The roles that may create a row with every field that needs a permission; empty if none may, so that rows are
 * created without them.
 */
export function writersOf({ fields = {} }: ResourceAccess, creators: readonly string[]): string[] {
  const rows = Object.values(fields)
  return creators.filter((role) => rows.every(({ callers }) => callers.includes(role)))
}

/** The values of the fields that a new row is created with. */
export function valuesOf({ actions }: Resource, { fields = {} }: ResourceAccess): object {
  const written = Object.entries(fields).filter(([key]) => actions.create?.accepts?.includes(key))
  return Object.fromEntries(written.map(([key, { value }]) => [key, value]))
}

/** @throws Error if the example has a field that some who may create a row cannot write */
export function refuseGuarded({ fields = {} }: ResourceAccess, example: object): void {
  const key = Object.keys(example).find((one) => Object.hasOwn(fields, one))
  if (key === undefined) return
  throw new Error(
    `The example has ${key}, which needs a permission: its row in fields has a value.`,
  )
}

/** Each route that writes a field with a permission once more, with a value of it. */
export function writesOfFields(entries: readonly Entry[], { resources = {} }: AccessTable) {
  return app.resources.flatMap((resource) =>
    Object.entries(resources[resource.name]?.fields ?? {}).flatMap(([key, { value }]) =>
      entries.flatMap((entry): Entry[] => {
        const sent = sentBy(resource, key, value, `${entry.method} ${entry.url}`)
        if (sent === undefined) return []
        return [{ ...entry, name: `${entry.name} with ${key}`, row: writing(entry.row, key, sent) }]
      }),
    ),
  )
}

function writing(row: RouteRow, key: string, sent: unknown): RouteRow {
  const { body, writes = [] } = row
  return {
    ...{ ...row, writes: [...writes, key] },
    body: async (...given) => ({ ...(await body?.(...given)), [key]: sent }),
  }
}

/** What a request sends for a field, as JSON or from a form; undefined if it does not write the field. */
function sentBy(resource: Resource, key: string, value: unknown, route: string): unknown {
  const { create, update } = resource.actions
  const [path, page] = [pathOf(resource), pagePathOf(resource)]
  const routes = [
    { name: `POST ${path}`, action: create },
    { name: `PATCH ${path}/:id`, action: update },
    { name: `POST ${page}/new`, action: create, isForm: true },
    { name: `POST ${page}/:id`, action: update, isForm: true },
  ]
  const written = routes.find(({ name }) => name === route)
  if (written?.action?.accepts?.includes(key) !== true) return undefined
  return written.isForm ? resource.fields[key]?.control?.text(value) : value
}

/** Whether a response has a field for somebody who lacks its permission, or lacks it for somebody who has it. */
export function fieldFault(
  contract: Contract,
  row: RouteRow,
  actor: Actor,
  answer: LightMyRequestResponse,
): string | null {
  const rows = contract.fields?.[row.shows ?? ''] ?? []
  if (rows.length === 0 || answer.statusCode >= 300 || answer.body === '') return null
  const faults = rows.flatMap((field): string[] => {
    const may = hasField(contract, row, actor, field)
    // Pages go by the role; for a token that is limited they have a form or column without the value.
    if (isPage(answer) && !may && field.roles.includes(actor.role)) return []
    const shown = isPage(answer)
      ? onPage(answer.body, row, field.key)
      : inJson(answer.json(), field.key)
    const isWrong = shown.some((isThere) => isThere !== null && isThere !== may)
    return isWrong ? [`it ${may ? 'lacks' : 'has'} the field ${field.key}`] : []
  })
  return faults[0] ?? null
}

/** Whether each row of a response has the field. */
function inJson(json: object, key: string): boolean[] {
  const { data } = json as { readonly data?: unknown }
  const items = Array.isArray(data) ? data : [json]
  return items.map((item) => Object.hasOwn(Object(item), key))
}

/** Whether a page has the field; null if it need not, since a form or a list leaves it out. */
function onPage(page: string, { shows, object }: RouteRow, key: string): (boolean | null)[] {
  const resource = app.resources.find(({ name }) => name === shows)
  if (resource === undefined || resource.page === null) return []
  const label = html`${labelOf({ ...resource, page: resource.page }, key)}`.markup
  const marks = [
    ` name="${key}"`,
    `<dt>${label}</dt>`,
    `class="card text" aria-label="${label}"`,
    ` data-label="${label}"`,
  ]
  const isThere = marks.some((mark) => page.includes(mark))
  const isRow = object !== undefined && resource.fields[key]?.control != null
  return [isThere || isRow ? isThere : null]
}
