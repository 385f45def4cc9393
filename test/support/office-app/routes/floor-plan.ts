import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'

const FloorPlan = Type.Object({ desks: Type.Integer() }, { title: 'FloorPlan' })

/** For people whose plan has the feature, of those who may read desks. */
const floorPlan: FastifyPluginAsyncTypebox = async function floorPlan(app) {
  app.get(
    '/floor-plan',
    {
      config: { access: { resource: 'desk', action: 'read', feature: 'book-ahead' } },
      schema: {
        ...{ operationId: 'getFloorPlan', tags: ['desks'], summary: 'Read the floor plan' },
        response: { 200: FloorPlan },
      },
    },
    async ({ tenantEntry }) => {
      const [row] = await app.db.read(
        tenantEntry,
        (tx, { tenantId }) => tx.sql<{ desks: number }>`
          SELECT count(*)::int AS desks FROM desks WHERE tenant_id = ${tenantId}::uuid`,
      )
      return { desks: row?.desks ?? 0 }
    },
  )
}

export default floorPlan
