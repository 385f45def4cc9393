import { createServer } from 'node:http'

/*
 * Customers' endpoints in a separate process: each responds with 204 after 5 ms, or hangs on request.
 * The parent process asks for the arrivals since its last request.
 */

export type Arrival = { endpoint: number; eventId: string; at: number }
export type Order = { do: 'collect' } | { do: 'hang'; endpoint: number | null }

const answerMs = 5
const count = Number(process.argv[2])
let arrivals: Arrival[] = []
let hanging: number | null = null

const ports = await Promise.all(Array.from({ length: count }, (_, endpoint) => open(endpoint)))
process.on('message', (order: Order) => {
  if (order.do === 'hang') hanging = order.endpoint
  process.send?.(order.do === 'hang' ? [] : arrivals)
  arrivals = []
})
process.send?.(ports)

async function open(endpoint: number): Promise<number> {
  const server = createServer((request, response) => {
    const at = performance.timeOrigin + performance.now()
    arrivals.push({ endpoint, eventId: String(request.headers['webhook-id']), at })
    request.resume()
    if (endpoint === hanging) return
    setTimeout(() => response.writeHead(204).end(), answerMs)
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
