import type { Caller } from '#src/access/caller.ts'
import { decideWithoutObject } from '#src/access/policy.ts'
import { listMembers } from '#src/auth/members/members.ts'
import { findReceived } from '#src/billing/events.ts'
import type { Tx } from '#src/db/database.ts'
import { type Destination, type FoundObject, objectsFor } from '#src/pages/kit/destinations.ts'
import { invoices } from '#src/resources/invoices.ts'
import { pagePathOf } from '#src/resources/kit/names.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { mayRead } from '#src/rows/named.ts'
import { isSearchable, maxSearchedRows } from '#src/rows/search.ts'
import type { Declared } from '#src/rows/table.ts'
import { findEndpoint, listEndpoints, maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'
import { findEvent } from '#src/webhooks/events/feed.ts'
import { findDelivery } from '#src/webhooks/history/deliveries.ts'

/* Finds objects by id and by name, each only for those who may read it. */

/** Of each kind of object, the newest that match. */
const shownOfKind = 5

/** While somebody types, a search looks at fewer rows of each kind, and answers with fewer of all. */
const searchedWhileTyping = 2_000
const maxSuggestions = 12
const shortestName = 2

/** The objects with an id of the search, and those with its words in their names. */
export async function suggestObjects(
  tx: Tx,
  caller: Caller,
  resources: readonly Declared[],
  search: string,
): Promise<Destination[]> {
  const objects = objectsFor(caller, search)
  const [byId, named] = await Promise.all([
    Promise.all(objects.map((one) => findObject(tx, caller, resources, one))),
    search.length < shortestName
      ? []
      : findNamed(tx, caller, resources, search, searchedWhileTyping),
  ])
  const all = [...byId.flatMap((one) => one ?? []), ...named]
  const paths = all.map(({ href }) => href)
  return all.filter(({ href }, index) => paths.indexOf(href) === index).slice(0, maxSuggestions)
}

/** Objects of the program itself: what the policy calls them, and how one is read. */
const ownObjects: Readonly<
  Record<
    string,
    { resource: string; find(tx: Tx, scope: { tenantId: string }, id: string): Promise<unknown> }
  >
> = {
  '/app/webhooks': { resource: 'webhook-endpoint', find: findEndpoint },
  '/app/deliveries': { resource: 'delivery', find: findDelivery },
  '/app/events': { resource: 'event', find: findEvent },
  '/app/billing': { resource: 'billing-event', find: (tx, _scope, id) => findReceived(tx, id) },
}

/** The object, if there is one with this id and the caller may read it; null for any other. */
async function findObject(
  tx: Tx,
  caller: Caller,
  resources: readonly Declared[],
  { path, id, ...destination }: FoundObject,
): Promise<Destination | null> {
  const resource = [...resources, invoices].find((one) => pagePathOf(one) === path)
  if (resource !== undefined) {
    if (!isInReach(caller, resource)) return null
    const { statement, read } = actionsOf(resource).find(Number(id))
    const row: unknown = read(await tx.sql(statement), caller)
    if (row === null) return null
    const { [resource.page?.heading ?? '']: heading = null } = Object(row)
    if (heading === null) return destination
    return { ...destination, label: String(heading), about: destination.label, isEntered: true }
  }
  const own = ownObjects[path]
  if (own === undefined) return null
  const question = { caller, resource: own.resource, action: 'read' } as const
  if (decideWithoutObject(question).effect !== 'allow') return null
  const found = await own.find(tx, { tenantId: caller.tenantId ?? '' }, id)
  return found === null ? null : destination
}

/**
 * Rows, endpoints and members that the caller may see, by their names.
 * @param searched rows of each resource that it looks at, the newest ones
 */
export async function findNamed(
  tx: Tx,
  caller: Caller,
  resources: readonly Declared[],
  search: string,
  searched = maxSearchedRows,
): Promise<Destination[]> {
  const { tenantId } = caller
  const rows = resources.map((resource) => findRows(tx, caller, resource, search, searched))
  const mayReadOf = (resource: string) =>
    decideWithoutObject({ caller, resource, action: 'read' }).effect === 'allow'
  const managed =
    tenantId === null
      ? []
      : [
          mayReadOf('webhook-endpoint') ? findEndpoints(tx, tenantId, search) : [],
          mayReadOf('user') ? findPeople(tx, tenantId, search) : [],
        ]
  return (await Promise.all([...rows, ...managed])).flat()
}

async function findRows(
  tx: Tx,
  caller: Caller,
  resource: Declared,
  search: string,
  searched: number,
): Promise<Destination[]> {
  const { page } = resource
  if (page === null || resource.search.length === 0 || !isSearchable(search)) return []
  if (!isInReach(caller, resource)) return []
  const { listWithNames } = actionsOf(resource)
  const first = { limit: shownOfKind, after: null }
  const { data } = await listWithNames(tx, caller, first, { q: search }, { searched })
  return data.map(({ item }) => ({
    href: `${pagePathOf(resource)}/${Object(item).id}`,
    label: String(Object(item)[page.heading] ?? ''),
    about: page.label,
    icon: page.icon ?? 'list',
    isEntered: true,
  }))
}

function isInReach(caller: Caller, resource: Declared): boolean {
  const isIn = resource.scope === 'owner' || caller.tenantId !== null
  return isIn && mayRead(caller, resource)
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
