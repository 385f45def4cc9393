import { randomBytes } from 'node:crypto'
import { signatureHeader } from '#src/billing/signature.ts'
import { sendLoad, type Target } from './http-load.ts'

/*
 * The load generator, a separate process. Its argument is a Load as JSON, its output a Measured as
 * JSON.
 */

export type Load = Target & {
  /** New signed events, each sent once; or repeated GET requests; or repeated changes of orders. */
  requests:
    | { eventsSignedWith: string }
    | { reads: readonly Request[] }
    | { changes: readonly Request[] }
}

type Request = { path: string; cookie: string }

const eventsPerSecond = 12_000 // signed before the measurement; more are signed during it if needed

const { requests, ...target }: Load = JSON.parse(process.argv[2] ?? '')
const next = nextOf(requests)
console.log(JSON.stringify(await sendLoad(target, next)))

function nextOf(of: Load['requests']): () => Buffer {
  if ('reads' in of) return readsOf(of.reads)
  return 'changes' in of ? changesOf(of.changes) : eventsOf(of.eventsSignedWith)
}

/** Each change is another one. */
function changesOf(changes: readonly Request[]): () => Buffer {
  let sent = 0
  return () => {
    const { path = '', cookie = '' } = changes[sent % changes.length] ?? {}
    sent += 1
    const shippingAddress = {
      name: 'Ada',
      line1: `${sent} Harbour Street`,
      city: 'Lisbon',
      postalCode: '1100-012',
      country: 'PT',
    }
    const body = JSON.stringify({ shippingAddress })
    return Buffer.from(
      `PATCH ${path} HTTP/1.1\r\nhost: bench\r\ncookie: ${cookie}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
  }
}

function readsOf(reads: readonly Request[]): () => Buffer {
  const all = reads.map(({ path, cookie }) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nhost: bench\r\ncookie: ${cookie}\r\n\r\n`),
  )
  let sent = 0
  return () => all[sent++ % all.length] ?? Buffer.alloc(0)
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
