import { sha256 } from '#src/crypto/hash.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { termsOf } from '../details.ts'
import { amountOf, membersOf } from '../effect.ts'
import { idOf, isName, objectIn } from '../event.ts'
import type { Holder } from '../holder.ts'
import type { CheckoutApi, ProviderApi, ProviderState } from '../provider-api.ts'
import { stripeDigits } from './digits.ts'
import { createHttp, type HttpOptions, isPlainId, pageUrl } from './http.ts'
import { markOf, readMark } from './mark.ts'

/** The version whose shapes the program reads: that of the official package in the tests. */
export const stripeVersion = '2026-10-28.endive'
const pageEvents = 100 // the most that Stripe lists
const listBytes = 33_554_432

/**
 * Stripe's API, as far as it is needed. Customers and checkouts have the user or tenant in their metadata,
 * which only the holder of the key can write, together with the origin of this installation: several may
 * share one account.
 */
export function createStripeApi(
  options: HttpOptions & { baseUrl: string },
): ProviderApi & CheckoutApi {
  const calls = createCalls(options)
  return { ...createReads(calls, options.baseUrl), ...createCheckouts(calls, options.baseUrl) }
}

type Calls = ReturnType<typeof createCalls>

function createReads({ http, find }: Calls, baseUrl: string): ProviderApi {
  return {
    async findSubscription(id) {
      const found = isPlainId(id) ? await find(`/subscriptions/${id}`, id) : 'unknown'
      return typeof found === 'string' ? found : withSchedule(http, found)
    },
    async findInvoice(id) {
      return isPlainId(id) ? find(`/invoices/${id}?expand[]=payments`, id) : 'unknown'
    },
    findRelated: (path) => find(`/${path}`, path.slice(path.lastIndexOf('/') + 1)),
    async findHolder(customer) {
      const found = isPlainId(customer) ? await find(`/customers/${customer}`, customer) : 'unknown'
      return typeof found === 'string' ? null : readMark(found.metadata, baseUrl)
    },
    /** A charge reports a refund that has failed as well, so the refunds are added up. */
    async findRefunded(payment) {
      if (!isPlainId(payment)) return fail()
      const name = payment.startsWith('pi_') ? 'payment_intent' : 'charge'
      const query = new URLSearchParams({ [name]: payment, limit: String(pageEvents) })
      const { status, body } = await http('GET', `/refunds?${query}`)
      if (status === 404) return null
      if (status !== 200) throw new Error(`Stripe answered ${status} for the refunds of a payment`)
      if (!Array.isArray(body?.data)) return fail()
      if (body.has_more === true) return null
      return membersOf(body.data)
        .filter((one) => one.status !== 'failed' && one.status !== 'canceled')
        .reduce((sum, { amount }) => sum + amountOf(amount, 'data.amount'), 0)
    },
    async listEvents({ from, to, after }) {
      const query = new URLSearchParams({
        limit: String(pageEvents),
        'created[gte]': String(from),
        'created[lt]': String(to),
        ...(after !== null && { starting_after: after }),
      })
      const { status, body } = await http('GET', `/events?${query}`, { maxBytes: listBytes })
      const items = body?.data
      if (status !== 200 || !Array.isArray(items) || items.length > pageEvents) {
        throw new Error(`Stripe answered ${status} for its list of events`)
      }
      if (body?.has_more !== true) return { items, next: null }
      const { id: next } = objectIn(items.at(-1))
      return { items, next: isName(next) ? next : fail() }
    },
  }
}

/** The subscription with the schedule that changes it later, if it has one and the key may read it. */
async function withSchedule(http: Calls['http'], found: JsonObject): Promise<JsonObject> {
  const { schedule } = found
  if (typeof schedule !== 'string' || !isPlainId(schedule)) return found
  const { status, body } = await http('GET', `/subscription_schedules/${schedule}`)
  if (status === 200) return body?.id === schedule ? { ...found, schedule: body } : fail()
  if (status === 403 || status === 404) return found
  throw new Error(`Stripe answered ${status} for a subscription schedule`)
}

