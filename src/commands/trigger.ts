import { sampleEvent } from '#src/billing/event.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { ConfigError } from '#src/config/config.ts'
import { type Environment, list } from '#src/config/parse.ts'
import { randomId } from '#src/crypto/hash.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { print, printJson, UsageError } from './command.ts'

const deadlineMs = 10_000

type Options = {
  readonly [Name in 'customer' | 'amount' | 'currency' | 'status']: string
} & { readonly id: string | undefined; readonly url: string | undefined; readonly json: boolean }

/** `gatehouse trigger TYPE`: signs a sample event and posts it, as the billing provider would. */
export default async function triggerCommand(
  env: Environment,
  type: string,
  { url: to, json, ...options }: Options,
): Promise<void> {
  if (!/^\d{1,15}$/.test(options.amount)) {
    throw new UsageError('--amount must be a whole number of minor units.')
  }
  if (to !== undefined && !/^https?:/.test(URL.parse(to)?.protocol ?? '')) {
    throw new UsageError('--url must be an http or https URL.')
  }
  const { url, secret } = await findTarget(env, to)
  const now = Math.floor(Date.now() / 1000)
  const id = options.id ?? `evt_${randomId().replaceAll('-', '')}`
  const amount = Number(options.amount)
  const body = sampleEvent({ ...options, id, type, created: now, amount })
  const { status, text } = await post(url, body, signatureHeader(secret, body, now))
  if (status !== 200) process.exitCode = 1
  if (json) printJson({ id, type, url, status, answer: text })
  else print(`${id} ${type}: ${status} ${text}`)
}

/** The running demo of this checkout, or what the settings name. */
async function findTarget(
  env: Environment,
  url: string | undefined,
): Promise<{ url: string; secret: string }> {
  const whole = { ...(env.NODE_ENV === 'production' ? {} : await runningDemo()), ...env }
  const [secret] = list(whole.BILLING_WEBHOOK_SECRETS ?? '')
  const base = url ?? whole.BASE_URL
  const faults: string[] = []
  if (base === undefined) {
    faults.push('BASE_URL: is missing, and no demo runs here. Start one, or give --url.')
  }
  if (secret === undefined) faults.push('BILLING_WEBHOOK_SECRETS: is missing; its first one signs.')
  if (base === undefined || secret === undefined) throw new ConfigError(faults)
  const target = URL.parse(base)
  if (target === null)
    throw new ConfigError(['BASE_URL: must be an origin like https://app.example.com.'])
  if (target.pathname === '/') target.pathname = '/webhooks/billing'
  return { url: target.href, secret }
}

async function runningDemo(): Promise<Environment> {
  const { findRunningDemo } = await import('#src/demo/running-demo.ts')
  return (await findRunningDemo())?.env ?? {}
}

async function post(url: string, body: string, signature: string) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'webhook-signature': signature },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(deadlineMs),
    })
    return { status: response.status, text: (await response.text()).slice(0, 200) }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`${url} does not answer: ${reason}.`, 'Is the service running there?')
  }
}
