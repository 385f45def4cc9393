import type { PgBoss } from 'pg-boss'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { keyset } from '#src/db/keyset.ts'
import { idForm, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { wordsIn } from '#src/mail/language.ts'
import { addJob } from '#src/queue/jobs.ts'
import { type StateAlert, stateAlerts } from '#src/webhooks/health/state.ts'

const alertKinds = [...stateAlerts, 'endpoint.certificate'] as const
export type AlertKind = (typeof alertKinds)[number]

export function isAlertKind(text: string): text is AlertKind {
  return alertKinds.some((kind) => kind === text)
}

export type Alert = (
  | { kind: StateAlert; message?: undefined }
  /** A warning. */
  | { kind: 'endpoint.certificate'; message: string }
) & {
  endpointId: string
  url: string
  /** The same alert is not sent again if it was sent since then. */
  since?: Date | null
}

export const alertMailQueue = 'alert-mail'

const repeatAfterMs = 3_600_000 // contract 7: once per endpoint and hour

/**
 * Alerts the owners of a tenant about one of its endpoints, in the transaction that changes the
 * endpoint: a notification, and a job that mails it. The same alert is sent at most once an hour;
 * the caller holds the lock on the endpoint's state. Only the host of the URL appears, because a path
 * may be secret.
 */
export async function alertOwners(
  tx: Tx,
  queue: PgBoss,
  { tenantId }: TenantScope,
  alert: Alert,
  now: Date,
): Promise<void> {
  const { kind, endpointId, url, since = null } = alert
  const recentMs = now.getTime() - repeatAfterMs
  const recent = { gt: new Date(Math.min(since?.getTime() ?? recentMs, recentMs)) }
  const sent = await tx.notification.findFirst({
    where: { tenantId, endpointId, kind, createdAt: recent },
    select: { id: true },
  })
  if (sent !== null) return
  const { host } = new URL(url)
  const message =
    alert.message === undefined
      ? wordsIn('en').alert.kinds[alert.kind].what(host, '')
      : `The webhook endpoint at ${host} may fail soon. ${alert.message}`
  const { id } = await tx.notification.create({
    data: { tenantId, kind, endpointId, message, createdAt: now },
    select: { id: true },
  })
  await addJob(queue, tx, alertMailQueue, { tenantId, notificationId: Number(id) })
}

type NotificationRow = Omit<Prisma.NotificationGetPayload<object>, 'tenantId'>

export const notificationList = { name: 'notifications', forms: [idForm] }

/** The tenant's notifications about its endpoints, newest first. */
export async function listNotifications(tx: Tx, { tenantId }: TenantScope, page: Page) {
  const [id] = page.after ?? []
  const last = id === undefined ? null : [Prisma.sql`${id}::bigint`]
  const rows = await tx.sql<NotificationRow>`
    SELECT n.id, n.kind, n.endpoint_id AS "endpointId", n.message, n.created_at AS "createdAt",
      n.mailed_at AS "mailedAt"
    FROM notifications n
    JOIN webhook_endpoints e ON e.tenant_id = n.tenant_id AND e.id = n.endpoint_id
    WHERE n.tenant_id = ${tenantId}::uuid AND ${keyset([Prisma.sql`n.id`], last, page)}`
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
