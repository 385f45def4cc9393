import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/**
 * A server that answers the commands of a rate limit as Redis does, with a count of 1 each time, and
 * can stop answering while its connections stay open.
 */
export async function startHangingRedis(t: Test) {
  let isHanging = false
  let counts = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const command of commandsOf(data.toString())) {
        if (command === 'multi') counts += 1
        if (!isHanging) socket.write(answers[command] ?? '+OK\r\n')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = address === null || typeof address === 'string' ? 0 : address.port
  return {
    url: `redis://127.0.0.1:${port}`,
    /** How many counts it was asked for. */
    counts: () => counts,
    hang() {
      isHanging = true
    },
    respond() {
      isHanging = false
    },
  }
}

const info = 'redis_version:7.0.0\r\nloading:0\r\n'
const answers: Readonly<Record<string, string>> = {
  info: `$${info.length}\r\n${info}\r\n`,
  ping: '+PONG\r\n',
  incr: '+QUEUED\r\n',
  pexpire: '+QUEUED\r\n',
  pttl: '+QUEUED\r\n',
  exec: '*3\r\n:1\r\n:1\r\n:60000\r\n',
}

/** The names of the commands in RESP: the first bulk string of each array. */
function commandsOf(data: string): string[] {
  return [...data.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)].map(([, name = '']) =>
    name.toLowerCase(),
  )
}
