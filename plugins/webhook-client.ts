import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'
import { createSender, type Sender, type SenderOptions } from '#src/webhooks/client/client.ts'
import { createHostCheck, createUrlCheck } from '#src/webhooks/client/dns.ts'

export type CustomerUrl = { url: string } | { fault: string }

declare module 'fastify' {
  interface FastifyInstance {
    /** The one client that calls customers' URLs. */
    sender: Sender
    /** The URL as it is kept, or why not, in words that do not say what our network looks like. */
    judgeCustomerUrl(text: string, log: FastifyBaseLogger): Promise<CustomerUrl>
    /** The same for those who cannot go on without it. @throws Refusal with those words */
    readCustomerUrl(text: string, log: FastifyBaseLogger): Promise<string>
  }
}

const fault =
  'The URL must be https, on port 443 or 8443, without user name, password and fragment, and its host must be a name or address that is reachable from the public Internet.'

/** The guarded way to URLs that customers name: for the test button, and to judge them when named. */
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
