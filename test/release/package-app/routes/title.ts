import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actionsOf, found, IdParams, readId } from 'gatehouse/routes'
import Type from 'typebox'
import { notes } from '../note.ts'

const { find } = actionsOf(notes)

const Title = Type.Object({ title: Type.String() }, { description: 'The title' })

/** The title of a note alone. */
const title: FastifyPluginAsyncTypebox = async function title(app) {
  app.get(
    '/notes/:id/title',
    {
      config: { access: { resource: 'note', action: 'read' } },
      schema: {
        ...{ operationId: 'getTitle', tags: ['notes'], summary: 'Get the title of a note' },
        ...{ params: IdParams, response: { 200: Title } },
      },
    },
    async ({ tenantEntry, params }) => {
      const note = found(await app.db.read(tenantEntry, find(readId(params.id))))
      return { title: note.title }
    },
  )
}

export default title
