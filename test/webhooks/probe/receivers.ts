import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { Test } from 'tap'
import { endpointSecret } from '#test/support/receiver/webhook-endpoint.ts'

export type Received = {
  headers: IncomingHttpHeaders
  body: string
  /** What had arrived of the body when the request was first looked at. */
  beginning: string
}

/** Whether the receiver accepts a request; rejecting means 500. */
export type Receive = (request: Received) => boolean | Promise<boolean>

/** An HTTP server on loopback that responds with 204 to what it accepts and with 401 otherwise. */
export async function startProbed(
  t: Test,
  receive: Receive,
): Promise<{ url: string; port: number }> {
  const server = createServer(async (message, response) => {
    const parts: Buffer[] = []
    for await (const part of message) parts.push(part)
    const request = {
      headers: message.headers,
      body: Buffer.concat(parts).toString(),
      beginning: String(parts[0] ?? ''),
    }
    const accepts = await Promise.try(receive, request).catch(() => null)
    response.writeHead(accepts === null ? 500 : accepts ? 204 : 401).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return { url: `http://127.0.0.1:${address.port}/hook`, port: address.port }
}

/** What a faulty receiver does differently from a correct one of profile `spec`. */
type Difference = {
  /** The text that it verifies. */
  text?: (request: Received) => string
  /** The signatures of the header that it looks at. */
  signatures?: (header: string) => string[]
  /** Whether a signature time is accepted; `age` in seconds, negative in the future. */
  isTimely?: (age: number) => boolean
  matches?: (signature: string, correct: string) => boolean
  withoutSignature?: boolean
}

const signatureForm = /^v1,[A-Za-z0-9+/]{43}=$/

/** A receiver written for these tests: it shares no code with the signer. */
export function receiver(difference: Difference = {}): Receive {
  const {
    text = ({ body }) => body,
    signatures = (header) => header.split(' '),
    isTimely = (age) => Math.abs(age) <= 300,
    matches = (signature, correct) => signature === correct,
    withoutSignature = false,
  } = difference
  return (request) => {
    const timestamp = String(request.headers['webhook-timestamp'])
    const header = request.headers['webhook-signature']
    if (typeof header !== 'string') return withoutSignature
    const digest = createHmac('sha256', endpointSecret).update(`${timestamp}.${text(request)}`)
    const correct = `v1,${digest.digest('base64')}`
    const isRight = signatures(header).some((signature) => matches(signature, correct))
    return isRight && isTimely(Date.now() / 1_000 - Number(timestamp))
  }
}

/** Receivers with one fault each, by its code. */
export function faultyReceivers(): Record<string, Receive> {
  const correct = receiver()
  const seen = new Set<string>()
  return {
    'refuses-correct': () => false,
    unverified: () => true,
    'missing-accepted': receiver({ withoutSignature: true }),
    'malformed-accepted': receiver({
      matches: (signature, right) => signature === right || signature.includes(':'),
    }),
    'not-compared': receiver({ matches: (signature) => signatureForm.test(signature) }),
    // Repairs what it takes for a typing error.
    'body-not-signed': (request) =>
      receiver({ text: ({ body }) => body.replace('E"}}', 'e"}}') })(request),
    'raw-bytes': receiver({ text: ({ body }) => JSON.stringify(JSON.parse(body)) }),
    rotation: receiver({
      signatures: (header) =>
        header
          .split(' ')
          .filter((one) => one.startsWith('v1,'))
          .slice(0, 1),
    }),
    'slow-body': receiver({ text: ({ beginning }) => beginning }),
    'no-time-check': receiver({ isTimely: () => true }),
    'old-accepted': receiver({ isTimely: (age) => age >= -300 }),
    'new-accepted': receiver({ isTimely: (age) => age <= 300 }),
    'repeat-refused': async (request) => {
      if (!(await correct(request))) return false
      const id = String(request.headers['webhook-id'])
      const isNew = !seen.has(id)
      seen.add(id)
      return isNew
    },
    'unknown-version': receiver({
      signatures: (header) => {
        const all = header.split(' ')
        return all.every((one) => one.startsWith('v1,')) ? all : []
      },
    }),
  }
}
