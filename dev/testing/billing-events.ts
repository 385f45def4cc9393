import type { FastifyInstance } from 'fastify'
import { samplePayments, signSample } from '#src/billing/sample.ts'
import type { SampleOptions } from '#src/billing/sample-options.ts'
import { type Result, waitForResult } from '#src/commands/development/trigger.ts'
import { type BillingProviderName, readBillingProvider } from '#src/config/billing.ts'
import type { Config } from '#src/config/config.ts'
import { randomId } from '#src/crypto/hash.ts'
import { unixSeconds } from '#src/runtime/clock.ts'
import { answerOf, type TestAnswer } from './answers.ts'
import { webhookSecret } from './settings.ts'

/** What a billing event says; by default a payment of 49.00 EUR. */
export type TestBillingEvent = {
  /** The provider's name of its kind, such as `charge.succeeded`, or `transaction.completed` of Paddle. */
  readonly type?: string
  /** The customer at the provider; `addPerson({ billingCustomer })` makes it somebody's. */
  readonly customer: string
  /** Random; the same one again is a duplicate. */
  readonly id?: string
  /** In minor units. */
  readonly amount?: number
  readonly currency?: string
  /** The state of a subscription; active by default. */
  readonly status?: string
  /** The price or product of a subscription. */
  readonly price?: string
}

/** The answer to a billing event, and what the app has made of it. */
export type TestBillingAnswer = TestAnswer & {
  /** Null if it was refused. `status` is `processed`, `ignored`, `unlinked` or the like. */
  readonly event: Result | null
}

const secrets: Readonly<Record<BillingProviderName, string>> = {
  signed: webhookSecret,
  stripe: webhookSecret,
  paddle: 'pdl_ntfset_a_secret_of_tests',
  standard: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
}

/** The secret of the billing provider of these settings. */
export function billingSettings(settings: Readonly<Record<string, string>>) {
  return { BILLING_WEBHOOK_SECRETS: secrets[readBillingProvider(settings)] }
}

const waitMs = 30_000

/** Sends an event as the provider of the app does, and waits until a worker has processed it. */
export async function sendBillingEvent(
  { app, config }: { app: FastifyInstance; config: Config },
  given: TestBillingEvent,
): Promise<TestBillingAnswer> {
  const { provider, secrets } = config.billing
  const event: SampleOptions = {
    ...{ type: samplePayments[provider], id: `evt_${randomId()}`, amount: 4_900, currency: 'eur' },
    ...{ status: 'active', created: unixSeconds(config.clock), ...given },
  }
  const { body, headers } = signSample(provider, event, secrets[0])
  const answer = await app.inject({
    ...{ method: 'POST', url: '/webhooks/billing', payload: body },
    headers: { 'content-type': 'application/json', ...headers },
  })
  const isRecorded = answer.statusCode === 200
  const { workerUrl } = config.database
  const result = isRecorded ? await waitForResult(workerUrl, event.id, waitMs) : null
  return { ...answerOf(answer), event: result }
}
