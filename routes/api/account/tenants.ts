import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { managingRole } from '#src/access/roles.ts'
import { leaveTenant } from '#src/auth/members/leave.ts'
import { toMemberProblem } from '#src/auth/members/members.ts'
import { createTenant, listMemberships, tenantList } from '#src/auth/members/tenants.ts'
import { switchTenant } from '#src/auth/sessions/switch-tenant.ts'
import { withoutLocks } from '#src/db/entry.ts'
import { isForm } from '#src/http/headers/media-type.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import {
  NoContent,
  PageOf,
  PageQuery,
  problems,
  TenantName,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'

const Membership = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    role: Type.String(),
    active: Type.Boolean({ description: 'Whether it is the active tenant of this session' }),
  },
  { title: 'Membership' },
)

const TenantChoice = Type.Object(
  { tenantId: Uuid },
  { title: 'TenantChoice', additionalProperties: false },
)

/** The caller's tenants: switching between them and leaving one. */
const tenants: FastifyPluginAsyncTypebox = async function tenants(app) {
  app.get(
    '/tenants',
    {
      config: { access: { resource: 'tenant', action: 'read' } },
      schema: {
        operationId: 'listTenants',
        tags: ['tenants'],
        summary: 'List the tenants you are a member of, by name',
        querystring: PageQuery,
        response: { 200: PageOf(Membership) },
      },
    },
    async (request) => {
      const page = readPage(request.query, tenantList.name, tenantList.forms)
      return app.db.read(request.sessionEntry, (tx, caller) =>
        listMemberships(tx, caller, caller.tenantId, page),
      )
    },
  )

  app.post(
    '/tenants',
    {
      config: { idempotencyKey: true, access: { resource: 'tenant', action: 'create' } },
      schema: {
        operationId: 'createTenant',
        tags: ['tenants'],
        summary: 'Create a tenant with you as its admin',
        description:
          'It is not the active tenant of your session; `POST /session/tenant` switches to it. A member of a hundred tenants cannot create another (409).',
        body: TenantName,
        response: { 201: Membership, ...problems('too-many-tenants') },
      },
    },
    async (request, reply) => {
      const { sessionEntry, body, clientInfo } = request
      const created = await app.db.write(sessionEntry, async (tx, caller) => {
        const id = await createTenant(tx, caller, body.name, clientInfo)
        if (id === null) throw new Problem('too-many-tenants')
        return { id, name: body.name, role: managingRole, active: false }
      })
      return reply.code(201).send(created)
    },
  )

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
      if (typeof left === 'string') throw toMemberProblem(left)
      await reply.followSession(left)
      return reply.code(204).send(null)
    },
  )
}

export default tenants
