import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { pipeline } from 'node:stream'
import type { Test } from 'tap'
import type { Certified } from '#test/support/processes/certificates.ts'

export type Balancer = {
  /** `https://localhost:PORT`. */
  url: string
  /** Sets the servers that get requests, one after another. */
  leadTo(origins: readonly string[]): void
  /** The number of requests that each server got. */
  given: ReadonlyMap<string, number>
}

/**
 * Terminates TLS on loopback and forwards each request to the next server, so that consecutive
 * requests of a browser reach different ones. Closed with the test.
 */
export async function startBalancer(t: Test, certified: Certified): Promise<Balancer> {
  const given = new Map<string, number>()
  let origins: readonly string[] = []
  let index = 0

  function next(path: string): string {
    // Every page loads these. If they counted, each page would reach the same server.
    const isAsset = path.startsWith('/assets/')
    if (!isAsset) index += 1
    return origins[index % origins.length] ?? ''
  }

  const server = createServer(certified, (incoming, outgoing) => {
    const origin = next(incoming.url ?? '')
    given.set(origin, (given.get(origin) ?? 0) + 1)
    pass(origin, incoming, outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return {
    url: `https://localhost:${address.port}`,
    leadTo(to) {
      origins = to
    },
    given,
  }
}

function pass(origin: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url = '/', headers, socket } = incoming
  const before = headers['x-forwarded-for']
  const forwarded = {
    'x-forwarded-for': [before, socket.remoteAddress].filter(Boolean).join(', '),
    'x-forwarded-proto': 'https',
  }
  const options = { method, headers: { ...headers, ...forwarded } }
  const asked = request(new URL(url, origin), options, (answer) => {
    // When either side closes, close the other.
    if (outgoing.destroyed) answer.destroy()
    else {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      pipeline(answer, outgoing, () => {})
    }
  })
  asked.on('error', () => outgoing.destroy())
  pipeline(incoming, asked, () => {})
}
