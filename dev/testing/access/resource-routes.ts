import { idInBody, type RouteRow } from './route-row.ts'
import type { RuleRow } from './rules.ts'

type ActionName = 'read' | 'create' | 'update' | 'delete'

/** What the routes of a resource depend on. */
export type RoutedResource = {
  /** `note`, as rules name it. */
  readonly name: string
  readonly path: string
  readonly rules: Readonly<Partial<Record<ActionName, RuleRow>>> & Readonly<Record<string, RuleRow>>
  /** Its own actions on a row, by their names: a valid body, and what the form on its page sends. */
  readonly own?: Readonly<Record<string, { readonly body?: object; readonly form?: object }>>
  /** A row needs one of another resource, which a body names by this key. */
  readonly needs?: { readonly key: string; readonly of: Pick<RoutedResource, 'name' | 'path'> }
  /** A valid body of POST, but for the folder and the row that it needs, and of PATCH. */
  readonly body?: object
  readonly change?: object
  /** The fields of its forms, but for the folder; without it there are no derived pages. Null: no such form. */
  readonly forms?: { readonly create: object | null; readonly change: object | null }
}

/** The routes and pages that follow from a declaration, written independently of the program. */
export function routesOfResource(one: RoutedResource): Record<string, RouteRow> {
  const { name, path, rules, body = {}, change = {}, forms } = one
  const who = (action: string) => `${name}:${action}` as const
  const isChain = rules.read?.reach === 'chain'
  const inTenant = rules.read?.reach === 'owner' ? { needsTenant: true as const } : {}
  const { needs } = one
  const inFolder = isChain && { object: 'folder' }
  // Keys of the database hold what a body names, with both locks open too.
  const named = needs !== undefined && {
    ...{ object: needs.of.name, outOfReach: 400, heldByKeys: true as const },
  }
  const routes: [RouteRow | false, string][] = [
    [{ who: who('read'), answer: 200, lists: name, counts: true }, `GET ${path}`],
    [{ who: who('read'), answer: 200, object: name }, `GET ${path}/:id`],
    [
      needs !== undefined && { who: who('read'), answer: 200, object: needs.of.name },
      `GET ${needs?.of.path}/:id${path}`,
    ],
    [
      rules.create !== undefined && {
        ...{ who: who('create'), answer: 201, ...inTenant, ...inFolder, ...named },
        body: ({ id }) => ({
          ...body,
          ...(isChain && { folderId: idInBody(id) }),
          ...(needs !== undefined && { [needs.key]: idInBody(id) }),
        }),
      },
      `POST ${path}`,
    ],
    [
      rules.update !== undefined && {
        ...{ who: who('update'), answer: 200, object: name, body: () => change },
      },
      `PATCH ${path}/:id`,
    ],
    [
      rules.delete !== undefined && { who: who('delete'), answer: 204, object: name },
      `DELETE ${path}/:id`,
    ],
    [forms !== undefined && { who: who('read'), answer: 200 }, `GET /app${path}`],
    [forms !== undefined && { who: who('read'), answer: 200, object: name }, `GET /app${path}/:id`],
    [
      forms?.create != null && { who: who('create'), answer: 200, ...inTenant },
      `GET /app${path}/new`,
    ],
    [
      forms?.create != null && {
        ...{ who: who('create'), answer: 303, ...inTenant, ...inFolder, ...named },
        body: ({ id = '' }) => ({
          ...{ ...forms.create, ...(isChain && { folderId: id }) },
          ...(needs !== undefined && { [needs.key]: id }),
          submission: crypto.randomUUID(),
        }),
      },
      `POST /app${path}/new`,
    ],
    [
      forms?.change != null && {
        ...{ who: who('update'), answer: 303, object: name },
        body: () => ({ ...forms.change }),
      },
      `POST /app${path}/:id`,
    ],
    [
      forms !== undefined &&
        rules.delete !== undefined && {
          ...{ who: who('delete'), answer: 303, object: name },
          body: () => ({ confirm: 'yes' }),
        },
      `POST /app${path}/:id/delete`,
    ],
  ]
  for (const [action, { body = {}, form }] of Object.entries(one.own ?? {})) {
    const row = { who: who(action), object: name }
    const sent = () => ({ ...form, submission: crypto.randomUUID() })
    routes.push(
      [{ ...row, answer: 200, body: () => body }, `POST ${path}/:id/${action}`],
      [
        forms !== undefined && { ...row, answer: 303, body: sent },
        `POST /app${path}/:id/${action}`,
      ],
    )
  }
  return Object.fromEntries(routes.flatMap(([row, route]) => (row === false ? [] : [[route, row]])))
}
