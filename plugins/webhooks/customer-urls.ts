import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'
import { createHostCheck, createUrlCheck, type HostCheckOptions } from '#src/webhooks/client/dns.ts'

export type CustomerUrl = { url: string } | { fault: string }

declare module 'fastify' {
  interface FastifyInstance {
    /** The normalized URL, or a fault text that does not reveal anything about our network. */
    judgeCustomerUrl(text: string, log: FastifyBaseLogger): Promise<CustomerUrl>
    /** Returns the normalized URL. @throws Problem `malformed` with the fault text */
    readCustomerUrl(text: string, log: FastifyBaseLogger): Promise<string>
  }
}

const fault =
  'The URL must be https, on port 443 or 8443, without user name, password and fragment, and its host must be a name or address that is reachable from the public Internet.'

/** Judges customers' URLs by their form and the addresses of their host. Only workers call them. */
export default fp<HostCheckOptions>(
  async function customerUrls(app, options) {
    const judge = createUrlCheck(options.allow, createHostCheck(options))
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
  },
  { name: 'customer-urls', fastify: '5.x' },
)
