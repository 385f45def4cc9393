import { setTimeout as pause } from 'node:timers/promises'
import { kindOf, type signedKinds } from '#src/billing/providers/signed.ts'
import { sampleEvent } from '#src/billing/sample.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { ConfigError } from '#src/config/config.ts'
import { type Environment, list } from '#src/config/parse.ts'
import { randomId } from '#src/crypto/hash.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { reasonOf } from '../kit/error-message.ts'
import { print, printJson } from '../kit/output.ts'

const deadlineMs = 10_000

type Options = {
  readonly customer: string
  /** In minor units of the currency. */
  readonly amount: number
  readonly currency: string
  readonly status: string
  /** Random by default. */
  readonly id?: string
  /** http or https; an origin gets the path of the webhook. */
  readonly url?: string
  readonly wait: boolean
  readonly json?: true
}

/** `gatehouse trigger --list`. */
export function listTypes({ json }: Pick<Options, 'json'>): void {
  const types = Object.entries(effects)
  if (json) printJson(types.map(([type, effect]) => ({ type, effect })))
  else for (const [type, effect] of types) print(`${type.padEnd(20)}  ${effect}`)
}

const effects: Readonly<Record<keyof typeof signedKinds, string>> = {
  'charge.succeeded': "creates an invoice in the tenant of the customer's user",
  'subscription.created': "sets the user's plan, if the subscription is active",
  'subscription.updated': 'the same',
}

/**
 * `gatehouse trigger <type>`: signs and posts a sample event as the billing provider does, and waits
 * until it has been processed.
 */
export async function trigger(
  env: Environment,
  type: string,
  { url: to, json, wait, ...options }: Options,
): Promise<void> {
  const { url, secret, databaseUrl } = await findTarget(env, to)
  const now = Math.floor(Date.now() / 1000)
  const id = options.id ?? `evt_${randomId().replaceAll('-', '')}`
  const body = sampleEvent({ ...options, id, type, created: now })
  const { status, text } = await post(url, body, signatureHeader(secret, body, now))
  if (status !== 200) process.exitCode = 1
  const isWorked = status === 200 && kindOf(type) !== null
  const result =
    wait && isWorked && databaseUrl !== undefined ? await waitForResult(databaseUrl, id) : null
  if (result !== null && result.status !== 'processed') process.exitCode = 1
  if (json) return printJson({ id, type, url, status, answer: text, ...(result && { result }) })
  print(`${id} ${type}: ${status} ${text}${result === null ? '' : `, ${describe(result)}`}`)
}

type Result = { status: string; outcome: string | null; error: string | null }

const waitMs = 10_000
const lookMs = 100

/** What the workers have made of the event, or `recorded` if none has done so in time. */
async function waitForResult(databaseUrl: string, id: string): Promise<Result> {
  const systemDb = openSystemDatabase(databaseUrl, 1)
  try {
    for (const end = performance.now() + waitMs; ; await pause(lookMs)) {
      const [row] = await systemDb.sql<Result>`
        SELECT status, outcome, last_error AS error FROM received_events WHERE event_id = ${id}`
      const result = row ?? { status: 'recorded', outcome: null, error: null }
      if (result.status !== 'recorded' || performance.now() > end) return result
    }
  } finally {
    await systemDb.close()
  }
}

function describe({ status, outcome, error }: Result): string {
  if (status === 'processed') return [...new Set([status, outcome ?? status])].join(': ')
  if (status === 'recorded') return 'not processed yet: is a worker running?'
  if (status === 'unlinked') return 'unlinked: it waits until its customer is linked to a user'
  return error === null ? status : `${status}: ${error}`
}

/** The webhook's URL and secret: from the settings, else from the demo that runs here. */
async function findTarget(
  env: Environment,
  url: string | undefined,
): Promise<{ url: string; secret: string; databaseUrl: string | undefined }> {
  const whole = env.NODE_ENV === 'production' ? env : await withRunningDemo(env)
  const [secret] = list(whole.BILLING_WEBHOOK_SECRETS ?? '')
  const base = url ?? whole.BASE_URL
  const faults: string[] = []
  if (base === undefined) {
    faults.push('BASE_URL: is missing, and no demo runs in this folder. Start one or use --url.')
  }
  if (secret === undefined)
    faults.push('BILLING_WEBHOOK_SECRETS: is missing; the first secret signs the event.')
  if (base === undefined || secret === undefined) throw new ConfigError(faults)
  const target = URL.parse(base)
  if (target === null)
    throw new ConfigError(['BASE_URL: must be an origin like https://app.example.com.'])
  if (target.pathname === '/') target.pathname = '/webhooks/billing'
  return { url: target.href, secret, databaseUrl: whole.DATABASE_WORKER_URL }
}

async function withRunningDemo(env: Environment): Promise<Environment> {
  const { findRunningDemo, withDemoSettings } = await import('#src/demo/running-demo.ts')
  const running = await findRunningDemo()
  return running === null ? env : withDemoSettings(env, running)
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
    throw new OperatorError(
      `${url} did not respond: ${reasonOf(error)}.`,
      'Is the service running there?',
    )
  }
}
