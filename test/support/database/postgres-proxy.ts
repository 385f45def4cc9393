import { once } from 'node:events'
import { createServer, connect as dial, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'

export type DatabaseProxy = {
  /** The given connection URL, led through this proxy. */
  through(url: string): string
  /** How often a client has written since the last reset after hearing from the server first. */
  roundTrips(): number
  reset(): void
  /** Whether each connection is open and has got the last answer to all that its client has written. */
  isQuiet(): boolean
  /** From now on nothing passes in either direction; connections stay open. */
  silence(): void
  /** Cuts every connection and takes no new one. */
  close(): void
  /** Cuts every connection, and each new one, until `resume`. */
  pause(): void
  /** Ends silence and pause; connections that were silent are cut, for they have lost something. */
  resume(): void
  /** New connections go to the server at this URL. */
  leadTo(url: string): void
  /** Cuts a connection as soon as its client sends what contains `text`; that is not counted. */
  cutAt(text: string): void
  /** From now on a new connection reaches the server after so many milliseconds. */
  openAfter(ms: number): void
}

/**
 * A hop in front of PostgreSQL that counts, delays for ever, or cuts. Gone with the test.
 * @param host where it listens
 */
export async function startProxy(
  t: Pick<Test, 'teardown'>,
  databaseUrl: string,
  host = '127.0.0.1',
): Promise<DatabaseProxy> {
  let target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  /** Clients that wait for an answer. */
  const waiting = new Set<Socket>()
  let trips = 0
  let silent = false
  let paused = false
  let fatal: string | undefined
  let openingMs = 0
  // Either end may break: that is what some tests are about.
  const adopt = (socket: Socket) => sockets.add(socket.on('error', () => {}))
  const server = createServer(async (client) => {
    if (paused) return void client.destroy()
    adopt(client)
    waiting.add(client)
    client.on('close', () => waiting.delete(client))
    if (openingMs > 0) await wait(openingMs)
    if (client.destroyed) return
    const database = dial(Number(target.port), target.hostname)
    let heard = true
    adopt(database)
    for (const socket of [client, database]) {
      socket.setNoDelay(true)
      socket.on('close', () => {
        client.destroy()
        database.destroy()
      })
    }
    client.on('data', (chunk) => {
      if (fatal !== undefined && chunk.includes(fatal)) return void database.destroy()
      if (heard) trips += 1
      heard = false
      waiting.add(client)
      if (!silent) database.write(chunk)
    })
    database.on('data', (chunk: Buffer) => {
      heard = true
      if (!silent) client.write(chunk)
      if (isReady(chunk)) waiting.delete(client)
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const close = () => {
    server.close()
    cutAll()
  }
  t.teardown(close)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    through(url) {
      const led = new URL(url)
      led.hostname = host
      led.port = String(address.port)
      return led.href
    },
    roundTrips: () => trips,
    reset: () => {
      trips = 0
    },
    isQuiet: () => waiting.size === 0,
    silence: () => {
      silent = true
    },
    close,
    pause: () => {
      paused = true
      cutAll()
    },
    resume: () => {
      if (silent) cutAll()
      silent = false
      paused = false
    },
    leadTo: (url) => {
      target = new URL(url)
    },
    cutAt: (text) => {
      fatal = text
    },
    openAfter: (ms) => {
      openingMs = ms
    },
  }
}

/** Whether it ends with ReadyForQuery outside a transaction, the last message of an answer. */
function isReady(chunk: Buffer): boolean {
  return chunk.subarray(-6).equals(Buffer.from('Z\0\0\0\x05I', 'latin1'))
}
