import { signatureHeader } from '#src/billing/signature.ts'
import type { Config } from '#src/config/config.ts'
import { unixSeconds } from '#src/runtime/clock.ts'
import type { Demo } from './demo.ts'

/** What the demo prints once it runs: what to open, and commands that work as pasted. */
export function greeting(config: Config, customer: Demo['customer']): string {
  const { baseUrl, billing, clock } = config
  const timestamp = unixSeconds(clock)
  const body = JSON.stringify({
    id: `evt_demo_${timestamp}`,
    type: 'charge.succeeded',
    created: timestamp,
    data: { object: { id: 'ch_demo', customer: 'cus_ada', amount: 4_900, currency: 'eur' } },
  })
  const header = signatureHeader(billing.secrets[0], body, timestamp)
  return `
  Gatehouse runs: open ${baseUrl} and sign in as one of the demo's people.
  Ada (Acme) owns orders 1 and 2; orders 7 and 8 are Grace's (Globex), so Ada gets 404 for them.

  A signed billing event, good for five minutes (paste it twice: the second is a duplicate):

  curl -i ${baseUrl}/webhooks/billing \\
    -H 'content-type: application/json' \\
    -H 'webhook-signature: ${header}' \\
    -d '${body}'
${customer === null ? '' : orderChange(baseUrl, customer)}
  Ctrl-C stops everything. The data stays in .data/; delete that folder to start afresh.
`
}

/** What makes Acme's customer hear of something. */
function orderChange(baseUrl: string, { receiverUrl, token }: NonNullable<Demo['customer']>) {
  const shippingAddress = {
    name: 'Ada Okafor',
    line1: '2 Quay',
    city: 'Porto',
    postalCode: '4000-001',
    country: 'PT',
  }
  return `
  A change that is told to Acme's receiver at ${new URL(receiverUrl).origin}, as Ada with an API token:

  export TOKEN=${token}
  curl -X PATCH ${baseUrl}/orders/1 \\
    -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
    -d '${JSON.stringify({ shippingAddress })}'
`
}
