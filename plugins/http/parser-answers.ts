import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { orderedId } from '#src/crypto/hash.ts'
import { normalizeAddress } from '#src/http/headers/client-address.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds headers to answers without a request, as a hook adds them to all others. */
    addParserHeaders(headersFor: ParserHeaders): void
    /** Answers a connection whose request could not be parsed, and closes it. @returns its id */
    answerUnparsed(socket: Socket, refusal: Refusal): string
  }
}

/** What is known of a client whose request could not be parsed. */
type Unparsed = { address: string; origin: string | undefined }
type HeaderValues = Readonly<Record<string, string>>
export type ParserHeaders = (client: Unparsed) => HeaderValues | Promise<HeaderValues>

type Refusal = {
  status: number
  title: string
  type?: string
  detail?: string
  headers?: HeaderValues
  /** The bytes that could not be parsed. */
  packet?: unknown
}

/**
 * What Node answers by itself gets the headers of every other response: requests that cannot be
 * parsed, or with an `Expect` that it does not know.
 */
export default fp(
  async function parserAnswers(app) {
    const contributors: ParserHeaders[] = []
    app.decorate('addParserHeaders', (headersFor) => {
      contributors.push(headersFor)
    })
    app.decorate('answerUnparsed', (socket, refusal) => {
      const id = orderedId()
      const client = {
        address: normalizeAddress(socket.remoteAddress) ?? 'unknown',
        origin: originIn(refusal.packet),
      }
      Promise.all(contributors.map((headersFor) => headersFor(client))).then(
        (headers) => end(socket, writeAnswer(refusal, id, Object.assign({}, ...headers))),
        () => socket.destroy(),
      )
      return id
    })
    // The expectation is not met, which RFC 9110, 10.1.1, allows to ignore.
    app.server.on('checkExpectation', (request: unknown, response: unknown) => {
      app.server.emit('request', request, response)
    })
  },
  { name: 'parser-answers', fastify: '5.x' },
)

function originIn(packet: unknown): string | undefined {
  if (!Buffer.isBuffer(packet)) return undefined
  return /\r\norigin:([^\r\n]*)\r\n/i.exec(packet.toString('latin1'))?.[1]?.trim()
}

function end(socket: Socket, answer: string): void {
  if (socket.writable) socket.write(answer)
  socket.destroy()
}

function writeAnswer(
  { status, title, type = 'about:blank', detail, headers }: Refusal,
  id: string,
  common: HeaderValues,
): string {
  const body = JSON.stringify({ type, title, status, detail, instance: id })
  const all = {
    ...common,
    'cache-control': 'no-store',
    ...headers,
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${title}`, ...lines, '', body].join('\r\n')
}
