import type { RouteRows } from '#dev/testing/access/route-row.ts'
import { webhookPageRoutes } from './webhook-page-routes.ts'

/** The portal: the same pages, for portal sessions alone, and where links are opened. */
export const portalRoutes: RouteRows = {
  // There is no link `undefined`.
  'GET /portal/open': { who: 'anyone', answer: 400 },
  'POST /portal/open': { who: 'anyone', answer: 400 },
  ...Object.fromEntries(
    Object.entries(webhookPageRoutes).map(([name, row]) => [
      name.replace(' /app/', ' /portal/'),
      row,
    ]),
  ),
}
