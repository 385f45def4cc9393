import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import Fastify, { type FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { apiVersion } from '#src/http/openapi/api-version.ts'

type Headers = ReturnType<FastifyReply['raw']['getHeaders']>

declare module 'fastify' {
  interface FastifyInstance {
    /** Forms of the pages may lead to the origin of this provider's page from now on. */
    allowFormTarget(provider: string, origin: string): void
  }
}

/**
 * Security headers, the request id and the version of the API on every response. Caches store nothing unless
 * a route allows it. The content security policy allows only the program's own scripts, style sheets and
 * images: files, nothing inside a page. Browsers also apply `form-action` to redirects after a form
 * submission, so it lists the origins of the identity providers' pages that a form redirects to: the
 * origins of their issuers, and for each provider the one that its metadata last named.
 */
export default fp<{ https: boolean; formTargets: readonly string[] }>(
  async function securityHeaders(app, { https, formTargets }) {
    const secure = await headersOf({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'"],
          formAction: ["'self'", ...formTargets],
          frameAncestors: ["'none'"],
          baseUri: ["'none'"],
        },
      },
      frameguard: { action: 'deny' },
      // With `no-referrer` browsers would send `Origin: null` with our own forms, which the
      // same-origin rule (plugins/access/credential.ts) refuses where Sec-Fetch-Site is missing.
      referrerPolicy: { policy: 'same-origin' },
      strictTransportSecurity: https ? { maxAge: 31_536_000 } : false,
    })
    const headers: Headers = { ...secure, 'cache-control': 'no-store', 'api-version': apiVersion }
    const policy = String(headers['content-security-policy'])
    const pages = new Map<string, string>()
    app.decorate('allowFormTarget', (provider, origin) => {
      pages.set(provider, origin)
      const others = [...new Set(pages.values()).difference(new Set(formTargets))]
      const targets = ["'self'", ...others].join(' ')
      headers['content-security-policy'] = policy.replace(
        `form-action 'self'`,
        `form-action ${targets}`,
      )
    })
    if (app.hasDecorator('addParserHeaders')) app.addParserHeaders(() => toText(headers))
    app.addHook('onRequest', function setSecurityHeaders({ id }, reply, done) {
      reply.headers(headers).header('x-request-id', id)
      done()
    })
  },
  { name: 'security-headers', fastify: '5.x' },
)

function toText(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/**
 * The headers that helmet sets, which are the same for every response. Registered in the program
 * itself it would compose the policy for every request, a fifth of what a read allocates.
 */
async function headersOf(options: FastifyHelmetOptions): Promise<Headers> {
  const app = Fastify()
  await app.register(helmet, options)
  let headers: Headers = {}
  app.addHook('onSend', async (_request, reply) => {
    headers = { ...reply.raw.getHeaders() }
  })
  await app.inject('/')
  await app.close()
  return headers
}
