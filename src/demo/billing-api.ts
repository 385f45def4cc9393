import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { equalBytes, sha256 } from '#src/crypto/hash.ts'

type Subscription = Readonly<Record<string, unknown>> & { id: string }

type ListedEvent = Readonly<Record<string, unknown>> & { id: string; created: number }

export type SampleBillingApi = {
  /** For BILLING_API_URL. */
  url: string
  /** Sets the subscription with this id; null means deleted (410). */
  put(id: string, subscription: Subscription | null): void
  /** Adds a member to the list of events, in this order. */
  list(event: ListedEvent): void
  stop(): Promise<void>
}

/**
 * A small billing API for src/billing/provider-api.ts: `GET /subscriptions/ID` with the key as
 * bearer token responds with 200 and `{ "id", "customer", "status" }`, 410 for a deleted
 * subscription, 404 for an unknown one, 401 without the key. The id `sub_CUSTOMER_STATUS` is a
 * subscription of that customer with that status.
 *
 * `GET /events?created_from=&created_to=&limit=&after=` lists what `list` has added, as
 * `{ "data", "next" }`.
 */
export async function startBillingApi(key: string): Promise<SampleBillingApi> {
  const known = new Map<string, Subscription | null>()
  const events: ListedEvent[] = []
  const server = createServer((request, response) => {
    const { status, body } = answer(request)
    send(response, status, body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')

  function answer(request: IncomingMessage): { status: number; body: object } {
    const given = sha256(request.headers.authorization ?? '')
    if (!equalBytes(given, sha256(`Bearer ${key}`))) return { status: 401, body: {} }
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://sample.invalid')
    if (request.method === 'GET' && pathname === '/v1/events') {
      return { status: 200, body: pageOf(events, searchParams) }
    }
    const id = /^\/v1\/subscriptions\/([A-Za-z0-9_-]+)$/.exec(pathname)?.[1]
    if (request.method !== 'GET' || id === undefined) return { status: 404, body: {} }
    const subscription = known.has(id) ? known.get(id) : fromName(id)
    if (subscription === null) return { status: 410, body: {} }
    return subscription ? { status: 200, body: subscription } : { status: 404, body: {} }
  }

  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    put: (id, subscription) => void known.set(id, subscription),
    list: (event) => void events.push(event),
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function pageOf(events: readonly ListedEvent[], query: URLSearchParams) {
  const numberOf = (name: string) => Number(query.get(name))
  const after = numberOf('after')
  const inRange = events.filter(
    ({ created }) => created >= numberOf('created_from') && created < numberOf('created_to'),
  )
  const end = after + numberOf('limit')
  return { data: inRange.slice(after, end), next: end < inRange.length ? String(end) : null }
}

/** `sub_cus_ada_active` is the subscription of cus_ada with the status active. */
function fromName(id: string): Subscription | undefined {
  const [, customer, status] = /^sub_(cus_[a-z0-9]+)_([a-z]+)$/.exec(id) ?? []
  return customer === undefined || status === undefined ? undefined : { id, customer, status }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
