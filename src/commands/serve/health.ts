import Type from 'typebox'
import { Value } from 'typebox/value'
import { ConfigError } from '#src/config/config.ts'
import { type Environment, readSchema } from '#src/config/parse.ts'
import { Settings } from '#src/config/settings.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { print, printJson } from '../kit/output.ts'

const deadlineMs = 2_500 // below the 3 s timeout of the health check in the Dockerfile
const Admin = Type.Pick(Settings, ['ADMIN_HOST', 'ADMIN_PORT'])

// The response of routes/health.ts.
const Body = Type.Object({
  status: Type.String(),
  failing: Type.Optional(Type.Array(Type.String())),
})

type Options = { readonly json?: true }

/** `gatehouse health`: checks whether the process on this machine is ready. */
export default async function healthCommand(env: Environment, { json }: Options): Promise<void> {
  const url = readUrl(env)
  const answer = await requestReadiness(url)
  if (answer?.ok !== true) process.exitCode = 1
  if (json) return printJson({ status: 'no answer', ...answer?.body, url })
  if (answer?.ok) return print('ready')
  const failing = answer?.body.failing ?? []
  throw new OperatorError(
    answer === null
      ? `Nothing answers at ${url}.`
      : `Not ready: ${failing.length > 0 ? failing.join(', ') : `${url} responded with ${answer.status}`}.`,
    'See the log of the process, or run: gatehouse doctor.',
  )
}

function readUrl(env: Environment): string {
  const faults: string[] = []
  const { ADMIN_HOST, ADMIN_PORT } = readSchema(Admin, env, '', faults)
  if (faults.length > 0) throw new ConfigError(faults)
  // A listener on all addresses is reachable on localhost.
  const host = ADMIN_HOST === '0.0.0.0' || ADMIN_HOST === '::' ? 'localhost' : ADMIN_HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${ADMIN_PORT}/readyz`
}

type Answer = { ok: boolean; status: number; body: Partial<Type.Static<typeof Body>> }

async function requestReadiness(url: string): Promise<Answer | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(deadlineMs) })
    const body: unknown = await response.json().catch(() => null)
    const { ok, status } = response
    return { ok, status, body: Value.Check(Body, body) ? body : {} }
  } catch {
    return null
  }
}
