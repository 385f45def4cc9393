import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { pipeline } from 'node:stream'
import type { Test } from 'tap'
import type { Certified } from '#test/support/certificates.ts'

export type Balancer = {
  /** `https://localhost:PORT`. */
  url: string
  /** Where requests go from now on, in turn. */
  leadTo(origins: readonly string[]): void
  /** How many requests each of them was given. */
  given: ReadonlyMap<string, number>
}

/**
 * Ends TLS on loopback and gives each request to the next server, so that no two requests of a
 * browser reach the same one. Gone with the test.
 */
export async function startBalancer(t: Test, certified: Certified): Promise<Balancer> {
  const given = new Map<string, number>()
  let origins: readonly string[] = []
  let turn = 0

  function next(path: string): string {
    // Every page has them: counted among the turns they would bring each page to the same server.
    const isAsset = path.startsWith('/assets/')
    if (!isAsset) turn += 1
    return origins[turn % origins.length] ?? ''
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
    // Whoever goes away first, the other end is closed with it.
    if (outgoing.destroyed) answer.destroy()
    else {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      pipeline(answer, outgoing, () => {})
    }
  })
  asked.on('error', () => outgoing.destroy())
  pipeline(incoming, asked, () => {})
}
