import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { OptionalLine } from '#src/http/schemas.ts'
import { goPage } from '#src/pages/account/go.ts'
import { destinationsFor } from '#src/pages/kit/destinations.ts'

const Search = Type.Object({ q: Type.Optional(OptionalLine(100)) }, { additionalProperties: false })

/** Finds pages, actions and objects by id. A search with one result leads there. */
const go: FastifyPluginAsyncTypebox = async function go(app) {
  app.get(
    '/app/go',
    {
      config: { access: { resource: 'account', action: 'read' } },
      schema: { hide: true, querystring: Search },
    },
    async (request, reply) => {
      await request.enter()
      const { viewer } = request
      const search = (request.query.q ?? '').trim()
      const found = destinationsFor(viewer, search)
      const [only, ...others] = found
      if (search !== '' && only !== undefined && others.length === 0) {
        return reply.redirect(only.href, 303)
      }
      return reply.sendPage(goPage(viewer, search, found))
    },
  )
}

export default go
