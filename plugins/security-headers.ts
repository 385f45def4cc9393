import helmet from '@fastify/helmet'
import fp from 'fastify-plugin'

/**
 * The headers every answer carries; pages get no script or style but the program's own files.
 * Browsers hold `form-action` against the redirect that follows a form too, so a form that leads to
 * an identity provider needs its origin there.
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
  },
  { name: 'security-headers', fastify: '5.x' },
)
