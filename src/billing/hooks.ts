import type { BillingFact } from '#src/resources/define-hooks.ts'
import { billingTypesOf } from '#src/resources/define-hooks.ts'
import { placeIn } from '#src/resources/load-app.ts'
import { app, appFolder } from '#src/resources/running-app.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import type { Effect } from './effect.ts'
import type { BillingEvent, EventKind } from './event.ts'
import { paddleKinds } from './providers/paddle.ts'
import { signedKinds } from './providers/signed.ts'
import { standardKinds } from './providers/standard.ts'
import { stripeKinds } from './providers/stripe.ts'

/** Those of every provider, because an app may run with another one in its demo. */
const kinds: Readonly<Record<string, EventKind>> = {
  ...signedKinds,
  ...stripeKinds,
  ...paddleKinds,
  ...standardKinds,
}

/**
 * Refuses a hook of the app about billing events that would never run.
 * @throws OperatorError naming the first
 */
export function requireHookTypes(types: readonly string[] = billingTypesOf(app.on)): void {
  // The end of a checkout links a customer, and is in no tenant.
  const known = Object.keys(kinds).filter((type) => kinds[type] !== 'checkout')
  const unknown = types.find((type) => !known.includes(type))
  if (unknown === undefined) return
  throw new OperatorError(
    `The hook billing.${unknown} of ${placeIn(appFolder, `billing.${unknown}`)} is about a billing event that no provider has.`,
    `Name the event as the provider does. Those with a hook are ${known.toSorted().join(', ')}.`,
  )
}

/** What the hook of an event is given; null if the event has done nothing in the tenant. */
export function factOf(
  { id: eventId }: Pick<BillingEvent, 'id'>,
  type: string,
  effect: Effect,
  userId: number | null,
): BillingFact | null {
  if (effect.kind === 'none' || effect.kind === 'checkout') return null
  const { kind, customer } = effect
  return {
    ...{ eventId, type, kind, userId, customer },
    payment: 'payment' in effect ? effect.payment : null,
    amount: 'amount' in effect ? effect.amount : null,
    currency: 'currency' in effect ? effect.currency : null,
    status: effect.kind === 'subscription' ? effect.state.status : null,
  }
}
