import { parseArgs } from 'node:util'
import { sampleEvent } from '#src/billing/sample-event.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { ConfigError } from '#src/config.ts'
import { randomId } from '#src/crypto/digest.ts'
import { OperatorError } from '#src/operator-error.ts'
import { type Environment, list } from '#src/setting-readers.ts'

const deadlineMs = 10_000
const options = {
  customer: { type: 'string', default: 'cus_ada' },
  amount: { type: 'string', default: '4900' },
  currency: { type: 'string', default: 'eur' },
  status: { type: 'string', default: 'active' },
  id: { type: 'string' },
  url: { type: 'string' },
} as const

/** `gatehouse trigger TYPE`: signs a sample event and posts it, as the billing provider would. */
export default async function triggerCommand(
  env: Environment,
  args: readonly string[],
): Promise<void> {
  const { type, values } = readArguments(args)
  const { url, secret } = await findTarget(env, values.url)
  const now = Math.floor(Date.now() / 1000)
  const id = values.id ?? `evt_${randomId().replaceAll('-', '')}`
  const body = sampleEvent({ ...values, id, type, created: now, amount: Number(values.amount) })
  const answer = await post(url, body, signatureHeader(secret, body, now))
  process.stdout.write(`${id} ${type}: ${answer.status} ${answer.text}\n`)
  if (answer.status !== 200) process.exitCode = 1
}

function readArguments(args: readonly string[]) {
  const usage = 'Run: gatehouse trigger TYPE [--customer ID] [--amount N] [--id ID] [--url URL].'
  try {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    const [type, ...rest] = positionals
    if (type === undefined || rest.length > 0) {
      throw new OperatorError('One event type is needed, such as charge.succeeded.', usage)
    }
    if (!/^\d{1,15}$/.test(values.amount)) {
      throw new OperatorError('The amount must be a whole number of minor units.', usage)
    }
    return { type, values }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(error instanceof Error ? error.message : String(error), usage)
  }
}

/** The running demo of this checkout, or what the settings name. */
async function findTarget(
  env: Environment,
  url: string | undefined,
): Promise<{ url: string; secret: string }> {
  const { findRunningDemo } = await import('#src/demo/running-demo.ts')
  const running = env.NODE_ENV === 'production' ? null : await findRunningDemo()
  const whole = { ...running?.env, ...env }
  const [secret] = list(whole.BILLING_WEBHOOK_SECRETS ?? '')
  const base = url ?? whole.BASE_URL
  const faults: string[] = []
  if (base === undefined) {
    faults.push('BASE_URL: is missing, and no demo runs here. Start one, or give --url.')
  }
  if (secret === undefined) faults.push('BILLING_WEBHOOK_SECRETS: is missing; its first one signs.')
  if (base === undefined || secret === undefined) throw new ConfigError(faults)
  if (!URL.canParse(base)) throw new OperatorError(`“${base}” is no URL.`, 'Check --url.')
  const target = new URL(base)
  if (target.pathname === '/') target.pathname = '/webhooks/billing'
  return { url: target.href, secret }
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
