import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'

export type RecordedRequest = {
  method: string
  /** Path and query as sent. */
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export type Respond = (
  request: RecordedRequest,
  response: ServerResponse,
) => unknown | Promise<unknown>

export type Receiver = {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  url: string
  port: number
  /** Every request so far, oldest first. */
  requests: readonly RecordedRequest[]
  /** Replaces the response to all further requests. */
  respond(handler: Respond): void
  /** The oldest request that `next` has not returned yet; waits for it if necessary. */
  next(): Promise<RecordedRequest>
  /** Also ends open connections. */
  close(): Promise<void>
}

/** An HTTP server on loopback that records its requests; responds with 204 by default. */
export async function startReceiver(handler: Respond = answerEmpty): Promise<Receiver> {
  const requests: RecordedRequest[] = []
  const { add, next } = newLine<RecordedRequest>()
  let respond = handler

  const server = createServer((message, response) => {
    record(message)
      .then(async (request) => {
        requests.push(request)
        add(request)
        await respond(request, response)
      })
      .catch(() => response.destroy()) // the client disconnected, or the handler failed
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')

  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    requests,
    respond(next) {
      respond = next
    },
    next,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Things in the order in which they come; `next` waits for one if necessary. */
export function newLine<Thing>(): { add(thing: Thing): void; next(): Promise<Thing> } {
  const things: Thing[] = []
  const waiting: ((thing: Thing) => void)[] = []
  return {
    add(thing) {
      const waiter = waiting.shift()
      if (waiter === undefined) things.push(thing)
      else waiter(thing)
    },
    async next() {
      return things.shift() ?? new Promise((resolve) => waiting.push(resolve))
    },
  }
}

async function record(message: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  return {
    method: message.method ?? '',
    url: message.url ?? '',
    headers: message.headers,
    body: Buffer.concat(chunks),
  }
}

function answerEmpty(_request: RecordedRequest, response: ServerResponse): void {
  response.writeHead(204).end()
}
