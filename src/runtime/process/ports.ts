import { once } from 'node:events'
import { createServer } from 'node:net'
import { OperatorError } from '../operator-error.ts'

/** Where a listener is bound, and the setting that changes its port. */
export type Listener = { host: string; port: number; setting: string }

/**
 * Binds the port for a moment, so that a busy port is reported before anything else is started.
 * @throws OperatorError if it cannot be bound
 */
export async function requireFreePort(listener: Listener): Promise<void> {
  const server = createServer()
  try {
    server.listen(listener.port, listener.host)
    await once(server, 'listening')
  } catch (error) {
    throw toListenProblem(error, listener)
  }
  server.close()
  await once(server, 'close')
}

const refusals: readonly unknown[] = ['EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL']

/** Whether `listen` failed because of its port or address, so that another one may be free. */
export function isPortRefused(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    refusals.includes(error.code) &&
    'syscall' in error &&
    error.syscall === 'listen'
  )
}

/** The error of a failed `listen` with its remedy, or as it is if the operator cannot fix it. */
export function toListenProblem(error: unknown, { host, port, setting }: Listener): unknown {
  if (!isPortRefused(error)) return error
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code === 'EADDRINUSE') {
    return new OperatorError(
      `Port ${port} on ${host} is in use.`,
      `Stop the process that uses it, or set ${setting} to another port.`,
    )
  }
  return new OperatorError(`Cannot listen on ${host}:${port} (${code}).`, `Change ${setting}.`)
}
