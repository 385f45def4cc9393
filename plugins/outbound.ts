import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { Refusal } from '#src/errors.ts'
import { createHostCheck } from '#src/outbound/host-check.ts'
import { createSender, type Sender, type SenderOptions } from '#src/outbound/send.ts'
import { createUrlJudge } from '#src/outbound/url-judge.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The one client that calls customers' URLs. */
    sender: Sender
    /** The URL as it is kept. @throws Refusal that does not say what our network looks like */
    readCustomerUrl(text: string, log: FastifyBaseLogger): Promise<string>
  }
}

const detail =
  'The URL must be https, on port 443 or 8443, without user name, password and fragment, and its host must be a name or address that is reachable from the public Internet.'

/** The guarded way to URLs that customers name: for the test button, and to judge them when named. */
export default fp<SenderOptions>(
  async function outbound(app, options) {
    const sender = createSender(options)
    const judge = createUrlJudge(options.allow, createHostCheck(options))
    app.decorate('sender', sender)
    app.decorate('readCustomerUrl', async function readCustomerUrl(text, log) {
      const judged = await judge(text)
      if ('url' in judged) return judged.url
      log.info({ reason: judged.refused }, 'endpoint URL refused')
      throw new Refusal('malformed', { detail })
    })
    app.addHook('onClose', async function closeSender() {
      await sender.close()
    })
  },
  { name: 'outbound', fastify: '5.x' },
)
