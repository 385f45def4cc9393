import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type StripeSubscription,
  stripeCharge,
  stripeEvent,
  stripeInvoice,
  stripeRefund,
  stripeSubscription,
} from '#src/billing/sample-stripe.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { equalBytes, randomId, sha256 } from '#src/crypto/hash.ts'
import { systemClock, unixSeconds } from '#src/runtime/clock.ts'
import { checkoutPage, gonePage, portalPage } from './stripe-pages.ts'

export type SampleStripe = {
  /** For BILLING_API_URL. */
  url: string
  stop(): Promise<void>
}

type Options = {
  key: string
  /** The prices that can be bought. */
  prices: readonly string[]
  /** Where the webhooks go, and the secret that signs them. */
  webhook: { url: string; secret: string }
  port?: number
  /** For the answer to a webhook. */
  deadlineMs?: number
}

type Fields = Readonly<Record<string, unknown>>
type Form = Readonly<Record<string, string>>
type Answer = { status: number; body: Fields }
type Page = { page: string } | { location: string }

type Customer = Fields & { id: string; metadata: Fields }
type Session = {
  customer: string
  price: string
  form: Form
  status: 'open' | 'complete' | 'expired'
}
type Payment = { name: string; refunded: number }
type Portal = { customer: string; returnUrl: string }

const amount = 4_900
const money = { amount, currency: 'eur' }
const monthSeconds = 30 * 86_400
/** A run of the reconciliation leaves out the last ten minutes. */
const sampleAgeSeconds = 1_800
const tries = 5
const retryMs = 1_000

/**
 * A small Stripe: the part of its API that the program calls, a checkout and a portal for the browser,
 * and signed webhooks about what happens there. In the portal there is also what a merchant does in
 * Stripe's dashboard. A customer that is only named, like `cus_ada`, exists.
 *
 * Beside the API, without the key: `POST /events?customer=cus_ada` adds a charge whose webhook is never
 * sent.
 */
