import { randomBytes, randomInt } from 'node:crypto'
import { Signer } from '@fastify/cookie'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { stripeCharge, stripeEvent } from '#src/billing/sample-stripe.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { hmacSha256 } from '#src/crypto/hash.ts'
import { idOf, sessionOf } from './citus/tenants.ts'
import { sessionSecret } from './contender.ts'
import { sendLoad, type Target } from './http-load.ts'
import { anOrder } from './orders.ts'

/*
 * The load generator, a separate process. Its argument is a Load as JSON, its output a Measured as
 * JSON.
 */

export type Load = Target & {
  /**
   * New signed events, each sent once; or repeated GET requests; or new orders, or other rows; or repeated changes of
   * orders; or events of the app, so many in a request; or reads of the order, or changes of the post, of a
   * random one of so many tenants.
   */
  requests:
    | { eventsSignedWith: string }
    | { eventsOf: BillingProvider['name']; secret: string }
    | { reads: readonly Request[] }
    | { creates: readonly (Request & { readonly body?: object })[] }
    | { changes: readonly Request[] }
    | { publishes: readonly Publish[]; eventsEach: number }
    | { readsAmong: number }
    | { changesAmong: number }
}

type Request = { path: string; cookie: string }
/** A request of the app: its path and the app token. */
export type Publish = { path: string; token: string }

const eventsPerSecond = 12_000 // signed before the measurement; more are signed during it if needed

const { requests, ...target }: Load = JSON.parse(process.argv[2] ?? '')
const next = nextOf(requests)
console.log(JSON.stringify(await sendLoad(target, next)))

function nextOf(of: Load['requests']): () => Buffer {
  if ('reads' in of) return readsOf(of.reads)
  if ('creates' in of) return createsOf(of.creates)
  if ('changes' in of) return changesOf(of.changes)
  if ('publishes' in of) return publishesOf(of.publishes, of.eventsEach)
  if ('readsAmong' in of) return readsAmong(of.readsAmong)
  if ('changesAmong' in of) return changesAmong(of.changesAmong)
  return 'eventsOf' in of
    ? eventsOf(of.eventsOf, of.secret)
    : eventsOf('signed', of.eventsSignedWith)
}

function readsAmong(tenants: number): () => Buffer {
  const next = among('orders', tenants)
  return () => aRead(next())
}

/** Each change is another one. */
function changesAmong(tenants: number): () => Buffer {
  const next = among('posts', tenants)
  let sent = 0
  return () => {
    sent += 1
    return aChange(next(), { title: `The post of change ${sent}` })
  }
}

/** The row of a random tenant. Its cookie is signed when it is needed: there may be many. */
function among(list: string, tenants: number): () => Request {
  const signer = new Signer(sessionSecret)
  return () => {
    const n = randomInt(tenants)
    return { path: `/${list}/${idOf(n)}`, cookie: `sid=${signer.sign(sessionOf(n))}` }
  }
}

/** Each change is another one. */
function changesOf(changes: readonly Request[]): () => Buffer {
  let sent = 0
  return () => {
    const change = changes[sent % changes.length] ?? { path: '', cookie: '' }
    sent += 1
    const shippingAddress = {
      name: 'Ada',
      line1: `${sent} Harbour Street`,
      city: 'Lisbon',
      postalCode: '1100-012',
      country: 'PT',
    }
    return aChange(change, { shippingAddress })
  }
}

function createsOf(creates: readonly (Request & { readonly body?: object })[]): () => Buffer {
  const all = creates.map((one) => aBody('POST', one, one.body ?? anOrder))
  let sent = 0
  return () => all[sent++ % all.length] ?? Buffer.alloc(0)
}

/** Events with the data of a changed order. */
function publishesOf(publishes: readonly Publish[], eventsEach: number): () => Buffer {
  const event = { type: 'bench.happened', data: { order: { id: 1, ...anOrder } } }
  const content = eventsEach === 1 ? event : { events: Array(eventsEach).fill(event) }
  const all = publishes.map(({ path, token }) =>
    aRequest('POST', path, `authorization: Bearer ${token}`, content),
  )
  let sent = 0
  return () => all[sent++ % all.length] ?? Buffer.alloc(0)
}

function aChange(request: Request, change: object): Buffer {
  return aBody('PATCH', request, change)
}

function aBody(method: string, { path, cookie }: Request, content: object): Buffer {
  return aRequest(method, path, `cookie: ${cookie}`, content)
}

function aRequest(method: string, path: string, credential: string, content: object): Buffer {
  const body = JSON.stringify(content)
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: bench\r\n${credential}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
}

function readsOf(reads: readonly Request[]): () => Buffer {
  const all = reads.map(aRead)
  let sent = 0
  return () => all[sent++ % all.length] ?? Buffer.alloc(0)
}

function aRead({ path, cookie }: Request): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: bench\r\ncookie: ${cookie}\r\n\r\n`)
}

function eventsOf(provider: BillingProvider['name'], secret: string): () => Buffer {
  const next = () => aWebhook(anEvent(provider, secret))
  const ready = Array.from({ length: target.seconds * eventsPerSecond }, next)
  let sent = 0
  return () => ready[sent++] ?? next()
}

function aWebhook({ body, headers }: { body: string; headers: Record<string, string> }): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(
    `POST /webhooks/billing HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n` +
      `${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** A signed payment in the format of the provider. */
function anEvent(provider: BillingProvider['name'], secret: string) {
  const time = Math.floor(Date.now() / 1000)
  const at = new Date(time * 1_000).toISOString()
  // Ids start with their time, as those of large providers do.
  const name = `${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`
  const id = `evt_${name}`
  const money = { amount: 4_900, currency: 'eur' }
  switch (provider) {
    case 'signed': {
      const object = { id: 'ch_1', customer: 'cus_1', ...money }
      const event = { id, type: 'charge.succeeded', created: time, data: { object } }
      const body = JSON.stringify(event)
      return { body, headers: { 'webhook-signature': signatureHeader(secret, body, time) } }
    }
    case 'stripe': {
      const charge = stripeCharge(name, 'cus_1', money)
      const body = JSON.stringify(
        stripeEvent({ id, type: 'charge.succeeded', created: time }, charge),
      )
      return { body, headers: { 'stripe-signature': signatureHeader(secret, body, time) } }
    }
    case 'paddle': {
      const totals = { subtotal: '4118', tax: '782', total: '4900', grand_total: '4900' }
      const items = [{ price: { id: 'pri_pro' }, quantity: 1 }]
      const data = {
        ...{ id: `txn_${name}`, status: 'completed', customer_id: 'ctm_1', currency_code: 'EUR' },
        ...{ subscription_id: 'sub_1', custom_data: null, items, details: { totals } },
      }
      const event = { event_id: id, event_type: 'transaction.completed', occurred_at: at, data }
      const body = JSON.stringify({ ...event, notification_id: `ntf_${name}` })
      const digest = hmacSha256(secret, `${time}:`, Buffer.from(body)).toString('hex')
      return { body, headers: { 'paddle-signature': `ts=${time};h1=${digest}` } }
    }
    case 'standard': {
      const order = {
        id: `ord_${name}`,
        customer_id: 'cus_1',
        total_amount: 4_900,
        currency: 'eur',
      }
      const body = JSON.stringify({ type: 'order.paid', timestamp: at, data: order })
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
      const digest = hmacSha256(key, `${id}.${time}.`, Buffer.from(body)).toString('base64')
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(time) }
      return { body, headers: { ...headers, 'webhook-signature': `v1,${digest}` } }
    }
  }
}
