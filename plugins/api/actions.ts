import type { FastifyInstance, FastifyRequest, FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { TSchema } from 'typebox'
import { type Action, type ActionInput, refusalOf } from '#src/actions/action.ts'
import type { Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { PageQuery, problems } from '#src/http/schemas.ts'

type Route = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`

/** Where an action is registered: who enters its transaction. */
export type Registration<Caller> = {
  entryOf(request: FastifyRequest): Entry<Caller>
  /** Whether a GET has a HEAD; true by default. */
  readonly head?: boolean
  /** Whether the parameter `id` is the tenant in which the app acts. */
  readonly namesTenant?: true
  /** Whether the path names a person, so that no log has it. */
  readonly personalPath?: true
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Registers the API route of an action in this scope, whose guards apply to it. */
    api<Caller extends object, Params extends TSchema, Body extends TSchema, Query extends TSchema>(
      route: Route,
      action: Action<Caller, Params, Body, Query>,
      registration: Registration<Caller>,
    ): void
  }
}

/** `app.api`: the adapter from a declared action to its route. It knows no action. */
export default fp(
  async function actions(app) {
    app.decorate('api', function (route, action, registration) {
      this.route(routeOf(this, route, action, registration))
    })
  },
  { name: 'actions', fastify: '5.x', dependencies: ['idempotency', 'preconditions'] },
)

function routeOf<
  Caller extends object,
  Params extends TSchema,
  Body extends TSchema,
  Query extends TSchema,
>(
  app: FastifyInstance,
  route: Route,
  action: Action<Caller, Params, Body, Query>,
  { entryOf, head = true, namesTenant, personalPath }: Registration<Caller>,
): RouteOptions {
  const [method = '', url = ''] = route.split(' ')
  const { rule, once, versioned, lock, prepare, status = 200 } = action
  const isRead = method === 'GET'
  return {
    method,
    url,
    ...(isRead && !head && { exposeHeadRoute: false }),
    config: {
      access: rule,
      ...(once !== undefined && { idempotencyKey: once }),
      ...(versioned !== undefined && { versioned }),
      ...(lock !== undefined && { comparesMatch: true as const }),
      ...(namesTenant && { namesTenant }),
      ...(personalPath && { personalPath }),
    },
    schema: schemaOf(action),
    async handler(request, reply) {
      const now = app.clock.now()
      const given = inputOf(request, action)
      const outside = { readUrl: (text: string) => app.readCustomerUrl(text, request.log) }
      const input = prepare ? { ...given, body: await prepare(given.body, outside) } : given
      const work = async (tx: Tx, caller: Caller) => {
        const acting = { tx, by: { ...caller, clientInfo: request.clientInfo }, now }
        if (lock) await reply.ifMatch(() => lock(acting, input.params))
        return action.run(acting, input)
      }
      const entry = entryOf(request)
      const result = await (isRead ? app.db.read(entry, work) : app.db.write(entry, work))
      if (result === null || result === false) throw new Problem('not-found')
      if (typeof result === 'string') throw refusalOf(action, result)
      reply.code(status)
      const location = locationOf(request, action, result)
      if (location !== undefined) reply.header('location', location)
      return reply.send(status === 204 ? null : result)
    },
  }
}

/** What the request asks for, which the schemas of the action have validated. */
function inputOf<Caller, Params extends TSchema, Body extends TSchema, Query extends TSchema>(
  { params, body, query }: FastifyRequest,
  { list }: Action<Caller, Params, Body, Query>,
) {
  const page = list && readPage(query as Parameters<typeof readPage>[0], list.name, list.forms)
  return { params, body, query, ...(page && { page }) } as ActionInput<Params, Body, Query>
}

/** The path of a new object: what the action says, or its list with the parameters of the request, and its id. */
function locationOf(
  { routeOptions, params }: FastifyRequest,
  { status, location }: Pick<Action<never>, 'status' | 'location'>,
  result: object | true,
): string | undefined {
  if (result === true) return undefined
  if (location !== undefined) return location(result) ?? undefined
  if (status !== 201 || !('id' in result)) return undefined
  const list = routeOptions.url?.replaceAll(/:(\w+)/g, (_, name) => Object(params)[name])
  return `${list}/${result.id}`
}

function schemaOf<Caller, Params extends TSchema, Body extends TSchema, Query extends TSchema>(
  action: Action<Caller, Params, Body, Query>,
): FastifySchema {
  const { name, tag, summary, description, params, body, list, result, status = 200 } = action
  const query = list ? PageQuery : action.query
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
    response: { [status]: result, ...(action.problems && problems(...action.problems)) },
  }
}
