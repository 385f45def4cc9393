import type { CollectedRoute } from './collected-routes.ts'
import { reachOf } from './expected.ts'
import type { RouteRow, RouteRows } from './route-row.ts'
import type { Contract } from './rules.ts'

/** A route of the running program and the contract's row for it. */
export type Entry = { name: string; method: string; url: string; row: RouteRow }

/** The contract's row for each route. HEAD has the row of GET. */
export function entriesOf(routes: readonly CollectedRoute[], rows: RouteRows): Entry[] {
  return routes.flatMap(({ method, url }) => {
    const row = rows[rowName({ method, url })]
    return row === undefined ? [] : [{ name: `${method} ${url}`, method, url, row }]
  })
}

/** Entries whose responses show rows under both locks: of an owner, a member, a tenant or a chain. */
export function lockedEntries(contract: Contract, entries: readonly Entry[]): Entry[] {
  return entries.filter(({ method, row }) => {
    const reach = reachOf(contract, row)
    const locked = ['owner', 'member', 'tenant', 'chain'].includes(reach)
    const shows = row.object !== undefined || (row.lists !== undefined && method !== 'HEAD')
    return locked && shows
  })
}

/**
 * Differences between program, contract and matrix; empty if there are none.
 * @param ruled the rules of the program, `resource:action`
 */
export function gaps(
  { rules }: Contract,
  routes: readonly CollectedRoute[],
  ruled: readonly string[],
  rows: RouteRows,
): string[] {
  const routeNames = new Set(routes.map(rowName))
  const ruleNames = new Set(ruled)
  const used = new Set<string>(Object.values(rows).map(({ who }) => who))
  const differing = routes.filter((route) => {
    const row = rows[rowName(route)]
    return row !== undefined && statedOf(route.access) !== row.who
  })
  const found = [
    ...missingFrom(Object.keys(rows), routeNames).map((name) => `no row for the route ${name}`),
    ...missingFrom(routeNames, Object.keys(rows)).map((name) => `no route for the row ${name}`),
    ...missingFrom(Object.keys(rules), ruleNames).map((name) => `no row for the rule ${name}`),
    ...missingFrom(ruleNames, Object.keys(rules)).map((name) => `no rule for the row ${name}`),
    ...missingFrom(used, ruleNames).map((name) => `no route for ${name}`),
    ...differing.map((route) => `${rowName(route)} states ${statedOf(route.access)}`),
  ]
  return [...new Set(found)]
}

/** The items of `all` that are not in `some`. */
function missingFrom(some: Iterable<string>, all: Iterable<string>): string[] {
  const there = new Set(some)
  return [...new Set(all)].filter((name) => !there.has(name))
}

function rowName({ method, url }: { method: string; url: string }): string {
  return `${method === 'HEAD' ? 'GET' : method} ${url}`
}

/** The `config.access` of a route, in the contract's words. */
function statedOf(access: unknown): string {
  if (access === 'public') return 'anyone'
  if (typeof access === 'string') return access
  const { resource, action } = access as { resource: string; action: string }
  return `${resource}:${action}`
}
