import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { renameTenant } from '#src/auth/members/tenants.ts'
import { Problem } from '#src/http/problems.ts'
import { TenantName, Uuid, UuidParams } from '#src/http/schemas.ts'

const Renamed = Type.Object({ id: Uuid, name: Type.String() }, { title: 'Tenant' })

/** The name of the active tenant. */
const tenantName: FastifyPluginAsyncTypebox = async function tenantName(app) {
  app.patch(
    '/tenants/:id',
    {
      config: {
        idempotencyKey: true,
        versioned: false,
        access: { resource: 'tenant-name', action: 'update' },
      },
      schema: {
        operationId: 'renameTenant',
        tags: ['tenants'],
        summary: 'Rename the active tenant',
        params: UuidParams,
        body: TenantName,
        response: { 200: Renamed },
      },
    },
    async (request) => {
      const { tenantEntry, params, body, clientInfo } = request
      return app.db.write(tenantEntry, async (tx, caller) => {
        const isActive = params.id === caller.tenantId
        const isRenamed = isActive && (await renameTenant(tx, caller, body.name, clientInfo))
        if (!isRenamed) throw new Problem('not-found')
        return { id: params.id, name: body.name }
      })
    },
  )
}

export default tenantName
