import swagger from '@fastify/swagger'
import fp from 'fastify-plugin'

/** Collects the schemas of the routes into one OpenAPI description. */
export default fp<{ baseUrl: string }>(
  async function openapi(app, { baseUrl }) {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Gatehouse',
          description: 'Sign-in, scoped resources and signed webhooks.',
          version: '0.1.0',
        },
        servers: [{ url: baseUrl }],
        components: {
          securitySchemes: {
            session: { type: 'apiKey', in: 'cookie', name: 'sid' },
            token: { type: 'http', scheme: 'bearer', bearerFormat: 'gth_…' },
          },
        },
      },
    })
  },
  { name: 'openapi', fastify: '5.x' },
)
