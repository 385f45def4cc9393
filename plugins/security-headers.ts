import helmet from '@fastify/helmet'
import fp from 'fastify-plugin'

/**
 * Security headers on every response. Nothing is stored by caches unless a route allows it. The content security policy allows only the program's own
 * style sheets and images, and no scripts. Browsers also apply `form-action` to redirects after a
 * form submission, so it lists the origins of the identity providers that a form redirects to.
 */
export default fp<{ https: boolean; formTargets: readonly string[] }>(
  async function securityHeaders(app, { https, formTargets }) {
    await app.register(helmet, {
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
    app.addHook('onRequest', function forbidStoring(_request, reply, done) {
      reply.header('cache-control', 'no-store')
      done()
    })
  },
  { name: 'security-headers', fastify: '5.x' },
)
