import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'
import { createSender, type Sender, type SenderOptions } from '#src/webhooks/client/client.ts'
import { createHostCheck, createUrlCheck } from '#src/webhooks/client/dns.ts'

export type CustomerUrl = { url: string } | { fault: string }

declare module 'fastify' {
  interface FastifyInstance {
    /** The only HTTP client for customers' URLs. */
    sender: Sender
    /** The normalized URL, or a fault text that does not reveal anything about our network. */
    judgeCustomerUrl(text: string, log: FastifyBaseLogger): Promise<CustomerUrl>
    /** Returns the normalized URL. @throws Problem `malformed` with the fault text */
    readCustomerUrl(text: string, log: FastifyBaseLogger): Promise<string>
  }
}

const fault =
  'The URL must be https, on port 443 or 8443, without user name, password and fragment, and its host must be a name or address that is reachable from the public Internet.'

/** The guarded HTTP client for customers' URLs: sends test events and validates new URLs. */
export default fp<SenderOptions>(
  async function webhookClient(app, options) {
    const sender = createSender(options)
    const judge = createUrlCheck(options.allow, createHostCheck(options))
    app.decorate('sender', sender)
    app.decorate('judgeCustomerUrl', async function judgeCustomerUrl(text, log) {
      const judged = await judge(text)
      if ('url' in judged) return judged
      log.info({ reason: judged.refused }, 'endpoint URL refused')
      return { fault }
    })
    app.decorate('readCustomerUrl', async function readCustomerUrl(text, log) {
      const judged = await app.judgeCustomerUrl(text, log)
      if ('url' in judged) return judged.url
      throw new Problem('malformed', { detail: judged.fault })
    })
    app.addHook('onClose', async function closeSender() {
      await sender.close()
    })
  },
  { name: 'webhook-client', fastify: '5.x' },
)
