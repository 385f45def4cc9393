import { type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { createKeyedLimit } from '#src/runtime/keyed-limit.ts'
import { readBody } from '#src/runtime/response-body.ts'

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
  findInvoice?(id: string): Promise<ProviderState>
  /** @param path of the object, as a thin event has it */
  findRelated?(path: string): Promise<ProviderState>
  /** The user for whom this program has created the customer; null for any other customer. */
  findHolder?(customer: string): Promise<number | null>
}

export type ProviderApi = ObjectApi & EventListApi

/** Enough calls about this customer are in progress. The event was not tried. */
export class CustomerBusy extends Error {
  override readonly name = 'CustomerBusy'
}

/**
 * Limits the calls in progress about one customer, so that those that hang leave room for others.
 * @throws CustomerBusy
 */
export function limitByCustomer(api: ObjectApi, perCustomer: number): ObjectApi {
  const limit = createKeyedLimit(perCustomer)
  return {
    ...api,
    async findSubscription(id, customer) {
      const key = [customer ?? id]
      if (limit.enter(key) !== null) throw new CustomerBusy(`${perCustomer} calls are in progress`)
      try {
        return await api.findSubscription(id, customer)
      } finally {
        limit.leave(key)
      }
    },
  }
}

type Options = {
  /** Without a trailing slash. */
  url: string
  key: string
  fetch?: typeof globalThis.fetch
  timeoutMs?: number
}

const deadlineMs = 5_000
const maxBytes = 262_144
const listBytes = 33_554_432 // a hundred events
const pageEvents = 100
const cursorForm = /^[^\p{C}]{1,1000}$/u // kept in a column, so without what PostgreSQL refuses
// The id becomes a path segment, so characters with a meaning in a URL are refused.
const plainId = /^[A-Za-z0-9_-]{1,255}$/

/**
 * The billing provider's API. `GET {url}/subscriptions/{id}` with `Authorization: Bearer {key}`
 * returns 200 with the object as JSON, including its `id`; 404 if it has none (yet); 410 if it has
 * deleted it. Anything else is an error that a retry may solve. Redirects are not followed.
 *
 * `GET {url}/events?created_from=&created_to=&limit=100&after=` returns 200 with `{ data, next }`: the
 * events created in this range (Unix seconds, from inclusive, to exclusive) in any order, and the
 * cursor for `after`, or null.
 */
export function createProviderApi(options: Options): ProviderApi {
  const { url, key, fetch = globalThis.fetch, timeoutMs = deadlineMs } = options
  const get = (path: string) =>
    fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error) => {
      throw new Error(`the billing API did not answer (${reasonOf(error)})`, { cause: error })
    })

  return {
    async listEvents({ from, to, after }) {
      const query = new URLSearchParams({
        created_from: String(from),
        created_to: String(to),
        limit: String(pageEvents),
        ...(after !== null && { after }),
      })
      const response = await get(`/events?${query}`)
      if (response.status === 200) return readPage(response)
      await response.body?.cancel()
      throw new Error(`the billing API answered ${response.status} for its list of events`)
    },
    async findSubscription(id) {
      if (!plainId.test(id)) return 'unknown'
      const response = await get(`/subscriptions/${id}`)
      if (response.status === 200) return readObject(response, id)
      await response.body?.cancel()
      if (response.status === 404) return 'unknown'
      if (response.status === 410) return 'gone'
      throw new Error(`the billing API answered ${response.status}`)
    },
  }
}

async function readObject(response: Response, id: string): Promise<JsonObject> {
  const object = parseJsonObject(await readText(response, maxBytes))
  if (object?.id !== id) throw new Error('the billing API answered with another object')
  return object
}

async function readPage(response: Response): Promise<EventPage> {
  const { data, next = null } = parseJsonObject(await readText(response, listBytes)) ?? {}
  const isCursor = typeof next === 'string' && cursorForm.test(next)
  if (!Array.isArray(data) || data.length > pageEvents || !(next === null || isCursor)) {
    throw new Error('the billing API answered with something that is no list of events')
  }
  return { items: data, next }
}

async function readText(response: Response, most: number): Promise<string> {
  try {
    const body = await readBody(response.body, most)
    if (body === null) throw new Error('the answer is too large')
    return body.toString('utf8')
  } catch (error) {
    throw new Error(`the billing API did not answer (${reasonOf(error)})`, { cause: error })
  }
}

/** For operators. The `cause` of a fetch error carries the code of the socket. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (error.name === 'TimeoutError') return 'timed out'
  const cause = error.cause
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return error.message
}
