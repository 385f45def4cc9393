// biome-ignore lint/style/noRestrictedImports: nothing is called; the library wants an answer to put its headers on
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import fp from 'fastify-plugin'
import helmet, { type HelmetOptions } from 'helmet'

/**
 * The headers every answer carries; pages get no script or style but the program's own files.
 * Browsers hold `form-action` against the redirect that follows a form too, so a form that leads to
 * an identity provider needs its origin there. They are the same for every answer, so they are made
 * once.
 */
export default fp<{ https: boolean; formTargets: readonly string[] }>(
  async function securityHeaders(app, { https, formTargets }) {
    const headers = headersOf({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'"],
          formAction: ["'self'", ...formTargets],
          frameAncestors: ["'none'"],
          baseUri: ["'none'"],
        },
      },
      frameguard: { action: 'deny' },
      referrerPolicy: { policy: 'no-referrer' },
      strictTransportSecurity: https ? { maxAge: 31_536_000 } : false,
    })
    app.addHook('onRequest', async function setSecurityHeaders(_request, reply) {
      reply.headers(headers)
    })
  },
  { name: 'security-headers', fastify: '5.x' },
)

/** What helmet puts on an answer. */
function headersOf(options: HelmetOptions) {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet(options)(response.req, response, (fault) => {
    if (fault) throw fault
  })
  return response.getHeaders()
}
