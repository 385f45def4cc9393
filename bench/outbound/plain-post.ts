import type { Agent } from 'undici'
import { signDelivery } from '#src/webhooks/signing/signature.ts'

export type PlainPost = { url: string; secret: string; id: string; body: string }

/** Posts a signed body and drops the response, as one would without attempts, limits and checks. */
export async function plainPost(
  agent: Agent,
  { url, secret, id, body }: PlainPost,
): Promise<number> {
  const timestamp = Math.floor(Date.now() / 1_000)
  const signature = signDelivery({ profile: 'spec', secrets: [secret], id, timestamp, body })
  const response = await agent.request({
    origin: url,
    path: '/',
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
    },
    body,
  })
  await response.body.dump()
  return response.statusCode
}
