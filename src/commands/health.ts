import { OperatorError } from '#src/operator-error.ts'
import type { Environment } from '#src/setting-readers.ts'

const deadlineMs = 2_500 // shorter than the three seconds a container's health check usually has

/** `gatehouse health`: asks the running process of this machine whether it is ready. */
export default async function healthCommand(env: Environment): Promise<void> {
  const host = env.ADMIN_HOST ?? '127.0.0.1'
  const url = `http://${host}:${env.ADMIN_PORT ?? 9464}/readyz`
  const answer = await fetch(url, { signal: AbortSignal.timeout(deadlineMs) }).catch(() => null)
  if (answer?.ok) return void process.stdout.write('ready\n')
  throw new OperatorError(
    answer === null ? `Nothing answers at ${url}.` : `Not ready: ${url} says ${answer.status}.`,
    'See the log of the process, or run: gatehouse doctor.',
  )
}
