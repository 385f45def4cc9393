import type { IncomingHttpHeaders } from 'node:http'
import { equalBytes } from '#src/crypto/hash.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { type SignatureProfile, signDelivery } from '#src/webhooks/signing/signature.ts'

const toleranceSeconds = 300

/** Whether a delivery has every signature of its endpoint's profile, and was signed within five minutes. */
export function isSigned(
  { headers, body }: { headers: IncomingHttpHeaders; body: string },
  { secret, profile, clock }: { secret: string; profile: SignatureProfile; clock: Clock },
): boolean {
  const id = String(headers['webhook-id'])
  const timestamp = Number(headers['webhook-timestamp'])
  const isTimely = Math.abs(unixSeconds(clock) - timestamp) <= toleranceSeconds
  const given = String(headers['webhook-signature']).split(' ')
  const expected = signDelivery({ profile, secrets: [secret], id, timestamp, body }).split(' ')
  return (
    isTimely &&
    expected.every((one) => given.some((other) => equalBytes(Buffer.from(one), Buffer.from(other))))
  )
}
