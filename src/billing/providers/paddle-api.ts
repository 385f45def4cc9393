import { digitsOf } from '#src/runtime/currencies.ts'
import { termsOf } from '../details.ts'
import { membersOf } from '../effect.ts'
import { idOf, isName, objectIn, secondsOf } from '../event.ts'
import { type Holder, isSameHolder } from '../holder.ts'
import type { CheckoutApi, ProviderApi } from '../provider-api.ts'
import { createHttp, type HttpOptions, isPlainId, pageUrl } from './http.ts'
import { markOf, readMark } from './mark.ts'

const pageEvents = 200 // the most that Paddle lists
const listBytes = 33_554_432
const trialDaysIn: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 }

/**
 * Paddle's API, as far as it is needed. A customer has the user or tenant in its custom data, which only the
 * holder of the key can write. That of a transaction can be written by any page, so it is not read.
 */
export function createPaddleApi(
  options: HttpOptions & { baseUrl: string },
): ProviderApi & CheckoutApi {
  const { baseUrl } = options
  const { http, find, post, findOwn } = createCalls(options)

  return {
    givesTrials: true,
    async findSubscription(id) {
      return isPlainId(id) ? find(`/subscriptions/${id}`, id) : 'unknown'
    },
    async findHolder(customer) {
      const found = isPlainId(customer) ? await find(`/customers/${customer}`, customer) : 'unknown'
      return typeof found === 'string' ? null : readMark(found.custom_data, baseUrl)
    },
    /** Newest first, without a range of its own: what is newer is left out, what is older ends it. */
    async listEvents({ from, to, after }) {
      const query = new URLSearchParams({
        order_by: 'id[DESC]',
        per_page: String(pageEvents),
        ...(after !== null && { after }),
      })
      const { status, body } = await http('GET', `/events?${query}`, { maxBytes: listBytes })
      const items = body?.data
      if (status !== 200 || !Array.isArray(items) || items.length > pageEvents) {
        throw new Error(`Paddle answered ${status} for its list of events`)
      }
      const createdOf = (item: unknown) => secondsOf(objectIn(item).occurred_at) ?? to
      const last: unknown = items.at(-1)
      const hasMore = objectIn(objectIn(body?.meta).pagination).has_more === true
      const inRange = items.filter((item) => createdOf(item) >= from && createdOf(item) < to)
      if (!hasMore || createdOf(last) < from) return { items: inRange, next: null }
      const { event_id: next } = objectIn(last)
      return { items: inRange, next: isName(next) ? next : fail() }
    },
    async createCustomer({ holder, verifiedEmail: email }) {
      if (email === null) return null
      const custom_data = markOf(holder, baseUrl)
      const { status, body } = await http('POST', '/customers', { json: { email, custom_data } })
      if (status === 409) return findOwn(email, holder, body)
      return idOf(objectIn(body?.data)) ?? fail()
    },
    async startCheckout(customer, { holder }, { price, quantity }) {
      const transaction = await post('/transactions', {
        items: [{ price_id: price, quantity }],
        customer_id: customer,
        custom_data: markOf(holder, baseUrl),
      })
      if (typeof transaction === 'string') return transaction
      return { url: pageUrl(objectIn(transaction.checkout).url) ?? fail() }
    },
    async findPrice(price) {
      const found = isPlainId(price) ? await find(`/prices/${price}`, price) : 'unknown'
      if (typeof found === 'string' || found.status !== 'active') return null
      const { amount, currency_code: currency } = objectIn(found.unit_price)
      const { interval, frequency } = objectIn(found.billing_cycle)
      const trial = objectIn(found.trial_period)
      const days = trialDaysIn[String(trial.interval)] ?? 0
      return termsOf(
        {
          ...{
            amount: /^\d{1,16}$/.test(String(amount)) ? Number(amount) : null,
            currency,
            interval,
          },
          ...{ intervalCount: frequency, trialDays: days * Number(trial.frequency) },
        },
        digitsOf,
      )
    },
    async openPortal(customer) {
      if (!isPlainId(customer)) throw new Error('the customer has no id of Paddle')
      const session = await post(`/customers/${customer}/portal-sessions`, {})
      if (typeof session === 'string') return session === 'customer-gone' ? session : fail()
      return { url: pageUrl(objectIn(objectIn(session.urls).general).overview) ?? fail() }
    },
  }
}

/** The calls that several operations share. */
function createCalls({ baseUrl, ...options }: HttpOptions & { baseUrl: string }) {
  const http = createHttp({ ...options, headers: { 'paddle-version': '1' } })

  async function find(path: string, id: string) {
    const { status, body } = await http('GET', path)
    if (status === 404) return 'unknown'
    if (status !== 200) throw new Error(`Paddle answered ${status}`)
    const object = objectIn(body?.data)
    if (object.id !== id) throw new Error('Paddle answered with another object')
    return object
  }

  async function post(path: string, json: object) {
    const { status, body } = await http('POST', path, { json })
    if (status === 200 || status === 201) return objectIn(body?.data)
    const code = String(objectIn(body?.error).code ?? '')
    if (/price|product|^invalid_field$/.test(code)) return 'price-refused'
    if (status === 404 || /customer/.test(code)) return 'customer-gone'
    throw new Error(`Paddle answered ${status} ${code}`.trim())
  }

  /**
   * The customer with this address, if an earlier call has created it for this holder.
   * @param refusal says which customer it is; the list by address leaves out archived ones
   */
  async function findOwn(email: string, holder: Holder, refusal: unknown): Promise<string | null> {
    const isOwn = (mark: unknown) => isSameHolder(readMark(mark, baseUrl), holder)
    const { detail } = objectIn(objectIn(refusal).error)
    const [named] = /\bctm_[a-z0-9]{1,64}\b/.exec(String(detail)) ?? []
    if (named !== undefined) {
      const found = await find(`/customers/${named}`, named)
      return isOwn(objectIn(found).custom_data) ? named : null
    }
    const { status, body } = await http('GET', `/customers?${new URLSearchParams({ email })}`)
    if (status !== 200) throw new Error(`Paddle answered ${status}`)
    const own = membersOf(body?.data).find((one) => isOwn(one.custom_data))
    return own === undefined ? null : idOf(own)
  }

  return { http, find, post, findOwn }
}

function fail(): never {
  throw new Error('Paddle answered with something else')
}
