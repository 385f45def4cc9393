import type { RouteRows } from '#dev/testing/access/route-row.ts'
import { accountRoutes } from './account-routes.ts'
import { outboundRoutes } from './outbound-routes.ts'
import { portalRoutes } from './portal-routes.ts'
import { resourceRoutes } from './resource-routes.ts'
import { serviceRoutes } from './service-routes.ts'
import { webhookPageRoutes } from './webhook-page-routes.ts'

/** Contract 3, route by route. A route of the program that is missing here fails the matrix. */
export const contractRoutes: RouteRows = {
  ...accountRoutes,
  ...resourceRoutes,
  ...outboundRoutes,
  ...webhookPageRoutes,
  ...portalRoutes,
  ...serviceRoutes,
}
