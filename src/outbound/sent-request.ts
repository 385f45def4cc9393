import type { TenantScope, Tx } from '#src/db/database.ts'
import { ownHeaders } from '#src/webhooks/client/client.ts'
import type { Delivery } from '#src/webhooks/delivery/deliveries.ts'

/** What an attempt sends, as a person reads it: the signature is of each attempt and not kept. */
export type SentRequest = {
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  /** To the byte. */
  body: string
}

/** The request behind a delivery of the tenant, as its next attempt would make it. */
export async function findSentRequest(
  tx: Tx,
  { tenantId }: TenantScope,
  { eventId, endpointId }: Pick<Delivery, 'eventId' | 'endpointId'>,
): Promise<SentRequest | null> {
  const event = await tx.outboundEvent.findFirst({
    where: { tenantId, id: eventId },
    select: { body: true },
  })
  const endpoint = await tx.webhookEndpoint.findFirst({
    where: { tenantId, id: endpointId },
    select: { url: true },
  })
  if (event === null || endpoint === null) return null
  const headers = {
    ...ownHeaders,
    'webhook-id': eventId,
    'webhook-timestamp': '<seconds of the attempt, Unix time>',
    'webhook-signature': 'v1,<base64, made anew for each attempt>',
  }
  return { ...endpoint, ...event, headers: Object.entries(headers) }
}
