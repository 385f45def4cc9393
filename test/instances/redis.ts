import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'

/** The reason to skip tests with a real Redis; false if it is installed. */
export const noRedis =
  spawnSync('redis-server', ['--version']).status !== 0 &&
  'redis-server is not installed here and no npm package carries it'

/**
 * Starts a Redis without persistence.
 * @param more arguments
 * @returns a function that stops it
 */
export async function startRedis(
  t: Pick<Test, 'teardown'>,
  port: number,
  more: readonly string[] = [],
): Promise<() => Promise<void>> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', ...more]
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => child.kill('SIGKILL'))
  const ready = /Ready to accept connections/
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => ready.test(String(text)) && resolve())
    child.on('exit', (status) => reject(new Error(`redis-server ended with ${status}`)))
  })
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}
