import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { requireAssignableRole } from '#src/access/policy.ts'
import { auditActions } from '#src/auth/audit-actions.ts'
import {
  Department,
  invitationActions,
  inviteUser,
  listTenantMembers,
  listUsers,
  Role,
  renameTenant,
  User,
} from '#src/auth/members/actions.ts'
import {
  changeMember,
  removeMember,
  toMemberProblem,
  writeAsAdmin,
} from '#src/auth/members/members.ts'
import { readId } from '#src/http/params.ts'
import { IdParams, NoContent, Nullable, problems } from '#src/http/schemas.ts'

const UserChange = Type.Object(
  {
    role: Type.Optional(Role),
    department: Type.Optional(Nullable(Department)),
  },
  { title: 'UserChange', additionalProperties: false, minProperties: 1 },
)

const tags = ['members']
const lastAdmin = 'The last admin cannot be removed or lose the role (409).'

type Options = Omit<Parameters<typeof inviteUser>[0], 'queue'>

const principal = { entryOf: (request: FastifyRequest) => request.tenantPrincipalEntry }
const member = { entryOf: (request: FastifyRequest) => request.tenantEntry }

/** The members of a tenant, for its administrators. */
const users: FastifyPluginAsyncTypebox<Options> = async function users(app, options) {
  app.api('GET /users', listUsers, principal)
  app.api('POST /users', inviteUser({ ...options, queue: app.queue }), member)

  app.patch(
    '/users/:id',
    {
      config: {
        idempotencyKey: true,
        versioned: false,
        access: { resource: 'user', action: 'update' },
      },
      schema: {
        operationId: 'updateUser',
        tags,
        summary: 'Change a member of your tenant; it applies from their next request',
        description: `\`role\` and \`department\` apply to your tenant only. The open invitations of an admin who loses the role end. ${lastAdmin}`,
        params: IdParams,
        body: UserChange,
        response: { 200: User, ...problems('last-admin') },
      },
    },
    async (request) => {
      const id = readId(request.params.id)
      const { tenantEntry, body, clientInfo } = request
      const result = await writeAsAdmin(app.db, tenantEntry, id, (tx, admin) => {
        if (body.role !== undefined) requireAssignableRole(admin, body.role)
        return changeMember(tx, admin, id, body, clientInfo)
      })
      if (typeof result === 'string') throw toMemberProblem(result)
      return result
    },
  )

  app.delete(
    '/users/:id',
    {
      config: { access: { resource: 'user', action: 'delete' } },
      schema: {
        operationId: 'removeUser',
        tags,
        summary: 'Remove a member from your tenant',
        description: `Ends their sessions and API tokens in it, and their open invitations. What they wrote for the tenant stays without an author. A user without any membership left is deleted, with identities and all that they own. ${lastAdmin}`,
        params: IdParams,
        response: { 204: NoContent('The user is no member any more'), ...problems('last-admin') },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const { tenantEntry, clientInfo } = request
      const result = await writeAsAdmin(app.db, tenantEntry, id, (tx, admin) =>
        removeMember(tx, app.queue, admin, id, clientInfo),
      )
      if (result !== 'removed') throw toMemberProblem(result)
      return reply.code(204).send(null)
    },
  )
}

/** The members of a tenant that the app names. */
export const tenantMembers: FastifyPluginAsyncTypebox = async function tenantMembers(app) {
  app.api('GET /tenants/:id/members', listTenantMembers, { ...principal, namesTenant: true })
}

/** Open invitations of a tenant. `POST /users` creates them. */
export const invitations: FastifyPluginAsyncTypebox = async function invitations(app) {
  app.api('GET /invitations', invitationActions.list, principal)
  app.api('DELETE /invitations/:id', invitationActions.withdraw, member)
}

/** The audit log of a tenant, for its administrators. */
export const audit: FastifyPluginAsyncTypebox = async function tenantAudit(app) {
  app.api('GET /audit', auditActions.tenant, principal)
}

/** The name of the active tenant. */
export const tenantName: FastifyPluginAsyncTypebox = async function tenantName(app) {
  app.api('PATCH /tenants/:id', renameTenant, member)
}

export default users
