import { type EncryptionKeys, UnsealError } from '#src/crypto/encryption.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import type { Sender, SendResult } from '#src/webhooks/client/client.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { openEndpointSecrets } from '#src/webhooks/signing/secrets.ts'
import { signDelivery } from '#src/webhooks/signing/signature.ts'
import type { DueDelivery, Target } from './claim.ts'

export type AttemptDeps = { sender: Pick<Sender, 'send'>; keys: EncryptionKeys; clock: Clock }

/**
 * Makes one attempt. All attempts of an event have the same id and bytes; each has its own timestamp
 * and signature.
 * @throws PostponedError if we cannot make it: then it does not count and is made later
 */
export async function attemptDelivery(
  { event, endpoint }: { event: Pick<DueDelivery['event'], 'id' | 'body'>; endpoint: Target },
  { sender, keys, clock }: AttemptDeps,
): Promise<SendResult> {
  const timestamp = unixSeconds(clock)
  const signature = signDelivery({
    profile: endpoint.signature,
    secrets: openSecrets(keys, endpoint, clock.now()),
    id: event.id,
    timestamp,
    body: event.body,
  })
  const headers = {
    'webhook-id': event.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  }
  return sender.send({ url: endpoint.url, headers, body: event.body })
}

/** The secrets of the endpoints of a claim, which its deliveries share, and until when they sign. */
const opened = new WeakMap<Target, { secrets: readonly string[]; until: number }>()

/** During a rotation of ENCRYPTION_KEYS this process may lack the key of another one. */
function openSecrets(keys: EncryptionKeys, endpoint: Target, now: Date): readonly string[] {
  const known = opened.get(endpoint)
  if (known !== undefined && now.getTime() < known.until) return known.secrets
  try {
    const secrets = openEndpointSecrets(keys, endpoint, now)
    const endsMs = endpoint.previousSecretExpiresAt?.getTime() ?? Number.POSITIVE_INFINITY
    const until = secrets.length > 1 ? endsMs : Number.POSITIVE_INFINITY
    opened.set(endpoint, { secrets, until })
    return secrets
  } catch (error) {
    if (error instanceof UnsealError) throw new PostponedError('secret', error.message)
    throw error
  }
}
