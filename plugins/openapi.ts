import swagger from '@fastify/swagger'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { accessOverview } from '#src/access/overview.ts'
import { finishDescription } from '#src/http/openapi.ts'
import type { ApiDescription } from '#src/http/openapi-examples.ts'
import { ProblemBody } from '#src/http/schemas.ts'
import { sessionCookie } from '#src/http/session-cookie.ts'
import { version } from '#src/runtime/assets.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The complete OpenAPI description. Call it only after `ready()`. */
    describeApi(): ApiDescription
  }
}

type Access = FastifyContextConfig['access']

/**
 * Collects the route schemas into one OpenAPI description. Its access notes are derived from each
 * route's `config.access` and the policy, so they cannot differ from what is enforced.
 */
export default fp<{ baseUrl: string }>(
  async function openapi(app, { baseUrl }) {
    await app.register(swagger, {
      transform: ({ schema, url, route }) => ({
        schema: { ...schema, ...accessNotes(schema, route.config?.access) },
        url,
      }),
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Gatehouse',
          description: 'Sign-in, scoped resources and signed webhooks.',
          version,
          license: { name: 'MIT', identifier: 'MIT' },
        },
        servers: [{ url: baseUrl }],
        components: {
          securitySchemes: {
            session: { type: 'apiKey', in: 'cookie', name: sessionCookie },
            token: { type: 'http', scheme: 'bearer', bearerFormat: 'gth_…' },
          },
        },
      },
    })
    app.decorate('describeApi', () =>
      // The type of @fastify/swagger is wider than the documents it produces.
      finishDescription(app.swagger() as unknown as ApiDescription, ProblemBody),
    )
  },
  { name: 'openapi', fastify: '5.x' },
)

const bySession = { session: [] }
const byToken = { token: [] }

/** `security`, and for a route with a policy rule its description and `x-access`. */
function accessNotes(schema: FastifySchema, access: Access): FastifySchema {
  if (access === undefined || access === 'public' || access === 'signature') return { security: [] }
  const { resource, action } = access
  const row = accessOverview().find((one) => one.resource === resource && one.action === action)
  if (row === undefined) return {}
  const { roles, scope, conditions, tokenPermission, acceptsToken } = row
  const who = roles.length === 0 ? 'Operators' : `Roles ${roles.join(', ')}`
  const only = conditions.length === 0 ? '' : `; ${conditions.join('; ')}`
  const limited = tokenPermission === null ? '' : ` A limited token needs \`${tokenPermission}\`.`
  const notes = {
    description: [schema.description, `${who}: ${scope}${only}.${limited}`]
      .filter(Boolean)
      .join('\n\n'),
    security: acceptsToken ? [bySession, byToken] : [bySession],
    'x-access': { rule: `${resource}:${action}`, roles, scope, conditions, tokenPermission },
  }
  return notes
}
