import type { TenantScope, Tx } from '#src/db/database.ts'
import { idForm, olderThan, type Page, pageOf } from '#src/http/pagination.ts'

export const notificationList = { name: 'notifications', forms: [idForm] }

/** What the owners of the tenant were told of its endpoints, newest first. */
export async function listNotifications(tx: Tx, { tenantId }: TenantScope, page: Page) {
  const rows = await tx.notification.findMany({
    where: { tenantId, ...olderThan(page) },
    orderBy: { id: 'desc' },
    take: page.limit + 1,
  })
  return pageOf(
    rows,
    page,
    notificationList.name,
    (row) => [String(row.id)],
    (row) => ({
      id: Number(row.id),
      kind: row.kind,
      endpointId: row.endpointId,
      message: row.message,
      createdAt: row.createdAt.toISOString(),
      mailedAt: row.mailedAt?.toISOString() ?? null,
    }),
  )
}
