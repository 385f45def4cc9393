import { setTimeout as pause } from 'node:timers/promises'
import type { paddleKinds } from '#src/billing/providers/paddle.ts'
import type { signedKinds } from '#src/billing/providers/signed.ts'
import type { standardKinds } from '#src/billing/providers/standard.ts'
import type { stripeKinds } from '#src/billing/providers/stripe.ts'
import { signSample } from '#src/billing/sample.ts'
import { type BillingProviderName, readBillingProvider } from '#src/config/billing.ts'
import { ConfigError } from '#src/config/config.ts'
import { type Environment, list } from '#src/config/parse.ts'
import { randomId } from '#src/crypto/hash.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { openCommandDatabase } from '../kit/databases.ts'
import { loadDevelopment } from '../kit/development.ts'
import { reasonOf } from '../kit/error-message.ts'
import { print, printJson } from '../kit/output.ts'

const deadlineMs = 10_000

type Options = {
  readonly customer: string
  /** In minor units of the currency. */
  readonly amount: number
  readonly currency: string
  readonly status: string
  readonly price?: string
  /** Random by default. */
  readonly id?: string
  /** http or https; an origin gets the path of the webhook. */
  readonly url?: string
  readonly wait: boolean
  readonly json?: true
}

/** `gatehouse trigger --list`. */
export async function listTypes(env: Environment, { json }: Pick<Options, 'json'>): Promise<void> {
  const types = Object.entries(effects[readBillingProvider(await complete(env))])
  if (json) printJson(types.map(([type, effect]) => ({ type, effect })))
  else {
    const width = Math.max(...types.map(([type]) => type.length))
    for (const [type, effect] of types) print(`${type.padEnd(width)}  ${effect}`)
  }
}

const signedEffects: Readonly<Record<keyof typeof signedKinds, string>> = {
  'charge.succeeded': "creates an invoice in the tenant of the customer's user",
  'subscription.created': "sets the user's plan, if the subscription is active",
  'subscription.updated': 'the same',
}

const sameSubscription = "sets the user's plan by the subscription's state and price"

const sameSchedule = 'shows the change that is planned, as the API has it'

const stripeEffects: Readonly<Record<keyof typeof stripeKinds, string>> = {
  'charge.succeeded': "creates an invoice in the tenant of the customer's user",
  'charge.captured': 'the same, for a charge that was only authorized',
  'charge.refunded': 'the invoice of that amount is refunded',
  'charge.dispute.created': 'the invoice of that amount is disputed',
  'charge.dispute.updated': 'the same',
  'charge.dispute.funds_withdrawn': 'the same',
  'charge.dispute.closed': 'the dispute was won, so the invoice is paid again',
  'checkout.session.completed': 'links the customer, if this installation started the checkout',
  'customer.subscription.created': sameSubscription,
  'customer.subscription.updated': sameSubscription,
  'customer.subscription.deleted': "ends the user's plan",
  'customer.subscription.paused': sameSubscription,
  'customer.subscription.resumed': sameSubscription,
  'invoice.paid': 'the same invoice as its charge',
  'refund.failed': 'the refund of that amount is taken back',
  'refund.updated': 'the same',
  'subscription_schedule.canceled': sameSchedule,
  'subscription_schedule.created': sameSchedule,
  'subscription_schedule.released': sameSchedule,
  'subscription_schedule.updated': sameSchedule,
}

const paddleEffects: Readonly<Record<keyof typeof paddleKinds, string>> = {
  'transaction.completed': "creates an invoice in the tenant of the customer's user",
  'adjustment.created': 'the invoice of that amount is refunded',
  'adjustment.updated': 'the same',
  'subscription.created': sameSubscription,
  'subscription.activated': sameSubscription,
  'subscription.canceled': "ends the user's plan",
  'subscription.past_due': sameSubscription,
  'subscription.paused': sameSubscription,
  'subscription.resumed': sameSubscription,
  'subscription.trialing': sameSubscription,
  'subscription.updated': sameSubscription,
}

const standardEffects: Readonly<Record<keyof typeof standardKinds, string>> = {
  'order.paid': "creates an invoice in the tenant of the customer's user",
  'order.refunded': 'the invoice of that amount is refunded',
  'refund.updated': 'the refund of that amount is taken back',
  'subscription.created': sameSubscription,
  'subscription.updated': sameSubscription,
  'subscription.active': sameSubscription,
  'subscription.canceled': sameSubscription,
  'subscription.uncanceled': sameSubscription,
  'subscription.past_due': sameSubscription,
  'subscription.revoked': "ends the user's plan",
}

/** What the types of each provider do. */
const effects: Readonly<Record<BillingProviderName, Readonly<Record<string, string>>>> = {
  signed: signedEffects,
  stripe: stripeEffects,
  paddle: paddleEffects,
  standard: standardEffects,
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
  const whole = await complete(env)
  const provider = readBillingProvider(whole)
  const { url, secret, databaseUrl } = findTarget(whole, to)
  const now = Math.floor(Date.now() / 1000)
  const id = options.id ?? `evt_${randomId().replaceAll('-', '')}`
  const { body, headers } = signSample(provider, { ...options, id, type, created: now }, secret)
  const { status, text } = await post(url, body, headers)
  if (status !== 200) process.exitCode = 1
  // The specification accepts a prefix (contract 5).
  const known = provider === 'signed' ? type.replace(/^customer\./, '') : type
  const isWorked = status === 200 && Object.hasOwn(effects[provider], known)
  const result =
    wait && isWorked && databaseUrl !== undefined
      ? await waitForResult(databaseUrl, id, waitMs)
      : null
  if (result !== null && result.status !== 'processed') process.exitCode = 1
  if (json) return printJson({ id, type, url, status, answer: text, ...(result && { result }) })
  print(`${id} ${type}: ${status} ${text}${result === null ? '' : `, ${describe(result)}`}`)
}

/** What became of an event. */
export type Result = { status: string; outcome: string | null; error: string | null }

const waitMs = 10_000
const lookMs = 100

/** What the workers have made of the event, or `recorded` if none has done so in time. */
export async function waitForResult(
  databaseUrl: string,
  id: string,
  limitMs: number,
): Promise<Result> {
  const systemDb = openCommandDatabase(databaseUrl)
  try {
    for (const end = performance.now() + limitMs; ; await pause(lookMs)) {
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
function findTarget(
  whole: Environment,
  url: string | undefined,
): { url: string; secret: string; databaseUrl: string | undefined } {
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

/** The settings, completed with those of the demo that runs here. */
async function complete(env: Environment): Promise<Environment> {
  if (env.NODE_ENV === 'production') return env
  const { findRunningDemo, withDemoSettings } = await loadDevelopment()
  const running = await findRunningDemo()
  return running === null ? env : withDemoSettings(env, running)
}

async function post(url: string, body: string, headers: Readonly<Record<string, string>>) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
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
