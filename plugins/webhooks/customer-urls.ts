import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'
import { createHostCheck, createUrlCheck, type HostCheckOptions } from '#src/webhooks/client/dns.ts'
import { localPairOf, maxUrlLength, type UrlRefusal } from '#src/webhooks/client/url.ts'

/** `rule` completes “The URL …”; `fault` is the whole text for the customer. */
export type CustomerUrl = { url: string } | { rule: string; fault: string }

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The normalized URL, or the rule that it broke, which reveals nothing about our network. Outside production a
     * URL of the developer's own machine also gets the setting that allows it.
     */
    judgeCustomerUrl(text: string, log: FastifyBaseLogger): Promise<CustomerUrl>
    /** Returns the normalized URL of `/url` in the body. @throws Problem `malformed` with the fault text */
    readCustomerUrl(text: string, log: FastifyBaseLogger): Promise<string>
  }
}

/** What the form of a URL has to be, by the rule that it broke. */
const rules: Readonly<Record<Exclude<UrlRefusal, 'name' | 'address'>, string>> = {
  malformed: 'must be an absolute URL without spaces, such as https://app.example.com/webhooks',
  'too-long': `must have at most ${maxUrlLength} characters`,
  scheme: 'must start with https://',
  credentials: 'must not have a user name or password',
  fragment: 'must not have a fragment (#…)',
  port: 'must have port 443 or 8443',
}

/** One text for every host that is refused: another for each reason would describe our network. */
const unreachable = 'must have a host that is reachable from the public Internet'

/** Customers read it, so it is for development only: settings are the operator's. */
function adviceFor(text: string, allow: readonly string[]): string {
  const pair = localPairOf(text)
  return pair === null || allow.includes(pair)
    ? ''
    : ` To reach this receiver of your own machine in development, start Gatehouse again with OUTBOUND_ALLOW=${pair}.`
}

/** `production`: a refusal names no setting. */
type Options = HostCheckOptions & { production: boolean }

/** Judges customers' URLs by their form and the addresses of their host. Only workers call them. */
export default fp<Options>(
  async function customerUrls(app, options) {
    const judge = createUrlCheck(options.allow, createHostCheck(options))
    app.decorate('judgeCustomerUrl', async function judgeCustomerUrl(text, log) {
      const judged = await judge(text)
      if ('url' in judged) return judged
      log.info({ reason: judged.refused }, 'endpoint URL refused')
      const broken = Object.entries(rules).find(([refusal]) => refusal === judged.refused)
      const rule = broken?.[1] ?? unreachable
      return {
        rule,
        fault: `The URL ${rule}.${options.production ? '' : adviceFor(text, options.allow)}`,
      }
    })
    app.decorate('readCustomerUrl', async function readCustomerUrl(text, log) {
      const judged = await app.judgeCustomerUrl(text, log)
      if ('url' in judged) return judged.url
      const { fault, rule } = judged
      throw new Problem('malformed', {
        detail: fault,
        fields: [{ in: 'body', pointer: '/url', detail: rule }],
      })
    })
  },
  { name: 'customer-urls', fastify: '5.x' },
)
