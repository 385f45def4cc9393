import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Caller } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { OptionalLine } from '#src/http/schemas.ts'
import { findNamed, suggestObjects } from '#src/pages/account/find-objects.ts'
import { goPage, suggestions } from '#src/pages/account/go.ts'
import { destinationsFor } from '#src/pages/kit/destinations.ts'
import type { Declared } from '#src/rows/table.ts'

const Search = Type.Object({ q: Type.Optional(OptionalLine(100)) }, { additionalProperties: false })

type Options = { readonly resources: readonly Declared[] }

// Each resource is searched.
const config = { access: { resource: 'account', action: 'read' }, takesTurn: true } as const

/** Finds pages, actions and objects by id and by name. A search with one result leads there. */
const go: FastifyPluginAsyncTypebox<Options> = async function go(app, { resources }) {
  app.get(
    '/app/go',
    { config, schema: { hide: true, querystring: Search } },
    async (request, reply) => {
      const search = (request.query.q ?? '').trim()
      const find = (tx: Tx, caller: Caller) => findNamed(tx, caller, resources, search)
      if (search === '') await request.enter()
      const named = search === '' ? [] : await app.db.read(request.entry, find)
      const { viewer } = request
      const found = [...destinationsFor(viewer, search), ...named]
      const [only, ...others] = found
      if (search !== '' && only !== undefined && others.length === 0) {
        return reply.redirect(only.href, 303)
      }
      return reply.sendPage(goPage(viewer, search, found))
    },
  )
  // What the dialog of Ctrl+K shows while somebody types: links, and no page.
  app.get(
    '/app/go/suggestions',
    { config, schema: { hide: true, querystring: Search }, exposeHeadRoute: false },
    async (request, reply) => {
      const search = (request.query.q ?? '').trim()
      const found = await app.db.read(request.entry, (tx, caller) =>
        suggestObjects(tx, caller, resources, search),
      )
      return reply.type('text/html; charset=utf-8').send(suggestions(found).markup)
    },
  )
}

export default go
