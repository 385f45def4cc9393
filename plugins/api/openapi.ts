import swagger from '@fastify/swagger'
import type { FastifyContextConfig, FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import Type from 'typebox'
import { accessOverview, scopeWords } from '#src/access/overview.ts'
import { type CredentialKind, ruleOf } from '#src/access/policy.ts'
import { sessionCookie } from '#src/http/headers/session-cookie.ts'
import { apiVersion } from '#src/http/openapi/api-version.ts'
import { NameTaken, requireDistinctOperations } from '#src/http/openapi/components.ts'
import { finishDescription } from '#src/http/openapi/description.ts'
import type { ApiDescription } from '#src/http/openapi/examples.ts'
import { type ErrorCode, errorCodes, errorTable } from '#src/http/problems.ts'
import { codesOf, ProblemBody, problemOf, withHeader } from '#src/http/schemas.ts'
import { takenByResource } from '#src/resources/kit/distinct.ts'
import { placeIn } from '#src/resources/load-app.ts'
import { appFolder, app as declared } from '#src/resources/running-app.ts'
import { describeWebhooks, eventUnion } from '#src/webhooks/events/describe.ts'
import { eventKinds } from '#src/webhooks/events/kinds.ts'

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
    app.addHook('onRoute', requireWords)
    await app.register(swagger, {
      transform: ({ schema, url, route }) => ({
        schema: {
          ...schema,
          ...accessNotes(schema, route.config),
          ...conditionalRead(schema, route),
          response: responses(schema, route),
        },
        url,
      }),
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Gatehouse',
          description:
            'Sign-in, scoped resources and signed webhooks. The version is the day of the last change that could break a client; every response has it in `API-Version`.',
          version: apiVersion,
          license: { name: 'MIT', identifier: 'MIT' },
        },
        servers: [{ url: baseUrl }],
        components: {
          securitySchemes: {
            session: { type: 'apiKey', in: 'cookie', name: sessionCookie },
            token: {
              type: 'http',
              scheme: 'bearer',
              bearerFormat: 'gth_…, gths_… or gtha_…',
              description:
                'An API token of a member, or a service token of the tenant where the operation names the permission that it needs; for some operations an app token.',
            },
          },
        },
      },
    })
    app.decorate('describeApi', () => {
      // The type of @fastify/swagger is wider than the documents it produces.
      const routes = app.swagger() as unknown as ApiDescription
      try {
        requireDistinctOperations(routes)
        return finishDescription(routes, {
          webhooks: describeWebhooks(eventKinds),
          replacements: { Event: eventUnion(eventKinds) },
        })
      } catch (error) {
        if (!(error instanceof NameTaken)) throw error
        const placeOf = (name: string) => placeIn(appFolder, name)
        throw takenByResource(error.taken, declared.resources, placeOf) ?? error
      }
    })
  },
  { name: 'openapi', fastify: '5.x' },
)

/** @throws if a route of the description has no name for clients, or an answer no words */
function requireWords({ schema, method, url }: RouteOptions): void {
  if (schema?.hide) return
  if (schema?.operationId === undefined)
    throw new Error(`${method} ${url} does not state schema.operationId.`)
  for (const [status, answer] of Object.entries(schema.response ?? {})) {
    if (hasWords(answer)) continue
    throw new Error(
      `${method} ${url}: the schema of the response ${status} has neither a description nor a title.`,
    )
  }
}

function hasWords(answer: unknown): boolean {
  const { description, title } = Object(answer)
  return Boolean(description ?? title) || codesOf(answer).length > 0
}

const bySession = { session: [] }
const byToken = { token: [] }

