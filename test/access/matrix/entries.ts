import type { CollectedRoute } from '#dev/testing/access/collected-routes.ts'
import type { Entry } from '#dev/testing/access/entries.ts'
import * as shared from '#dev/testing/access/entries.ts'
import { areAll } from './actors.ts'
import { contract } from './contract.ts'
import { contractRoutes } from './routes.ts'

// While a resource is being developed, only its routes can be checked: MATRIX_ONLY="/notes; /app/notes".
const only = process.env.MATRIX_ONLY?.split(/; */) ?? ['']

/** Whether all actors ask on all routes, so that every kind of case must occur. */
export const isWhole = only.includes('') && areAll

/** The contract's row for each route. HEAD has the row of GET. */
export function entriesOf(routes: readonly CollectedRoute[], rows = contractRoutes): Entry[] {
  return shared
    .entriesOf(routes, rows)
    .filter(({ url }) => only.some((start) => url.startsWith(start)))
}

/** Entries whose responses show rows under both locks. */
export function lockedEntries(entries: readonly Entry[]): Entry[] {
  return shared.lockedEntries(contract, entries)
}

/** Differences between program, contract and matrix; empty if there are none. */
export function gaps(
  routes: readonly CollectedRoute[],
  policy: readonly { resource: string; action: string }[],
): string[] {
  return shared.gaps(
    contract,
    routes,
    policy.map(({ resource, action }) => `${resource}:${action}`),
    contractRoutes,
  )
}
