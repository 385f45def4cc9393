import { once } from 'node:events'
import { createServer, connect as dial, type Socket } from 'node:net'

export type FarDatabase = { url: string; close(): void }

/** A TCP proxy that adds `delayMs` to each round trip to the database. */
export async function openFarDatabase(databaseUrl: string, delayMs: number): Promise<FarDatabase> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = dial({ port: Number(target.port), host: target.hostname, noDelay: true })
    client.setNoDelay(true)
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {}) // a stopped contender breaks its connections
      socket.on('close', () => other.destroy())
    }
    client.on('data', (chunk) => setTimeout(() => database.write(chunk), delayMs))
    database.on('data', (chunk) => client.write(chunk))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(address.port)
  return {
    url: url.href,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
