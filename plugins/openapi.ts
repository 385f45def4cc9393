import swagger from '@fastify/swagger'
import fp from 'fastify-plugin'
import type { ApiDescription } from '#src/api/description.ts'
import { finishDescription } from '#src/api/finish.ts'
import { Problem } from '#src/shapes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The whole description; only once the server is ready. */
    describeApi(): ApiDescription
  }
}

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
          license: { name: 'MIT', identifier: 'MIT' },
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
    app.decorate('describeApi', () =>
      // The library's own type is wider than what it writes.
      finishDescription(app.swagger() as unknown as ApiDescription, Problem),
    )
  },
  { name: 'openapi', fastify: '5.x' },
)