function createCheckouts({ post, find, listCheckouts, end }: Calls, baseUrl: string): CheckoutApi {
  const metadataOf = (holder: Holder, field = 'metadata'): Record<string, string> =>
    Object.fromEntries(
      Object.entries(markOf(holder, baseUrl)).map(([name, value]) => [`${field}[${name}]`, value]),
    )

  return {
    givesTrials: false,
    /** Several people manage a tenant, so its customer has none of their addresses: they get the same one. */
    async createCustomer({ holder, verifiedEmail: email }, gone) {
      const isPerson = 'userId' in holder
      const form = { ...metadataOf(holder), ...(isPerson && email !== null && { email }) }
      const body = await post('/customers', form, gone ? `customer-after-${gone}` : 'customer')
      return typeof body === 'string' ? fail() : (idOf(body) ?? fail())
    },
    /** Keeps one checkout of a person open: returns the same one again, or ends the others. */
    async startCheckout(customer, { holder }, order) {
      const { price, returnUrl, quantity, trialDays = null } = order
      const count = String(quantity)
      const all = await listCheckouts(customer)
      if (typeof all === 'string') return all
      const isOurs = ({ status, metadata }: JsonObject) =>
        status === 'open' && readMark(metadata, baseUrl) !== null
      const open = all.filter(isOurs)
      const same = open.find(
        ({ metadata, success_url }) =>
          objectIn(metadata).gatehouse_price === price &&
          (objectIn(metadata).gatehouse_quantity ?? '1') === count &&
          success_url === returnUrl,
      )
      for (const one of open) {
        if (one !== same && !(await end(idOf(one) ?? fail()))) return 'just-paid'
      }
      if (same !== undefined) return { url: pageUrl(same.url) ?? fail() }
      const form = {
        mode: 'subscription',
        customer,
        client_reference_id: String('userId' in holder ? holder.userId : holder.tenantId),
        'line_items[0][price]': price,
        'line_items[0][quantity]': count,
        ...('tenantId' in holder && seatsOf(count)),
        success_url: returnUrl,
        cancel_url: returnUrl,
        ...metadataOf(holder),
        'metadata[gatehouse_price]': price,
        'metadata[gatehouse_quantity]': count,
        ...(trialDays !== null && { 'subscription_data[trial_period_days]': String(trialDays) }),
        ...metadataOf(holder, 'subscription_data[metadata]'),
      }
      // Two requests at once get the same checkout; a later one follows another.
      const [newest = {}] = all
      const body = await post('/checkout/sessions', form, `checkout-after-${idOf(newest)}`)
      return typeof body === 'string' ? body : { url: pageUrl(body.url) ?? fail() }
    },
    async findPrice(price) {
      const found = isPlainId(price) ? await find(`/prices/${price}`, price) : 'unknown'
      if (typeof found === 'string' || found.active !== true) return null
      const { interval, interval_count, trial_period_days } = objectIn(found.recurring)
      return termsOf(
        {
          ...{ amount: found.unit_amount, currency: found.currency, interval },
          ...{ intervalCount: interval_count, trialDays: trial_period_days },
        },
        stripeDigits,
      )
    },
    async openPortal(customer, returnUrl) {
      const body = await post('/billing_portal/sessions', { customer, return_url: returnUrl })
      return typeof body !== 'string'
        ? { url: pageUrl(body.url) ?? fail() }
        : body === 'customer-gone'
          ? body
          : fail()
    },
  }
}

/** More seats can be bought than are needed now, and no fewer. */
function seatsOf(least: string): Record<string, string> {
  const field = 'line_items[0][adjustable_quantity]'
  return {
    [`${field}[enabled]`]: 'true',
    [`${field}[minimum]`]: least,
    [`${field}[maximum]`]: '999999', // the most that Stripe takes
  }
}

/** The calls that several operations share. */
function createCalls(options: HttpOptions) {
  const http = createHttp({ ...options, headers: { 'stripe-version': stripeVersion } })

  async function find(path: string, id: string): Promise<ProviderState> {
    const { status, body } = await http('GET', path)
    if (status === 404) return 'unknown'
    if (status !== 200) throw new Error(`Stripe answered ${status}`)
    if (body?.id !== id) throw new Error('Stripe answered with another object')
    return body
  }

  /** @param purpose calls with the same purpose and form are one: Stripe repeats its answer */
  async function post(path: string, form: Record<string, string>, purpose?: string) {
    const headers = purpose === undefined ? {} : { 'idempotency-key': keyOf(purpose, form) }
    const { status, body } = await http('POST', path, { form, headers })
    if (status === 200) return objectIn(body)
    const { code, param } = objectIn(body?.error)
    if (code !== 'resource_missing') throw new Error(`Stripe answered ${status}`)
    return param === 'customer' ? 'customer-gone' : 'price-refused'
  }

  /** The checkouts of a customer, newest first. */
  async function listCheckouts(customer: string): Promise<JsonObject[] | 'customer-gone'> {
    const query = new URLSearchParams({ customer, limit: String(pageEvents) })
    const { status, body } = await http('GET', `/checkout/sessions?${query}`, {
      maxBytes: listBytes,
    })
    const { code, param } = objectIn(body?.error)
    if (code === 'resource_missing' && param === 'customer') return 'customer-gone'
    if (status === 200 && Array.isArray(body?.data)) return membersOf(body.data)
    throw new Error(`Stripe answered ${status} for the checkouts of a customer`)
  }

  /** @returns false if it is no longer open */
  async function end(session: string): Promise<boolean> {
    if (!isPlainId(session)) return fail()
    const { status } = await http('POST', `/checkout/sessions/${session}/expire`)
    if (status !== 200 && status !== 400) throw new Error(`Stripe answered ${status}`)
    return status === 200
  }

  return { http, find, post, listCheckouts, end }
}

function keyOf(purpose: string, form: object): string {
  return `gatehouse-${purpose}-${sha256(JSON.stringify(form)).toString('hex')}`
}

function fail(): never {
  throw new Error('Stripe answered with something else')
}
