import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { pipeline } from 'node:stream'
import type { Test } from 'tap'

export type StrippingProxy = {
  /** `http://localhost:PORT`. */
  origin: string
  leadTo(origin: string): void
  /** Makes the server refuse every body, after the same-origin rule and before any effect. */
  encodesBodies: boolean
  /** `Origin` and path of every POST so far. */
  posts: { origin: string | undefined; path: string }[]
}

/** A proxy that removes Fetch Metadata, as old ones do. Closed with the test. */
export async function startStrippingProxy(t: Test): Promise<StrippingProxy> {
  let target = ''
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/' } = incoming
    const kept = Object.entries(incoming.headers).filter(([name]) => !name.startsWith('sec-'))
    const headers = Object.fromEntries(kept)
    if (method === 'POST') {
      proxy.posts.push({ origin: headers.origin as string | undefined, path: url })
      if (proxy.encodesBodies) headers['content-encoding'] = 'x'
    }
    const asked = request(new URL(url, target), { method, headers }, (answer) => {
      // The browser has gone to another page.
      if (outgoing.destroyed) {
        answer.destroy()
        return
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      pipeline(answer, outgoing, () => {})
    })
    asked.on('error', () => outgoing.destroy())
    pipeline(incoming, asked, () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  const { port } = server.address() as { port: number }
  const proxy: StrippingProxy = {
    origin: `http://localhost:${port}`,
    leadTo(origin) {
      target = origin
    },
    encodesBodies: false,
    posts: [],
  }
  return proxy
}
