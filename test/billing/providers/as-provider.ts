import { Webhook } from 'standardwebhooks'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { hmacSha256 } from '#src/crypto/hash.ts'

/** The headers with which a provider would sign a body now. */
export function signedAs(
  provider: BillingProvider['name'],
  secret: string,
  body: string,
  id = 'msg_1',
): Record<string, string> {
  const now = Math.floor(Date.now() / 1_000)
  switch (provider) {
    case 'signed':
      return { 'webhook-signature': signatureHeader(secret, body, now) }
    case 'stripe':
      return { 'stripe-signature': signatureHeader(secret, body, now) }
    case 'paddle': {
      const digest = hmacSha256(secret, `${now}:`, Buffer.from(body)).toString('hex')
      return { 'paddle-signature': `ts=${now};h1=${digest}` }
    }
    case 'standard':
      return {
        'webhook-id': id,
        'webhook-timestamp': String(now),
        'webhook-signature': new Webhook(secret).sign(id, new Date(now * 1_000), body),
      }
  }
}
