import Type from 'typebox'
import { Value } from 'typebox/value'
import { ConfigError } from '#src/config/config.ts'
import { type Environment, readSchema } from '#src/config/parse.ts'
import { Settings } from '#src/config/settings.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { print, printJson } from './command.ts'

const deadlineMs = 2_500 // shorter than the three seconds a container's health check usually has
const Admin = Type.Pick(Settings, ['ADMIN_HOST', 'ADMIN_PORT'])

// As routes/health.ts answers.
const Body = Type.Object({
  status: Type.String(),
  failing: Type.Optional(Type.Array(Type.String())),
})

type Options = { readonly json: boolean }

/** `gatehouse health`: asks the running process of this machine whether it is ready. */
export default async function healthCommand(env: Environment, { json }: Options): Promise<void> {
  const url = readUrl(env)
  const answer = await ask(url)
  if (answer?.ok !== true) process.exitCode = 1
  if (json) return printJson({ status: 'no answer', ...answer?.body, url })
  if (answer?.ok) return print('ready')
  const failing = answer?.body.failing ?? []
  throw new OperatorError(
    answer === null
      ? `Nothing answers at ${url}.`
      : `Not ready: ${failing.length > 0 ? failing.join(', ') : `${url} says ${answer.status}`}.`,
    'See the log of the process, or run: gatehouse doctor.',
  )
}

function readUrl(env: Environment): string {
  const faults: string[] = []
  const { ADMIN_HOST, ADMIN_PORT } = readSchema(Admin, env, '', faults)
  if (faults.length > 0) throw new ConfigError(faults)
  // A listener on every address is asked on this machine's own.
  const host = ADMIN_HOST === '0.0.0.0' || ADMIN_HOST === '::' ? 'localhost' : ADMIN_HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${ADMIN_PORT}/readyz`
}

type Answer = { ok: boolean; status: number; body: Partial<Type.Static<typeof Body>> }

async function ask(url: string): Promise<Answer | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(deadlineMs) })
    const body: unknown = await response.json().catch(() => null)
    const { ok, status } = response
    return { ok, status, body: Value.Check(Body, body) ? body : {} }
  } catch {
    return null
  }
}
