import { sha256 } from '#src/crypto/hash.ts'
import { idOf, isName, objectIn } from '../event.ts'
import type { CheckoutApi, ProviderApi, ProviderState } from '../provider-api.ts'
import { createHttp, type HttpOptions, isPlainId, pageUrl } from './http.ts'
import { markOf, readUser } from './mark.ts'

/** The version whose shapes the program reads: that of the official package in the tests. */
export const stripeVersion = '2026-10-28.endive'
const pageEvents = 100 // the most that Stripe lists
const listBytes = 33_554_432

/**
 * Stripe's API, as far as it is needed. Customers and checkouts have the user in their metadata, which
 * only the holder of the key can write, together with the origin of this installation: several may
 * share one account.
 */
export function createStripeApi(
  options: HttpOptions & { baseUrl: string },
): ProviderApi & CheckoutApi {
  const { baseUrl } = options
  const http = createHttp({ ...options, headers: { 'stripe-version': stripeVersion } })

  async function find(path: string, id: string): Promise<ProviderState> {
    const { status, body } = await http('GET', path)
    if (status === 404) return 'unknown'
    if (status !== 200) throw new Error(`Stripe answered ${status}`)
    if (body?.id !== id) throw new Error('Stripe answered with another object')
    return body
  }

  /** @param purpose what the same call means again; Stripe then repeats its answer */
  async function post(path: string, form: Record<string, string>, purpose?: string) {
    const headers = purpose === undefined ? {} : { 'idempotency-key': keyOf(purpose, form) }
    const { status, body } = await http('POST', path, { form, headers })
    if (status === 200) return objectIn(body)
    const { code, param } = objectIn(body?.error)
    if (code !== 'resource_missing') throw new Error(`Stripe answered ${status}`)
    return param === 'customer' ? 'customer-gone' : 'price-refused'
  }

  const metadataOf = (userId: number, field = 'metadata'): Record<string, string> =>
    Object.fromEntries(
      Object.entries(markOf(userId, baseUrl)).map(([name, value]) => [`${field}[${name}]`, value]),
    )

  return {
    async findSubscription(id) {
      return isPlainId(id) ? find(`/subscriptions/${id}`, id) : 'unknown'
    },
    async findInvoice(id) {
      return isPlainId(id) ? find(`/invoices/${id}?expand[]=payments`, id) : 'unknown'
    },
    findRelated: (path) => find(`/${path}`, path.slice(path.lastIndexOf('/') + 1)),
    async findHolder(customer) {
      const found = isPlainId(customer) ? await find(`/customers/${customer}`, customer) : 'unknown'
      return typeof found === 'string' ? null : readUser(found.metadata, baseUrl)
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
    async createCustomer({ userId, email }) {
      const form = { ...metadataOf(userId), ...(email !== null && { email }) }
      const body = await post('/customers', form, 'customer')
      return typeof body === 'string' ? fail() : (idOf(body) ?? fail())
    },
    async startCheckout(customer, { userId }, { price, returnUrl }) {
      const body = await post('/checkout/sessions', {
        mode: 'subscription',
        customer,
        client_reference_id: String(userId),
        'line_items[0][price]': price,
        'line_items[0][quantity]': '1',
        success_url: returnUrl,
        cancel_url: returnUrl,
        ...metadataOf(userId),
        ...metadataOf(userId, 'subscription_data[metadata]'),
      })
      return typeof body === 'string' ? body : { url: pageUrl(body.url) ?? fail() }
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

function keyOf(purpose: string, form: object): string {
  return `gatehouse-${purpose}-${sha256(JSON.stringify(form)).toString('hex')}`
}

function fail(): never {
  throw new Error('Stripe answered with something else')
}
