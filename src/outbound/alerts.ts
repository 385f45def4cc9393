import type { Tx } from '#src/db/database.ts'
import type { AlertKind } from './endpoint-state.ts'

export type Alert = { kind: AlertKind; endpointId: string; url: string }

const quietMs = 3_600_000 // contract 7: once per endpoint and hour

const messages: Readonly<Record<AlertKind, (url: string) => string>> = {
  'endpoint.failing': (url) => `A delivery to ${url} has failed for the last time.`,
  'endpoint.disabled': (url) => `${url} has failed for five days and is disabled.`,
  'endpoint.recovered': (url) => `${url} takes deliveries again.`,
}

/**
 * Tells the owners of a tenant of one of its endpoints, in the transaction that changes it. That it
 * fails is said once an hour; the caller holds the lock of the endpoint's row.
 */
export async function alertOwners(
  tx: Tx,
  { tenantId }: { readonly tenantId: string },
  { kind, endpointId, url }: Alert,
  now: Date,
): Promise<void> {
  const recent = { gt: new Date(now.getTime() - quietMs) }
  const said = await tx.notification.findFirst({
    where: { tenantId, endpointId, kind, createdAt: recent },
    select: { id: true },
  })
  if (kind === 'endpoint.failing' && said !== null) return
  const message = messages[kind](url)
  await tx.notification.createMany({
    data: { tenantId, kind, endpointId, message, createdAt: now },
  })
}
