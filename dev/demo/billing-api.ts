import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { sampleEvent } from '#src/billing/sample.ts'
import { equalBytes, randomId, sha256 } from '#src/crypto/hash.ts'
import { systemClock, unixSeconds } from '#src/runtime/clock.ts'
import { isJsonObject, parseJsonObject } from '#src/runtime/json.ts'

type Subscription = Readonly<Record<string, unknown>> & { id: string }

type Answer = { status: number; body: object }

type ListedEvent = Readonly<Record<string, unknown>> & { id: string; created: number }

export type SampleBillingApi = {
  /** For BILLING_API_URL. */
  url: string
  /** Sets the subscription with this id; null means deleted (410). */
  put(id: string, subscription: Subscription | null): void
  /** Adds a member to the list of events, in this order. */
  list(event: ListedEvent): void
  /** Makes the next lists wrong, as `POST /FAULT?times=` does. */
  fail(fault: Fault, times: number): void
  stop(): Promise<void>
}

/** What is wrong with a list of events. A list has the fault on all its pages. */
const faults = {
  forget: (events) => events.slice(0, -1),
  repeat: (events) => [...events, ...events],
  reorder: (events) => events.toReversed(),
  lie: (events) => events.map(withOtherAmount),
} as const satisfies Record<string, (events: readonly ListedEvent[]) => ListedEvent[]>

type Fault = keyof typeof faults

const maxFailures = 100
/** A run of the reconciliation leaves out the last ten minutes. */
const sampleAgeSeconds = 1_800

/**
 * A small billing API for src/billing/provider-api.ts: `GET /subscriptions/ID` with the key as
 * bearer token responds with 200 and `{ "id", "customer", "status" }`, 410 for a deleted
 * subscription, 404 for an unknown one, 401 without the key. The id `sub_CUSTOMER_STATUS` is a
 * subscription of that customer with that status.
 *
 * `GET /events?created_from=&created_to=&limit=&after=` lists what `list` has added, as
 * `{ "data", "next" }`.
 *
 * Beside the API, without the key: `POST /events?customer=cus_ada&amount=4900` adds a charge whose
 * webhook is never sent; `POST /forget?times=2` makes the next two lists leave out their last event,
 * `/repeat` have each event twice, `/reorder` begin with the last, `/lie` have other amounts.
 */
export async function startBillingApi(
  key: string,
  { port = 0 }: { port?: number } = {},
): Promise<SampleBillingApi> {
  const known = new Map<string, Subscription | null>()
  const events: ListedEvent[] = []
  const failures = new Map<Fault, number>()
  let present: readonly Fault[] = []
  const server = createServer((request, response) => {
    const { status, body } = answer(request)
    send(response, status, body)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')

  function answer(request: IncomingMessage): Answer {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://sample.invalid')
    if (request.method === 'POST') return control(pathname.slice(1), searchParams)
    const given = sha256(request.headers.authorization ?? '')
    if (!equalBytes(given, sha256(`Bearer ${key}`))) return { status: 401, body: {} }
    if (request.method === 'GET' && pathname === '/v1/events') {
      if (!searchParams.has('after')) present = takeFaults(failures)
      const wrong = present.map((fault) => faults[fault])
      return { status: 200, body: pageOf(events, searchParams, wrong) }
    }
    const id = /^\/v1\/subscriptions\/([A-Za-z0-9_-]+)$/.exec(pathname)?.[1]
    if (request.method !== 'GET' || id === undefined) return { status: 404, body: {} }
    const subscription = known.has(id) ? known.get(id) : fromName(id)
    if (subscription === null) return { status: 410, body: {} }
    return subscription ? { status: 200, body: subscription } : { status: 404, body: {} }
  }

  function control(name: string, query: URLSearchParams): Answer {
    if (name === 'events') {
      const event = missedCharge(query, unixSeconds(systemClock) - sampleAgeSeconds)
      events.push(event)
      return { status: 201, body: event }
    }
    if (!isFault(name)) return { status: 404, body: { faults: Object.keys(faults) } }
    const times = Number(query.get('times') ?? 1)
    const known = Number.isInteger(times) && times >= 0 && times <= maxFailures
    if (!known) return { status: 400, body: { error: `times must be 0 to ${maxFailures}` } }
    failures.set(name, times)
    return { status: 200, body: { fault: name, times } }
  }

  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    put: (id, subscription) => void known.set(id, subscription),
    list: (event) => void events.push(event),
    fail: (fault, times) => void failures.set(fault, times),
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function pageOf(
  events: readonly ListedEvent[],
  query: URLSearchParams,
  wrong: readonly ((events: readonly ListedEvent[]) => ListedEvent[])[],
) {
  const numberOf = (name: string) => Number(query.get(name))
  const after = numberOf('after')
  const inRange = events.filter(
    ({ created }) => created >= numberOf('created_from') && created < numberOf('created_to'),
  )
  const listed = wrong.reduce((some, change) => change(some), inRange)
  const end = after + numberOf('limit')
  return { data: listed.slice(after, end), next: end < listed.length ? String(end) : null }
}

function isFault(name: string): name is Fault {
  return Object.hasOwn(faults, name)
}

/** The faults of a list that begins, each of which then has one list less. */
function takeFaults(failures: Map<Fault, number>): Fault[] {
  const taken = [...failures].filter(([, times]) => times > 0)
  for (const [fault, times] of taken) failures.set(fault, times - 1)
  return taken.map(([fault]) => fault)
}

function withOtherAmount(event: ListedEvent): ListedEvent {
  const { object } = isJsonObject(event.data) ? event.data : {}
  return { ...event, data: { object: { ...(isJsonObject(object) && object), amount: 1 } } }
}

function missedCharge(query: URLSearchParams, created: number): ListedEvent {
  const id = `evt_${randomId()}`
  const customer = query.get('customer') ?? 'cus_ada'
  const amount = Number(query.get('amount') ?? 4_900)
  const facts = { customer, amount, currency: 'EUR', status: 'active' }
  const body = sampleEvent({ id, type: 'charge.succeeded', created, ...facts })
  return { ...parseJsonObject(body), id, created }
}

/** `sub_cus_ada_active` is the subscription of cus_ada with the status active. */
function fromName(id: string): Subscription | undefined {
  const [, customer, status] = /^sub_(cus_[a-z0-9]+)_([a-z]+)$/.exec(id) ?? []
  return customer === undefined || status === undefined ? undefined : { id, customer, status }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
