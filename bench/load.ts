import { randomBytes, randomInt } from 'node:crypto'
import { Signer } from '@fastify/cookie'
import { signatureHeader } from '#src/billing/signature.ts'
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
   * New signed events, each sent once; or repeated GET requests; or new orders; or repeated changes of
   * orders; or reads of the order, or changes of the post, of a random one of so many tenants.
   */
  requests:
    | { eventsSignedWith: string }
    | { reads: readonly Request[] }
    | { creates: readonly Request[] }
    | { changes: readonly Request[] }
    | { readsAmong: number }
    | { changesAmong: number }
}

type Request = { path: string; cookie: string }

const eventsPerSecond = 12_000 // signed before the measurement; more are signed during it if needed

const { requests, ...target }: Load = JSON.parse(process.argv[2] ?? '')
const next = nextOf(requests)
console.log(JSON.stringify(await sendLoad(target, next)))

function nextOf(of: Load['requests']): () => Buffer {
  if ('reads' in of) return readsOf(of.reads)
  if ('creates' in of) return createsOf(of.creates)
  if ('changes' in of) return changesOf(of.changes)
  if ('readsAmong' in of) return readsAmong(of.readsAmong)
  return 'changesAmong' in of ? changesAmong(of.changesAmong) : eventsOf(of.eventsSignedWith)
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

function createsOf(creates: readonly Request[]): () => Buffer {
  const all = creates.map((one) => aBody('POST', one, anOrder))
  let sent = 0
  return () => all[sent++ % all.length] ?? Buffer.alloc(0)
}

function aChange(request: Request, change: object): Buffer {
  return aBody('PATCH', request, change)
}

function aBody(method: string, { path, cookie }: Request, content: object): Buffer {
  const body = JSON.stringify(content)
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: bench\r\ncookie: ${cookie}\r\n` +
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

function eventsOf(secret: string): () => Buffer {
  const ready = Array.from({ length: target.seconds * eventsPerSecond }, () => anEvent(secret))
  let sent = 0
  return () => ready[sent++] ?? anEvent(secret)
}

/** Ids start with their time, as those of large providers do. */
function anEvent(secret: string): Buffer {
  const time = Math.floor(Date.now() / 1000)
  const body = JSON.stringify({
    id: `evt_${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`,
    type: 'charge.succeeded',
    created: time,
    data: { object: { id: 'ch_1', customer: 'cus_1', amount: 4_900, currency: 'eur' } },
  })
  return Buffer.from(
    `POST /webhooks/billing HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n` +
      `webhook-signature: ${signatureHeader(secret, body, time)}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
