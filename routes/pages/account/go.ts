import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Caller } from '#src/access/caller.ts'
import { permissionsOf } from '#src/access/roles.ts'
import { listMembers } from '#src/auth/members/members.ts'
import type { Tx } from '#src/db/database.ts'
import { OptionalLine } from '#src/http/schemas.ts'
import { goPage } from '#src/pages/account/go.ts'
import { type Destination, destinationsFor } from '#src/pages/kit/destinations.ts'
import { pagePathOf } from '#src/resources/kit/names.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { mayRead } from '#src/rows/named.ts'
import { isSearchable } from '#src/rows/search.ts'
import type { Declared } from '#src/rows/table.ts'
import { listEndpoints, maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'

const Search = Type.Object({ q: Type.Optional(OptionalLine(100)) }, { additionalProperties: false })

/** Of each kind of object, the newest that match. */
const shownOfKind = 5

type Options = { readonly resources: readonly Declared[] }

/** Finds pages, actions and objects by id and by name. A search with one result leads there. */
const go: FastifyPluginAsyncTypebox<Options> = async function go(app, { resources }) {
  app.get(
    '/app/go',
    {
      // Each resource is searched.
      config: { access: { resource: 'account', action: 'read' }, takesTurn: true },
      schema: { hide: true, querystring: Search },
    },
    async (request, reply) => {
      const search = (request.query.q ?? '').trim()
      const find = (tx: Tx, caller: Caller) => findNamed(tx, caller, resources, search)
      if (search === '') await request.enter()
      const named = search === '' ? [] : await app.db.read(request.entry, find)
      const { viewer } = request
      const found = [...destinationsFor(viewer, search), ...named]
      const [only, ...others] = found
      if (search !== '' && only !== undefined && others.length === 0) {
        return reply.redirect(only.href, 303)
      }
      return reply.sendPage(goPage(viewer, search, found))
    },
  )
}

/** Rows, endpoints and members that the caller may see, by their names. */
async function findNamed(
  tx: Tx,
  caller: Caller,
  resources: readonly Declared[],
  search: string,
): Promise<Destination[]> {
  const { tenantId, role } = caller
  const rows = resources.map((resource) => findRows(tx, caller, resource, search))
  const isManager = tenantId !== null && permissionsOf(role).includes('user:manage')
  const managed = isManager
    ? [findEndpoints(tx, tenantId, search), findPeople(tx, tenantId, search)]
    : []
  return (await Promise.all([...rows, ...managed])).flat()
}

async function findRows(
  tx: Tx,
  caller: Caller,
  resource: Declared,
  search: string,
): Promise<Destination[]> {
  const { page, scope } = resource
  const isInReach = scope === 'owner' || caller.tenantId !== null
  if (page === null || resource.search.length === 0 || !isSearchable(search)) return []
  if (!isInReach || !mayRead(caller, resource)) return []
  const { listWithNames } = actionsOf(resource)
  const first = { limit: shownOfKind, after: null }
  const { data } = await listWithNames(tx, caller, first, { q: search })
  return data.map(({ item }) => ({
    href: `${pagePathOf(resource)}/${Object(item).id}`,
    label: String(Object(item)[page.heading] ?? ''),
    about: page.label,
    icon: page.icon ?? 'list',
    isEntered: true,
  }))
}

async function findEndpoints(tx: Tx, tenantId: string, search: string): Promise<Destination[]> {
  const all = { limit: maxEndpoints, after: null }
  const { data } = await listEndpoints(tx, { tenantId }, all)
  const text = search.toLowerCase()
  const found = data.filter(({ url, description }) =>
    `${url} ${description ?? ''}`.toLowerCase().includes(text),
  )
  return found.slice(0, shownOfKind).map(({ id, url }) => ({
    ...{ href: `/app/webhooks/${id}`, label: url, about: 'Webhooks', icon: 'webhook' },
    isEntered: true,
  }))
}

/** Members have no pages of their own: the link shows them in the list. */
async function findPeople(tx: Tx, tenantId: string, search: string): Promise<Destination[]> {
  const first = { limit: shownOfKind, after: null }
  const { data } = await listMembers(tx, { tenantId }, first, { search })
  return data.map(({ id, name, email }) => ({
    href: `/app/tenant?search=${id}#members`,
    ...{ label: name ?? email ?? `User ${id}`, about: 'Members', icon: 'people' },
    isEntered: true,
  }))
}

export default go
