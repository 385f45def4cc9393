import type { Leftover } from '#src/billing/former.ts'
import { type Probe, probeApi } from '#src/billing/providers/probe.ts'
import { hasCheckout, modeOf } from '#src/config/billing.ts'
import type { Config } from '#src/config/config.ts'
import { unixSeconds } from '#src/runtime/clock.ts'

const names = { stripe: 'Stripe', paddle: 'Paddle' } as const

/** What is wrong with the billing provider, and what may be; each with its remedy. */
export type BillingFindings = { faults: string[]; hints: string[] }

/** Checks the key, its mode, and whether the API of the provider accepts it. */
export async function examineBilling({
  billing: { provider, api },
  production,
  clock,
}: Config): Promise<BillingFindings> {
  if (api === null) return { faults: [], hints: withoutKey(provider) }
  const name = provider === 'stripe' || provider === 'paddle' ? names[provider] : 'The billing API'
  const mode = modeOf(provider, api.key)
  const faults: string[] = []
  const hints: string[] = []
  if (production && mode === 'test') {
    faults.push(
      `BILLING_API_KEY is of ${name}’s test mode, but this is production: no payment would be real, and events of a test are ignored. Set the key and the signing secret of the live mode.`,
    )
  }
  if (!production && mode === 'live') {
    hints.push(
      `BILLING_API_KEY is of ${name}’s live mode, but this is not production: payments would be real. Set a key of the test mode, or NODE_ENV=production.`,
    )
  }
  try {
    const probe = await probeApi(provider, api, unixSeconds(clock))
    faults.push(...answerFaults(name, probe, mode))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    faults.push(
      `${name} cannot be reached at ${api.url}: ${reason}. Check ${provider === 'signed' ? 'BILLING_API_URL' : 'BILLING_API_URL, if it is set,'} and that this machine may connect to it.`,
    )
  }
  return { faults, hints }
}

/** What a former billing provider has left, for an operator to end. */
export function leftoverHints(
  { customers, plans, paidUntil, events }: Leftover,
  provider: Config['billing']['provider'],
): string[] {
  const until = untilText(paidUntil)
  return [
    ...(customers === 0
      ? []
      : [
          `${customers} users or tenants are linked to customers of another billing provider than ${provider}. Each gets another customer with the next checkout, once no plan runs.`,
        ]),
    ...(plans === 0
      ? []
      : [
          `${plans} of them have a plan${until}. No event ends it: cancel their subscriptions at that provider, then unlink each customer when its time is over (PUT /billing/customers/CUSTOMER with { "userId": null }).`,
        ]),
    ...(events === 0
      ? []
      : [
          `${events} events of such customers wait for a link. Dismiss them on /app/billing/unlinked, or process them with the settings of that provider.`,
        ]),
  ]
}

/** What is left of another BILLING_CUSTOMER. */
export function otherHolderHints(
  { customers, plans, paidUntil }: Leftover,
  customer: Config['billing']['customer'],
): string[] {
  if (customers === 0) return []
  const others = customer === 'tenant' ? 'people' : 'tenants'
  const wanted = customer === 'tenant' ? 'tenants' : 'people'
  return [
    `${customers} customers are ${others}, although BILLING_CUSTOMER is ${customer}. ${plans} of them have a plan${untilText(paidUntil)}, which goes on until its subscription ends. Cancel their subscriptions at the provider once ${wanted} have bought theirs, or link these customers to ${wanted} (gatehouse billing link).`,
  ]
}

function untilText(paidUntil: Date | null): string {
  return paidUntil === null
    ? ''
    : `, paid until ${paidUntil.toISOString().slice(0, 10)} at the latest`
}

function answerFaults(name: string, { status, list, mode }: Probe, own: Probe['mode']): string[] {
  if (status === 401) {
    return [`${name} refuses BILLING_API_KEY (401). Create a key in its dashboard and set that.`]
  }
  if (status === 403) {
    return [
      `${name} does not let BILLING_API_KEY read ${list} (403). Give it the permissions of docs/billing-events.md, or set a key of the account and mode that BILLING_API_URL leads to.`,
    ]
  }
  if (status !== 200) {
    return [
      `${name} answers ${status} to a request for ${list}. Check BILLING_API_URL; if it is right, wait until the provider works again.`,
    ]
  }
  if (own !== null && mode !== null && own !== mode) {
    return [
      `BILLING_API_KEY looks like a key of the ${own} mode, but the API answers with events of the ${mode} mode. Set the key of the mode that you mean, and check BILLING_API_URL.`,
    ]
  }
  return []
}

function withoutKey(provider: Config['billing']['provider']): string[] {
  return hasCheckout(provider)
    ? [
        'BILLING_API_KEY is empty: checkouts cannot be started, lost webhooks are not found, and operators link every customer. Create a key as docs/billing-events.md says and set it.',
      ]
    : []
}
