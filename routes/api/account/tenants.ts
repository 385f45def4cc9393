import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { createTenant, listTenants } from '#src/auth/members/actions.ts'
import { leaveTenant } from '#src/auth/members/leave.ts'
import { memberProblem } from '#src/auth/members/members.ts'
import { switchTenant } from '#src/auth/sessions/switch-tenant.ts'
import { withoutLocks } from '#src/db/entry.ts'
import { isForm } from '#src/http/headers/media-type.ts'
import { Problem } from '#src/http/problems.ts'
import { means, NoContent, problems, Uuid, UuidParams } from '#src/http/schemas.ts'

const TenantChoice = Type.Object(
  { tenantId: means(Uuid, 'A tenant that you are a member of, which becomes the active one') },
  { title: 'TenantChoice', additionalProperties: false },
)

/** The caller's tenants: switching between them and leaving one. */
const tenants: FastifyPluginAsyncTypebox = async function tenants(app) {
  const inSession = { entryOf: ({ sessionEntry }: FastifyRequest) => sessionEntry }
  app.api('GET /tenants', listTenants, inSession)
  app.api('POST /tenants', createTenant, inSession)

  app.post(
    '/session/tenant',
    {
      config: { access: { resource: 'tenant', action: 'update' }, acceptsForm: true },
      schema: {
        operationId: 'switchTenant',
        tags: ['tenants'],
        summary: 'Switch the active tenant of your session: 204, or 303 for a form',
        description: 'The session gets a new id, and the previous cookie is no longer valid.',
        body: TenantChoice,
        response: {
          204: NoContent('The tenant is active, and the session has a new id'),
          303: NoContent('For a form: to the page it was sent from'),
          ...problems(404),
        },
      },
    },
    async (request, reply) => {
      const { sessionEntry, session, body, clientInfo } = request
      const newCookieId = await app.db.write(withoutLocks(sessionEntry), (tx) =>
        switchTenant(tx, session.sessionId, body.tenantId, clientInfo),
      )
      if (newCookieId === null) throw new Problem('not-found')
      await request.adoptSession(newCookieId)
      const asForm = isForm(request.headers['content-type'])
      return asForm ? reply.redirect('/', 303) : reply.code(204).send(null)
    },
  )

  app.delete(
    '/tenants/:id/membership',
    {
      config: { access: { resource: 'tenant', action: 'delete' } },
      schema: {
        operationId: 'leaveTenant',
        tags: ['tenants'],
        summary: 'Leave a tenant',
        description:
          'Ends your sessions and API tokens in it, and your open invitations to others. What you wrote for it stays without an author. If it is the active tenant, your session moves to another one of yours under a new id; without another one you are signed out and your user is deleted, with identities and all that you own. The last admin cannot leave (409).',
        params: UuidParams,
        response: { 204: NoContent('You are no member any more'), ...problems('last-admin') },
      },
    },
    async (request, reply) => {
      const { sessionEntry, session, params, clientInfo } = request
      const left = await app.db.write(withoutLocks(sessionEntry), (tx) =>
        leaveTenant(tx, app.queue, session.sessionId, params.id, clientInfo),
      )
      if (typeof left === 'string') throw memberProblem(left)
      await reply.followSession(left)
      return reply.code(204).send(null)
    },
  )
}

export default tenants
