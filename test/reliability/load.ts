import { EventEmitter, once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { testConfig, webhookSecret } from '#dev/testing/settings.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { type Answer, type Ask, ask, type Instance } from './instance.ts'

/** What gets requests: an instance, or a balancer (`admin: null`), which chooses instances itself. */
export type Target = Pick<Instance, 'origin' | 'agent'> & { admin: string | null }

export type Load = {
  /** The targets that get requests. */
  instances: Target[]
  /** Requests without the expected response. */
  failures: string[]
  answered(): number
  /** Responses with 503: a slow machine exceeds the database timeouts. */
  busy(): number
  /** Bodies of those responses; a balancer without a process that is ready has its own. */
  refusals: readonly string[]
  /** Resolves after this many more responses, or far too many failures. */
  more(count: number): Promise<void>
  stop(): Promise<void>
  hasEnded(): boolean
  /** An order of the user's, which one client changes. */
  order: number
  /** The acknowledged events, for test/billing/history.ts. */
  history: { acknowledged: Set<string>; sent: Set<string> }
  /** Who the billing events are about. */
  customer: string
  user: TestUser
  cookie: string
}

type Step = { what: Ask; expected: RegExp; eventId?: string }

export const clients = 4
const pauseMs = 20
const watchMs = 50

/**
 * Clients that read, write, open pages and send events, one request after another. Like a load
 * balancer they avoid an instance that is not ready or refuses connections. No request is sent twice.
 * @param before the load that ended before on the same database
 */
export async function startLoad(
  t: Pick<Test, 'teardown'>,
  database: TestDatabase,
  instances: Target[],
  before?: Pick<Load, 'customer' | 'history'>,
): Promise<Load> {
  const customer = before ? `${before.customer}1` : 'cus_1'
  const user = await createUser(database, { role: 'admin', billingCustomer: customer })
  const order = await createOrder(database, user)
  // One for each client: on a busy machine a change of the same order would wait too long for its row.
  const ownOrders = [order]
  while (ownOrders.length < clients) ownOrders.push(await createOrder(database, user))
  const { cookie } = await signIn({ config: testConfig(database), database }, user)
  const counts = new EventEmitter()
  const failures: string[] = []
  const history = before?.history ?? { acknowledged: new Set<string>(), sent: new Set<string>() }
  const left = new Set<Target>()
  const gone = new Set<Target>()
  const ended = new AbortController()
  let answered = 0
  const refusals: string[] = []

  async function run(client: number, ownOrder: number): Promise<void> {
    for (let turn = client; !ended.signal.aborted; turn++) {
      await sendOne(turn, ownOrder)
      counts.emit('turn')
      await wait(pauseMs)
    }
  }

  async function sendOne(turn: number, ownOrder: number): Promise<void> {
    const { what, expected, eventId } = asks[turn % asks.length]?.(ownOrder) ?? home()
    if (eventId !== undefined) history.sent.add(eventId)
    const running = instances.filter((one) => !gone.has(one))
    const ready = running.filter((one) => !left.has(one))
    // On a busy machine none may be ready for a moment.
    const available = ready.length > 0 ? ready : running
    const instance = available[turn % available.length]
    if (instance === undefined) return void failures.push('no instance is left')
    try {
      const answer = await ask(instance, what)
      note(answer, what, expected)
      // Every response of a process that drains says so. A balancer looks itself.
      if (instance.admin !== null && answer.headers.connection === 'close') left.add(instance)
      if (eventId !== undefined && answer.status === 200) history.acknowledged.add(eventId)
    } catch (error) {
      if (isRefused(error)) return void gone.add(instance)
      failures.push(`${what.method} ${what.path}: ${error}`)
    }
  }

  function note({ status, headers, body }: Answer, what: Ask, expected: RegExp): void {
    answered += 1
    if (status === 200 && expected.test(body)) return
    if (status === 503 && headers['retry-after']) refusals.push(body)
    else failures.push(`${what.method} ${what.path}: ${status} ${body.slice(0, 200)}`)
  }

  const home = (): Step => ({ what: { path: '/', headers: { cookie } }, expected: /<\/html>/ })
  const asks: ((ownOrder: number) => Step)[] = [
    home,
    (ownOrder) => ({
      what: { path: `/orders/${ownOrder}`, headers: { cookie } },
      expected: /4242/,
    }),
    () => ({ what: { path: '/me', headers: { cookie } }, expected: /"admin"/ }),
    (ownOrder) => ({
      what: {
        method: 'PATCH',
        path: `/orders/${ownOrder}`,
        headers: { cookie, 'content-type': 'application/json' },
        body: changedAddress,
      },
      expected: /Quay/,
    }),
    () => {
      const eventId = `evt_${crypto.randomUUID()}`
      return { what: signedEvent(eventId, '', customer), expected: /^recorded$/, eventId }
    },
  ]

  /** Like a load balancer, checks /readyz: an instance that is not ready gets no new requests. */
  async function watch(): Promise<void> {
    while (!ended.signal.aborted) {
      await Promise.all(instances.map(look))
      await wait(watchMs)
    }
  }

  async function look(instance: Target): Promise<void> {
    if (instance.admin === null) return
    const ready = await fetch(`${instance.admin}/readyz`).catch(() => null)
    await ready?.text()
    if (ready?.ok) left.delete(instance)
    else left.add(instance)
  }

  const working = Promise.all([watch(), ...ownOrders.map((own, n) => run(n, own))])
  const stop = async () => {
    ended.abort()
    await working
  }
  t.teardown(stop)
  return {
    instances,
    failures,
    customer,
    answered: () => answered,
    busy: () => refusals.length,
    refusals,
    async more(count) {
      const goal = answered + count
      while (answered < goal && failures.length < 100) await once(counts, 'turn')
    },
    stop,
    hasEnded: () => ended.signal.aborted,
    history,
    user,
    order,
    cookie,
  }
}

const changedAddress = JSON.stringify({
  shippingAddress: {
    name: 'Ada',
    line1: '2 Quay',
    city: 'Porto',
    postalCode: '4000-001',
    country: 'PT',
  },
})

/** @param note makes the body larger */
export function signedEvent(id: string, note = '', customer = 'cus_1'): Ask {
  const time = Math.floor(Date.now() / 1000)
  const object = { id: `ch_${id}`, customer, amount: 100, currency: 'eur' }
  const body = JSON.stringify({
    id,
    type: 'charge.succeeded',
    created: time,
    note,
    data: { object },
  })
  const headers = {
    'content-type': 'application/json',
    'webhook-signature': signatureHeader(webhookSecret, body, time),
  }
  return { method: 'POST', path: '/webhooks/billing', headers, body }
}

/** The connection was refused before anything was sent. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}