/** `security`, and for a route with a policy rule its description and `x-access`. */
function accessNotes(
  schema: FastifySchema,
  { access, namesTenant }: FastifyContextConfig = {},
): FastifySchema {
  if (access === undefined || access === 'public' || access === 'signature') return { security: [] }
  const { resource, action } = access
  const rule = ruleOf(access)
  const [row] = rule === null ? [] : accessOverview([rule])
  if (row === undefined) return {}
  const { roles, scope, conditions, tokenPermission, acceptsToken, forApp, forServices } = row
  if (forApp === 'only' || namesTenant) return appNotes(schema, `${resource}:${action}`)
  const who = roles.length === 0 ? 'Operators' : `Roles ${roles.join(', ')}`
  const only = conditions.length === 0 ? '' : `; ${conditions.join('; ')}`
  const limited = tokenPermission === null ? '' : ` A limited token needs \`${tokenPermission}\`.`
  const permission = `${resource}:${action}`
  const needed = forServices === 'always' ? 'no permission' : `\`${permission}\``
  const service = forServices === false ? '' : ` A service token needs ${needed}.`
  const notes = {
    description: [schema.description, `${who}: ${scope}${only}.${limited}${service}`]
      .filter(Boolean)
      .join('\n\n'),
    security: acceptsToken ? [bySession, byToken] : [bySession],
    'x-access': {
      ...{ rule: permission, roles, scope, conditions, tokenPermission },
      servicePermission: forServices === true ? permission : null,
    },
  }
  return notes
}

function appNotes(schema: FastifySchema, permission: string): FastifySchema {
  const notes = {
    description: [schema.description, `An app token needs \`${permission}\`.`]
      .filter(Boolean)
      .join('\n\n'),
    security: [byToken],
    'x-access': {
      ...{
        rule: permission,
        roles: [],
        scope: scopeWords.app,
        conditions: [],
        tokenPermission: null,
      },
      servicePermission: null,
    },
  }
  return notes
}

/**
 * The response schemas, with the problems that follow from access and path, which a route does not
 * state. A problem that is given by its status only is named by its codes.
 */
function responses(schema: FastifySchema, { method, url, config }: RouteOptions): object {
  const stated: Record<string, unknown> = { ...Object(schema.response) }
  for (const status of usualStatuses(url, config?.access)) stated[status] ??= ProblemBody
  const entries = Object.entries(stated).map(([status, response]) => {
    const isProblem = Number(status) >= 400 && Object(response).title === 'Problem'
    const isUnnamed = isProblem && codesOf(response).length === 0
    if (!isUnnamed) return [status, response]
    const codes = usualCodes(Number(status), [method].flat(), config?.access)
    if (codes.length === 0) throw new Error(`${method} ${url}: ${status} needs its codes.`)
    return [status, problemOf(codes)]
  })
  return Object.fromEntries(entries)
}

/** Every route has a rate limit. A route with a rule refuses input, credentials and permissions. */
function usualStatuses(url: string, access: Access): number[] {
  return [
    ...(typeof access === 'object' ? [400, 401, 403] : []),
    ...(url.includes(':') ? [404] : []),
    ...[429, 503],
  ]
}

/** The codes that every route with such access can answer with; none if they depend on the route. */
function usualCodes(status: number, methods: readonly string[], access: Access): ErrorCode[] {
  const all = errorCodes.filter((code) => errorTable[code].status === status)
  if (all.length === 1) return all
  if (status === 400) return ['malformed']
  if (status === 401) {
    return typeof access === 'object' ? ['unauthenticated', 'invalid-token'] : ['unauthenticated']
  }
  if (status !== 403 || typeof access !== 'object') return []
  const rule = ruleOf(access)
  const persons = rule?.forServices !== false ? [] : (['person-required'] as const)
  const plans = (rule?.plans ?? []).length === 0 ? [] : (['plan-required'] as const)
  return ['forbidden', ...persons, ...plans, ...refusedCredentials(methods, rule?.credential)]
}

function refusedCredentials(
  methods: readonly string[],
  credential: CredentialKind | undefined,
): ErrorCode[] {
  return [
    ...(credential === 'any' ? [] : (['session-required'] as const)),
    ...(credential === 'recent-session' ? (['reauthentication-required'] as const) : []),
    ...(methods.includes('GET') ? [] : (['cross-origin'] as const)),
  ]
}

const IfNoneMatch = Type.Optional(
  Type.String({ description: 'The ETag of the object as you know it: 304 if it has not changed' }),
)

/** A read of an object with an ETag. The runtime ignores tags that it does not know. */
function conditionalRead(schema: FastifySchema, { method, config }: RouteOptions): FastifySchema {
  if (!config?.versioned || ![method].flat().includes('GET')) return {}
  return { headers: withHeader(schema.headers, 'if-none-match', IfNoneMatch) }
}
