import { signatureHeader } from '#src/billing/signature.ts'
import { unixSeconds } from '#src/clock.ts'
import type { Config } from '#src/config.ts'

/** What the demo prints once it runs: what to open, and a signed event that works as pasted. */
export function greeting(config: Config): string {
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

  Ctrl-C stops everything. The data stays in .data/; delete that folder to start afresh.
`
}
