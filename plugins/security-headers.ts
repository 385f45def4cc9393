import helmet from '@fastify/helmet'
import fp from 'fastify-plugin'

/** The headers every answer carries; pages get no script or style but the program's own files. */
export default fp<{ https: boolean }>(
  async function securityHeaders(app, { https }) {
    await app.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'"],
          formAction: ["'self'"],
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
