import type { FastifyInstance, FastifyRequest, FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { TSchema } from 'typebox'
import type { Action, ActionInput } from '#src/actions/action.ts'
import type { Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { PageQuery, problems } from '#src/http/schemas.ts'

type Route = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`

/** Where an action is registered: who enters its transaction. */
export type Registration<Caller> = {
  entryOf(request: FastifyRequest): Entry<Caller>
  /** Whether a GET has a HEAD; true by default. */
  readonly head?: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Registers the API route of an action in this scope, whose guards apply to it. */
    api<Caller extends object, Params extends TSchema, Body extends TSchema>(
      route: Route,
      action: Action<Caller, Params, Body>,
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

function routeOf<Caller extends object, Params extends TSchema, Body extends TSchema>(
  app: FastifyInstance,
  route: Route,
  action: Action<Caller, Params, Body>,
  { entryOf, head = true }: Registration<Caller>,
): RouteOptions {
  const [method = '', url = ''] = route.split(' ')
  const { rule, once, versioned, list, lock, status = 200 } = action
  const isRead = method === 'GET'
  return {
    method,
    url,
    ...(isRead && !head && { exposeHeadRoute: false }),
    config: {
      access: rule,
      ...(once !== undefined && { idempotencyKey: once }),
      ...(versioned && { versioned }),
    },
    schema: schemaOf(action),
    async handler(request, reply) {
      const now = app.clock.now()
      const query = request.query as Parameters<typeof readPage>[0]
      // The adapter validated all of it with the schemas of the action.
      const input = {
        params: request.params,
        body: request.body,
        ...(list && { page: readPage(query, list.name, list.forms) }),
      } as ActionInput<Params, Body>
      const work = async (tx: Tx, caller: Caller) => {
        const acting = { tx, by: { ...caller, clientInfo: request.clientInfo }, now }
        if (lock) await reply.ifMatch(() => lock(acting, input.params))
        return action.run(acting, input)
      }
      const entry = entryOf(request)
      const result = await (isRead ? app.db.read(entry, work) : app.db.write(entry, work))
      if (result === null || result === false) throw new Problem('not-found')
      reply.code(status)
      if (status === 201 && typeof result === 'object' && 'id' in result) {
        reply.header('location', `${url}/${result.id}`)
      }
      return reply.send(status === 204 ? null : result)
    },
  }
}

function schemaOf<Caller, Params extends TSchema, Body extends TSchema>(
  action: Action<Caller, Params, Body>,
): FastifySchema {
  const { name, tag, summary, description, params, body, list, result, status = 200 } = action
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(params && { params }),
    ...(list && { querystring: PageQuery }),
    ...(body && { body }),
    response: { [status]: result, ...(action.problems && problems(...action.problems)) },
  }
}
