import type { FastifyPluginAsync } from 'fastify'
import { parseEvent } from '#src/billing/event.ts'
import { recordEvent } from '#src/billing/inbox.ts'

const maxBodyBytes = 1_048_576 // contract 5: 1 MiB

/** Verified before this is reached; parse, record, enqueue, acknowledge (specification). */
const billing: FastifyPluginAsync = async function billing(app) {
  app.post(
    '/webhooks/billing',
    {
      bodyLimit: maxBodyBytes,
      config: { access: 'signature' },
      schema: {
        tags: ['webhooks'],
        summary: 'Receive a signed billing event',
        consumes: ['application/json'],
        produces: ['text/plain'],
      },
    },
    async (request, reply) => {
      reply.type('text/plain')
      const { webhook } = request
      const event = webhook && parseEvent(webhook.body)
      if (webhook === null || event === null) return reply.code(400).send('malformed event')
      const { body, secretIndex } = webhook
      const recorded = await recordEvent(app.identityPlane, app.queue, event, body, secretIndex)
      request.log.info({ eventId: event.id, type: event.type, recorded }, 'billing event')
      return recorded === 'first' ? 'recorded' : recorded
    },
  )
}

export default billing
