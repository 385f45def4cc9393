import { accountRoutes } from './account-routes.ts'
import { resourceRoutes } from './resource-routes.ts'
import type { RouteRows } from './route-row.ts'
import { serviceRoutes } from './service-routes.ts'

/** Contract 3, route by route. A route of the program that is missing here fails the matrix. */
export const contractRoutes: RouteRows = {
  ...accountRoutes,
  ...resourceRoutes,
  ...serviceRoutes,
}

/** Rules whose routes are not there yet; one that has a route may not stand here. */
export const rulesAhead: readonly string[] = [
  'webhook-endpoint:read',
  'webhook-endpoint:create',
  'webhook-endpoint:update',
  'webhook-endpoint:delete',
  'delivery:read',
  'delivery:replay',
  'event:read',
]
