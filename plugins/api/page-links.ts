import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { pageLinks, toPageCursors } from '#src/http/headers/page-links.ts'

/**
 * `Link` (RFC 8288) on every page of a list: the URLs of the first, the next and the previous page,
 * with the same filters.
 */
export default fp(
  async function pageLinks(app) {
    app.addHook('onRoute', function linkList(route: RouteOptions) {
      const { properties = {} } = Object(Object(route.schema?.response)[200])
      if (!Object.hasOwn(properties, 'nextCursor')) return
      route.preSerialization = [...[route.preSerialization ?? []].flat(), linkPages]
    })
  },
  { name: 'page-links', fastify: '5.x' },
)

function linkPages(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  const cursors = toPageCursors(payload)
  if (cursors !== null) {
    reply.header('link', pageLinks(request.url, cursors, cursorParameter(request)))
  }
  done(null, payload)
}

/** A feed is read with `after`, a list with `cursor`. */
function cursorParameter({ routeOptions }: FastifyRequest): 'after' | 'cursor' {
  const { properties = {} } = Object(routeOptions.schema?.querystring)
  return Object.hasOwn(properties, 'after') ? 'after' : 'cursor'
}
