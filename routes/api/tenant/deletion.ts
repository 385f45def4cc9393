import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { NoContent, problems, Text } from '#src/http/schemas.ts'

const TenantName = Type.Object(
  { name: Text(200, 'The exact name of the active tenant, as a confirmation') },
  { title: 'TenantDeletion', additionalProperties: false },
)

/** Deleting the caller's tenant. */
const tenantDeletion: FastifyPluginAsyncTypebox = async function tenantDeletion(app) {
  app.post(
    '/session/tenant/delete',
    {
      config: { idempotencyKey: false, access: { resource: 'tenant-deletion', action: 'create' } },
      schema: {
        operationId: 'deleteTenant',
        tags: ['tenants'],
        summary: 'Delete the active tenant of your session',
        description:
          'Requires its exact name (409 `/docs/errors/confirmation-mismatch` for another one), and a sign-in or re-authentication within the last five minutes. All access to the tenant ends at once and nothing is sent from it any more; its data, events, deliveries and jobs are deleted within minutes. Members without another tenant are deleted with their accounts. Your session moves to another tenant of yours under a new id; without another one you are signed out and your account is deleted too.',
        body: TenantName,
        response: { 204: NoContent('The tenant is deleted'), ...problems('confirmation-mismatch') },
      },
    },
    async (request, reply) => {
      await reply.deleteActiveTenant(request.body.name)
      return reply.code(204).send(null)
    },
  )
}

export default tenantDeletion
