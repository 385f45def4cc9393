import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

export type RawReceiver = {
  port: number
  /** `127.0.0.1:PORT`, as in OUTBOUND_ALLOW. */
  pair: string
  /** `http://127.0.0.1:PORT/`. */
  url: string
  /** Every connection so far, oldest first. */
  connections: readonly Socket[]
  /** Everything received on all connections. */
  received(): string
  close(): Promise<void>
}

/** A TCP server on loopback; calls `answer` once for every request head. */
export async function startRawReceiver(
  answer: (socket: Socket, count: number) => void = () => {},
  place: { host?: string; port?: number } = {},
): Promise<RawReceiver> {
  const connections: Socket[] = []
  let received = ''
  let count = 0
  const server = createServer((socket) => {
    connections.push(socket)
    let head = ''
    socket.on('error', () => {})
    socket.on('data', (data) => {
      received += data.toString('latin1')
      head += data.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      head = ''
      count += 1
      answer(socket, count)
    })
  })
  const host = place.host ?? '127.0.0.1'
  server.listen(place.port ?? 0, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  const pair = `${host}:${address.port}`
  return {
    port: address.port,
    pair,
    url: `http://${pair}/`,
    connections,
    received: () => received,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of connections) socket.destroy()
      await closed
    },
  }
}