export async function startStripe({
  key,
  prices,
  webhook,
  port = 0,
  deadlineMs = 10_000,
}: Options): Promise<SampleStripe> {
  const customers = new Map<string, Customer>()
  const answers = new Map<string, Answer>()
  const sessions = new Map<string, Session>()
  const portals = new Map<string, Portal>()
  const subscriptions = new Map<string, StripeSubscription>()
  const payments = new Map<string, Payment>()
  const objects = new Map<string, Fields>()
  const events: Fields[] = []
  const stopped = new AbortController()
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const origin = `http://127.0.0.1:${address.port}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', origin)
    const form = Object.fromEntries(new URLSearchParams(await readText(request)))
    if (!pathname.startsWith('/v1/')) {
      const shown = control(request.method, pathname, searchParams)
      if ('location' in shown) return void response.writeHead(303, shown).end()
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(shown.page)
      return
    }
    const given = sha256(request.headers.authorization ?? '')
    const isKnown = equalBytes(given, sha256(`Bearer ${key}`))
    const path = pathname.slice('/v1/'.length)
    const { status, body } = !isKnown
      ? fault(401, 'api_key_invalid')
      : request.method === 'POST'
        ? once24(request.headers['idempotency-key'], () => create(path, form))
        : find(path, searchParams)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  /** The same key has the same answer. */
  function once24(given: unknown, work: () => Answer): Answer {
    if (typeof given !== 'string') return work()
    const known = answers.get(given) ?? work()
    answers.set(given, known)
    return known
  }

  function create(path: string, form: Form): Answer {
    const { customer = '', return_url: returnUrl = '' } = form
    if (path === 'customers') {
      const id = `cus_${name()}`
      const made = { id, object: 'customer', email: form.email ?? null, metadata: metadataOf(form) }
      customers.set(id, made)
      return { status: 200, body: made }
    }
    const [, expired] = /^checkout\/sessions\/(\w+)\/expire$/.exec(path) ?? []
    if (expired !== undefined) return expire(expired)
    if (!isCustomer(customer)) return fault(400, 'resource_missing', 'customer')
    if (path === 'checkout/sessions') {
      const price = form['line_items[0][price]'] ?? ''
      if (!prices.includes(price)) return fault(400, 'resource_missing', 'line_items[0][price]')
      const id = `cs_test_${name()}`
      sessions.set(id, { customer, price, form, status: 'open' })
      return { status: 200, body: { id, object: 'checkout.session', url: `${origin}/pay/${id}` } }
    }
    if (path !== 'billing_portal/sessions') return fault(404, 'resource_missing')
    const id = `bps_${name()}`
    portals.set(id, { customer, returnUrl })
    return { status: 200, body: { id, url: `${origin}/portal/${id}` } }
  }

  /** A paid checkout cannot be ended. */
  function expire(id: string): Answer {
    const session = sessions.get(id)
    if (session?.status !== 'open') return fault(400, 'checkout_session_not_open')
    session.status = 'expired'
    return { status: 200, body: { id, object: 'checkout.session', status: 'expired' } }
  }

  function find(path: string, query: URLSearchParams): Answer {
    if (path === 'events') return { status: 200, body: listed(query) }
    if (path === 'checkout/sessions') return { status: 200, body: sessionsOf(query) }
    if (path === 'refunds') return { status: 200, body: refundsOf(query) }
    if (path === 'prices')
      return { status: 200, body: { object: 'list', data: prices.map(priceOf) } }
    const id = path.slice(path.lastIndexOf('/') + 1)
    const named = path.startsWith('customers/') && isCustomer(id) ? { id, metadata: {} } : undefined
    const price = path.startsWith('prices/') && prices.includes(id) ? priceOf(id) : undefined
    const found = customers.get(id) ?? subscriptions.get(id) ?? objects.get(id) ?? price ?? named
    return found === undefined ? fault(404, 'resource_missing', 'id') : { status: 200, body: found }
  }

  function priceOf(id: string): Fields {
    const recurring = { interval: 'month', interval_count: 1, trial_period_days: null }
    return {
      id,
      object: 'price',
      active: true,
      unit_amount: amount,
      currency: money.currency,
      recurring,
    }
  }

  /** Newest first. */
  function sessionsOf(query: URLSearchParams): Fields {
    const data = [...sessions]
      .filter(([, { customer }]) => customer === query.get('customer'))
      .map(([id, { status, form }]) => ({
        ...{ id, status, metadata: metadataOf(form), success_url: form.success_url },
        url: status === 'open' ? `${origin}/pay/${id}` : null,
      }))
    return { object: 'list', data: data.toReversed(), has_more: false }
  }

  function refundsOf(query: URLSearchParams): Fields {
    const data = [...payments.values()]
      .filter(({ name, refunded }) => query.get('payment_intent') === `pi_${name}` && refunded > 0)
      .map(({ name, refunded }) => stripeRefund(name, { ...money, amount: refunded }, 'succeeded'))
    return { object: 'list', data, has_more: false }
  }

  function isCustomer(id: string): boolean {
    return customers.has(id) || /^cus_[a-z]+$/.test(id)
  }

  /** Newest first. */
  function listed(query: URLSearchParams): Fields {
    const [from, to] = [Number(query.get('created[gte]')), Number(query.get('created[lt]'))]
    const inRange = events
      .filter(({ created }) => Number(created) >= from && Number(created) < to)
      .toReversed()
    const after = inRange.findIndex(({ id }) => id === query.get('starting_after')) + 1
    const end = after + Number(query.get('limit') ?? 10)
    return { object: 'list', data: inRange.slice(after, end), has_more: end < inRange.length }
  }

  function control(method: string | undefined, path: string, query: URLSearchParams): Page {
    const [, kind, id = '', act = ''] = path.split('/')
    if (method === 'POST' && kind === 'events') return { page: loseCharge(query) }
    const session = kind === 'pay' ? sessions.get(id) : undefined
    if (session !== undefined && session.status === 'open') {
      return method === 'POST' ? pay(session) : { page: checkoutPage({ ...session, ...money }) }
    }
    const portal = kind === 'portal' ? portals.get(id) : undefined
    if (portal === undefined) return { page: gonePage() }
    const own = [...subscriptions.values()].filter((one) => one.customer === portal.customer)
    const subscription = own.find(({ status }) => status !== 'canceled') ?? null
    const payment = payments.get(portal.customer) ?? null
    if (method !== 'POST') return { page: portalPage({ id, subscription, payment, ...money }) }
    if (act === 'cancel-later' && subscription !== null) {
      change({ ...subscription, cancel_at_period_end: true }, 'updated')
    }
    if (act === 'cancel' && subscription !== null) {
      change({ ...subscription, status: 'canceled' }, 'deleted')
    }
    if (act === 'refund' && payment !== null) refund(portal.customer, payment)
    return { location: portal.returnUrl }
  }

  /** A first payment: the subscription, its invoice and its charge. */
  function pay(session: Session): { location: string } {
    const { customer, price, form } = session
    session.status = 'complete'
    const id = name()
    const periodEnd = unixSeconds(systemClock) + monthSeconds
    const quantity = Number(form['line_items[0][quantity]'] ?? 1)
    const facts = { status: 'active', price, periodEnd, quantity }
    const subscription = stripeSubscription(`sub_${id}`, customer, facts)
    subscriptions.set(subscription.id, subscription)
    payments.set(customer, { name: id, refunded: 0 })
    send('checkout.session.completed', {
      ...{ id: `cs_test_${id}`, object: 'checkout.session', customer, metadata: metadataOf(form) },
      ...{ subscription: subscription.id, payment_status: 'paid', status: 'complete' },
    })
    send('customer.subscription.created', subscription)
    send('charge.succeeded', stripeCharge(id, customer, money))
    send('invoice.paid', stripeInvoice(id, customer, money))
    return { location: form.success_url ?? '/' }
  }

  function change(subscription: StripeSubscription, verb: 'updated' | 'deleted'): void {
    subscriptions.set(subscription.id, subscription)
    send(`customer.subscription.${verb}`, subscription)
  }

  function refund(customer: string, payment: Payment): void {
    payment.refunded = amount
    send('charge.refunded', stripeCharge(payment.name, customer, money, amount))
  }

  /** Keeps the event for the list, and sends its webhook. */
  function send(type: string, object: Fields & { id: string }): void {
    objects.set(object.id, object)
    const event = newEvent(type, object, unixSeconds(systemClock))
    void deliver(JSON.stringify(event))
  }

  function newEvent(type: string, object: Fields, created: number): Fields {
    const event = stripeEvent({ id: `evt_${name()}`, type, created }, object)
    events.push(event)
    return event
  }

  function loseCharge(query: URLSearchParams): string {
    const customer = query.get('customer') ?? 'cus_ada'
    const facts = { ...money, amount: Number(query.get('amount') ?? amount) }
    const charge = stripeCharge(name(), customer, facts)
    objects.set(charge.id, charge)
    const created = unixSeconds(systemClock) - sampleAgeSeconds
    return JSON.stringify(newEvent('charge.succeeded', charge, created))
  }

  /** Gives up after some attempts: the reconciliation finds the event. */
  async function deliver(body: string): Promise<void> {
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      const signature = signatureHeader(webhook.secret, body, unixSeconds(systemClock))
      const response = await fetch(webhook.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
        body,
        signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(deadlineMs)]),
      }).catch(() => null)
      if (response?.ok === true || stopped.signal.aborted) return
      await pause(retryMs, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }

  return {
    url: `${origin}/v1`,
    async stop() {
      stopped.abort()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function name(): string {
  return randomId().replaceAll('-', '')
}

/** `metadata[name]=value` of a form. */
function metadataOf(form: Form): Fields {
  return Object.fromEntries(
    Object.entries(form).flatMap(([field, value]) => {
      const [, own] = /^metadata\[(\w+)\]$/.exec(field) ?? []
      return own === undefined ? [] : [[own, value]]
    }),
  )
}

function fault(status: number, code: string, param?: string): Answer {
  return { status, body: { error: { type: 'invalid_request_error', code, param } } }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) {
    text += chunk
    if (text.length > 65_536) throw new Error('the form is too large')
  }
  return text
}
