import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Problem } from 'gatehouse/routes'
import Type from 'typebox'

const Report = Type.Object(
  { authors: Type.Array(Type.Object({ authorId: Type.Integer(), notes: Type.Integer() })) },
  { description: 'How many notes each member has written' },
)

/** For editors and admins alone, although everybody may read notes. */
const report: FastifyPluginAsyncTypebox = async function report(app) {
  app.get(
    '/report',
    {
      config: { access: { resource: 'note', action: 'read' } },
      schema: {
        ...{ operationId: 'getReport', tags: ['notes'], summary: 'Notes by author' },
        ...{ response: { 200: Report } },
      },
    },
    async ({ tenantEntry }) => {
      const authors = await app.db.read(tenantEntry, async (tx, { role, tenantId }) => {
        if (role === 'viewer') throw new Problem('forbidden')
        return tx.sql<{ authorId: number; notes: number }>`
          SELECT author_id AS "authorId", count(*)::int AS notes FROM notes
          WHERE tenant_id = ${tenantId}::uuid AND author_id IS NOT NULL
          GROUP BY author_id ORDER BY author_id`
      })
      return { authors }
    },
  )
}

export default report
