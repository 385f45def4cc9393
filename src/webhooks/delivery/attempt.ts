import { type EncryptionKeys, UnsealError } from '#src/crypto/encryption.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import type { Sender, SendResult } from '#src/webhooks/client/client.ts'
import { openEndpointSecrets } from '#src/webhooks/endpoints/secrets.ts'
import type { DueDelivery, Target } from './due.ts'
import { signDelivery } from './signature.ts'

export type AttemptDeps = { sender: Pick<Sender, 'send'>; keys: EncryptionKeys; clock: Clock }

/**
 * Makes one attempt. All attempts of an event have the same id and bytes; each has its own timestamp
 * and signature. Never rejects.
 */
export async function attemptDelivery(
  { event, endpoint }: Pick<DueDelivery, 'event'> & { endpoint: Target },
  { sender, keys, clock }: AttemptDeps,
): Promise<SendResult> {
  const startedAt = clock.now()
  const timestamp = unixSeconds(clock)
  try {
    const secrets = openEndpointSecrets(keys, endpoint, startedAt)
    const signature = signDelivery({
      profile: endpoint.signature,
      secrets,
      id: event.id,
      timestamp,
      body: event.body,
    })
    const headers = {
      'webhook-id': event.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
    }
    return await sender.send({ url: endpoint.url, headers, body: event.body })
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    const cause = `internal: ${error.message}`
    return { ...unsent, startedAt, cause }
  }
}

const unsent = {
  statusCode: null,
  responseExcerpt: null,
  durationMs: 0,
  error: 'could not be signed',
}

/** Success is a complete response with a 2xx status. */
export function succeeded({
  statusCode,
  error,
}: Pick<SendResult, 'statusCode' | 'error'>): boolean {
  return error === null && statusCode !== null && statusCode >= 200 && statusCode < 300
}
