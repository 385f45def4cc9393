import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { actionsOf } from '#src/domain/actions.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { CursorQuery, IdParams } from '#src/http/schemas.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import { documentForm, documentListPage, documentPage } from '#src/pages/resources/documents.ts'
import { isNewer, newerVersionText, withLineFeeds } from '#src/pages/resources/posts.ts'
import { documents as declared } from '#src/resources/documents.ts'

const { change, find, list, listing, lock } = actionsOf(declared)
const pageSize = '25'
const DoneQuery = Type.Object(doneQuery, { additionalProperties: false })

const hide = true
const config = { access: { resource: 'document', action: 'read' } } as const

/** Pages of the documents in the folders of the viewer's teams. */
const documents: FastifyPluginAsyncTypebox = async function documents(app) {
  app.get(
    '/app/documents',
    { config, schema: { hide, querystring: CursorQuery } },
    async (request, reply) => {
      const part = { limit: pageSize, ...request.query }
      const page = readPage(part, listing.name, listing.forms)
      const { data, ...cursors } = await app.db.read(request.tenantEntry, (tx, caller) =>
        list(tx, caller, page),
      )
      return reply.sendPage(documentListPage(data, cursors, request.viewer))
    },
  )
  app.get(
    '/app/documents/:id',
    { config, schema: { hide, params: IdParams, querystring: DoneQuery } },
    async (request, reply) => {
      const changed = request.query.done === 'changed'
      return sendDocument(request, reply, changed)
    },
  )
  app.post(
    '/app/documents/:id',
    {
      config: { access: { resource: 'document', action: 'update' } },
      schema: { hide, params: IdParams, body: documentForm.schema },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const { version, title, body } = request.body
      const text = { title, body: withLineFeeds(body) }
      const now = app.clock.now()
      const isSaved = await app.db.write(request.tenantEntry, async (tx, caller) => {
        const document = found(await lock(tx, caller, id))
        if (isNewer(document, version)) return false
        await change({ tx, caller, now }, id, text)
        return true
      })
      if (isSaved) return reply.redirect(`/app/documents/${id}?done=changed`, 303)
      request.showAgain(text, { reason: newerVersionText('document') })
      return sendDocument(request, reply.code(412), false)
    },
  )
}

async function sendDocument(
  request: FastifyRequest<{ Params: Static<typeof IdParams> }>,
  reply: FastifyReply,
  changed: boolean,
) {
  const { server, params, tenantEntry } = request
  const document = found(await server.db.read(tenantEntry, find(readId(params.id))))
  return reply.sendPage(documentPage({ viewer: request.viewer, document, changed }))
}

export default documents
