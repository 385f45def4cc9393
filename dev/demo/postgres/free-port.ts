import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { isPortRefused } from '#src/runtime/process/ports.ts'

// Below the ports that systems give to outgoing connections, one of which would otherwise take the
// port before it is used.
const lowest = 10_240
const above = 32_768
const maxTries = 100

/** A port of 127.0.0.1 that is free at the moment. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < maxTries; tries++) {
    const port = randomInt(lowest, above)
    if (await isFree(port)) return port
  }
  throw new Error('no free port')
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (isPortRefused(error)) return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}
