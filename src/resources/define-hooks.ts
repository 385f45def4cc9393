import { type AnyJob, type JobRun, usualRetries } from './define-job.ts'

/** What happened to a person, in the tenant that a hook runs in. */
export type PersonFact = { readonly userId: number }

/** What a billing event did, in one vocabulary for all providers. A value that the event does not have is null. */
export type BillingFact = {
  readonly eventId: string
  /** As the provider names it, such as `charge.succeeded`. */
  readonly type: string
  readonly kind: 'payment' | 'refund' | 'dispute' | 'subscription'
  /** Who pays; null for an event about a payment of which only the invoice is known. */
  readonly userId: number | null
  /** At the provider. */
  readonly customer: string | null
  readonly payment: string | null
  /** Of a payment or refund, in minor units. */
  readonly amount: number | null
  /** Of a payment, in lower case. */
  readonly currency: string | null
  /** Of a subscription, such as `active`. */
  readonly status: string | null
}

/** A function that the app runs when something has happened, in the tenant that it concerns. */
export type Hook<Fact> = (work: JobRun<Fact>) => Promise<void>

type PersonHooks = {
  /** Somebody has signed in for the first time; in the tenant of their own. */
  readonly 'user.created'?: Hook<PersonFact>
  /** Somebody has become a member of a tenant that others have created. */
  readonly 'user.joined'?: Hook<PersonFact>
  /** Somebody is no member any more: they left, were removed, or have deleted their account. */
  readonly 'user.left'?: Hook<PersonFact>
  /** A tenant was created, by the person of a first sign-in or by a member of others; they are its first member. */
  readonly 'tenant.created'?: Hook<PersonFact>
}

/** Hooks of an app by what they are about: people, tenants, and billing events as `billing.TYPE`. */
export type Hooks = PersonHooks & {
  readonly [type: `billing.${string}`]: Hook<BillingFact> | undefined
}

/** What a hook about people or tenants can be about. */
export type PersonHookName = keyof PersonHooks

const personHooks = {
  'user.created': true,
  'user.joined': true,
  'user.left': true,
  'tenant.created': true,
} as const satisfies Record<PersonHookName, true>

const ofBilling = /^billing\.([a-z][a-z_]*(?:\.[a-z_]+)*)$/

/** What is wrong with the hooks of an app; null if nothing is. */
export function hookFaultOf(hooks: object): string | null {
  for (const [name, hook] of Object.entries(hooks)) {
    if (!Object.hasOwn(personHooks, name) && !ofBilling.test(name)) {
      const names = Object.keys(personHooks).join(', ')
      return `There is no hook ${name}. A hook is about ${names}, or a billing event such as billing.charge.succeeded.`
    }
    if (typeof hook !== 'function') {
      return `The hook ${name} is no function. Give it one, such as async ({ tx, input }) => { … }.`
    }
  }
  return null
}

/** The hooks about people and tenants, which run as jobs that are added in the transaction of what has happened. */
export function hookJobsOf(hooks: Hooks = {}): readonly AnyJob[] {
  return Object.keys(personHooks).flatMap((name) => {
    const run = hooks[name as PersonHookName]
    return run === undefined
      ? []
      : [{ name, retries: usualRetries, input: null, isHook: true, run }]
  })
}

/** The types of billing events that have a hook. */
export function billingTypesOf(hooks: Hooks = {}): string[] {
  return Object.keys(hooks).flatMap((name) => ofBilling.exec(name)?.[1] ?? [])
}
