import type { FastifyPluginAsync } from 'fastify'
import Type from 'typebox'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import type { Recorded } from '#src/billing/record.ts'
import type { WebhookOutcome } from '#src/observability/metrics.ts'

const maxBodyBytes = 1_048_576 // contract 5: 1 MiB

const refused = Type.String({ description: 'The reason' })
const answers: Readonly<Record<Recorded, string>> = {
  first: 'recorded',
  ignored: 'ignored',
  duplicate: 'duplicate',
  'duplicate-different-body': 'duplicate',
}
type Options = { provider: BillingProvider }

const outcomes: Readonly<Record<Recorded, WebhookOutcome>> = {
  first: 'recorded',
  ignored: 'ignored',
  duplicate: 'duplicate',
  'duplicate-different-body': 'duplicate_different_body',
}

/** Parses, records, enqueues and acknowledges an event whose signature is verified (specification). */
const billing: FastifyPluginAsync<Options> = async function billing(app, { provider }) {
  app.post(
    '/webhooks/billing',
    {
      bodyLimit: maxBodyBytes,
      config: { access: 'signature' },
      schema: {
        operationId: 'receiveBillingEvent',
        tags: ['billing events'],
        summary: 'Receive a signed billing event',
        description:
          'Header `Webhook-Signature: t=UNIX_SECONDS,v1=HEX`, an HMAC-SHA256 of `t.body`, at most 300 seconds old; with another `BILLING_PROVIDER` the headers of that provider, and no others. The response is text. 200 is `recorded`, `ignored` (a kind that is not processed) or `duplicate` (also with another body; the first body stays): do not send the event again. 503 with `Retry-After`: nothing was recorded, send it again.',
        consumes: ['application/json'],
        produces: ['text/plain'],
        response: {
          200: Type.Enum(['recorded', 'ignored', 'duplicate'], {
            description: 'Do not send the event again',
          }),
          400: Type.Enum(['bad signature', 'timestamp outside tolerance', 'malformed event'], {
            description: 'Nothing was recorded',
          }),
          413: refused,
          415: refused,
          429: refused,
          503: refused,
        },
      },
    },
    async (request, reply) => {
      reply.type('text/plain')
      const { webhook } = request
      const event = webhook && provider.parse(request.headers, webhook.body)
      if (webhook === null || event === null) return reply.code(400).send('malformed event')
      const { body, secretIndex } = webhook
      const begun = performance.now()
      const recorded = await app.recorder.record(event, body, secretIndex, {
        requestId: request.id,
        ...(request.traceparent !== null && { traceparent: request.traceparent }),
      })
      if (request.webhookSeconds !== null)
        request.webhookSeconds.record = (performance.now() - begun) / 1_000
      request.webhookOutcome = outcomes[recorded]
      request.log.debug({ eventId: event.id, type: event.type, recorded }, 'billing event')
      return answers[recorded]
    },
  )
}

export default billing
