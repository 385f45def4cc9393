import type { JsonObject } from '#src/runtime/json.ts'
import { createKeyedLimit } from '#src/runtime/keyed-limit.ts'
import type { PriceTerms } from './details.ts'
import type { Holder } from './holder.ts'
import { createHttp, type HttpOptions, isPlainId } from './providers/http.ts'

/** The current object; `gone` if the provider has deleted it, `unknown` if it has none (yet). */
export type ProviderState = JsonObject | 'gone' | 'unknown'

/** A part of the provider's list of events. */
export type EventPage = {
  /** The members of the list, as they are. */
  items: readonly unknown[]
  /** Where the next page begins; null after the last one. */
  next: string | null
}

/** Events created from `from` until before `to`, in Unix seconds. */
export type EventRange = { from: number; to: number; after: string | null }

export type EventListApi = { listEvents(range: EventRange): Promise<EventPage> }

export type SubscriptionApi = {
  /** @param customer to whom the object belongs, if the event says it */
  findSubscription(id: string, customer?: string): Promise<ProviderState>
}

/** The objects of the provider; what it lacks is absent. */
export type ObjectApi = SubscriptionApi & {
  /** An invoice with its payments. */
  findInvoice?(id: string, customer?: string): Promise<ProviderState>
  /** @param path of the object, as a thin event has it */
  findRelated?(path: string): Promise<ProviderState>
  /**
   * All that is refunded of a payment now, without refunds that failed, in minor units; null if the provider
   * cannot say.
   */
  findRefunded?(payment: string): Promise<number | null>
  /** For whom this program has created the customer; null for any other customer. */
  findHolder?(customer: string): Promise<Holder | null>
}

export type ProviderApi = ObjectApi & EventListApi

/**
 * Who pays, as the provider's API takes it. An address that is only claimed would be taken from its holder, because
 * some providers have one customer for each.
 */
export type Payer = {
  /** Who becomes the customer: the person, or the tenant that they manage. */
  holder: Holder
  /** Null if the person has not verified one. */
  verifiedEmail: string | null
}

/** What somebody starts to pay. */
export type Order = {
  price: string
  returnUrl: string
  /** How many of it; for a tenant, its seats. */
  quantity: number
  /** Days that cost nothing first. Not read where each price has its own (`givesTrials`). */
  trialDays?: number | null
}

/** A page at the provider, where a person pays or changes what they pay. */
export type CheckoutApi = {
  /** The provider gives the trial of a price by itself, to everybody who buys it. */
  readonly givesTrials: boolean
  /**
   * Creates the provider's customer of a user or a tenant. Asked again it answers with the same one.
   * @param gone the one that it answered with before, if that has been deleted: then it creates another
   * @returns null if the provider needs an email address
   */
  createCustomer(payer: Payer, gone?: string): Promise<string | null>
  /** Another checkout that the customer had open cannot be paid afterwards, if the provider can end it. */
  startCheckout(
    customer: string,
    payer: Payer,
    order: Order,
  ): Promise<ProviderPage | 'price-refused' | 'customer-gone' | 'just-paid'>
  openPortal(customer: string, returnUrl: string): Promise<ProviderPage | 'customer-gone'>
  /** Null for a price that is missing, not in use, or not one number each interval. */
  findPrice(price: string): Promise<PriceTerms | null>
}

/** A page of the provider for one person. */
export type ProviderPage = { url: string }

/** Enough calls about this customer are in progress. The event was not tried. */
export class CustomerBusy extends Error {
  override readonly name = 'CustomerBusy'
}

/**
 * Limits the calls in progress about one customer, so that those that hang leave room for others. A thin
 * event does not name its customer; of those about one object only one is in progress anyway.
 * @throws CustomerBusy
 */
export function limitByCustomer(api: ObjectApi, perCustomer: number): ObjectApi {
  const limit = createKeyedLimit(perCustomer)
  const { findInvoice, findRefunded, findHolder } = api
  async function limited<Result>(subject: string, call: () => Promise<Result>): Promise<Result> {
    const key = [subject]
    if (limit.enter(key) !== null) throw new CustomerBusy(`${perCustomer} calls are in progress`)
    try {
      return await call()
    } finally {
      limit.leave(key)
    }
  }
  return {
    ...api,
    findSubscription: (id, customer) =>
      limited(customer ?? id, () => api.findSubscription(id, customer)),
    ...(findInvoice && {
      findInvoice: (id, customer) => limited(customer ?? id, () => findInvoice(id, customer)),
    }),
    ...(findRefunded && {
      findRefunded: (payment) => limited(payment, () => findRefunded(payment)),
    }),
    ...(findHolder && {
      findHolder: (customer) => limited(customer, () => findHolder(customer)),
    }),
  }
}

const listBytes = 33_554_432 // a hundred events
const pageEvents = 100
const cursorForm = /^[^\p{C}]{1,1000}$/u // kept in a column, so without what PostgreSQL refuses

/**
 * The API of a billing provider in the specification's format. `GET {url}/subscriptions/{id}` with
 * `Authorization: Bearer {key}` returns 200 with the object as JSON, including its `id`; 404 if it has
 * none (yet); 410 if it has deleted it. Anything else is an error that a retry may solve.
 *
 * `GET {url}/events?created_from=&created_to=&limit=100&after=` returns 200 with `{ data, next }`: the
 * events created in this range (Unix seconds, from inclusive, to exclusive) in any order, and the
 * cursor for `after`, or null.
 */
export function createProviderApi(options: HttpOptions): ProviderApi {
  const http = createHttp(options)
  return {
    async listEvents({ from, to, after }) {
      const query = new URLSearchParams({
        created_from: String(from),
        created_to: String(to),
        limit: String(pageEvents),
        ...(after !== null && { after }),
      })
      const { status, body } = await http('GET', `/events?${query}`, { maxBytes: listBytes })
      if (status !== 200) {
        throw new Error(`the billing API answered ${status} for its list of events`)
      }
      const { data, next = null } = body ?? {}
      const isCursor = typeof next === 'string' && cursorForm.test(next)
      if (!Array.isArray(data) || data.length > pageEvents || !(next === null || isCursor)) {
        throw new Error('the billing API answered with something that is no list of events')
      }
      return { items: data, next }
    },
    async findSubscription(id) {
      if (!isPlainId(id)) return 'unknown'
      const { status, body } = await http('GET', `/subscriptions/${id}`)
      if (status === 404) return 'unknown'
      if (status === 410) return 'gone'
      if (status !== 200) throw new Error(`the billing API answered ${status}`)
      if (body?.id !== id) throw new Error('the billing API answered with another object')
      return body
    },
  }
}
