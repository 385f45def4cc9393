import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { roles } from '#src/access/roles.ts'
import { listTenantAudit, tenantAuditList } from '#src/audit/list.ts'
import {
  createInvitation,
  listInvitations,
  withdrawInvitation,
} from '#src/auth/members/invitations.ts'
import {
  changeMember,
  listMembers,
  removeMember,
  toMemberProblem,
} from '#src/auth/members/members.ts'
import { findTenant } from '#src/auth/members/tenants.ts'
import { readPage } from '#src/http/pagination.ts'
import { readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { PageQuery, Uuid } from '#src/http/schemas.ts'
import { type TenantNotice, tenantPage } from '#src/pages/tenant.ts'

const shown = { limit: 100, after: null }
const shownEntries = '10'

const Id = Type.String({ pattern: '^[1-9][0-9]{0,18}$' })
const Role = Type.Enum([...roles])
// An empty field of a form is no department.
const Department = Type.String({ maxLength: 100, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })
const Query = Type.Object(
  {
    done: Type.Optional(Type.String({ maxLength: 64 })),
    /** Where the trail goes on. */
    trail: PageQuery.properties.cursor,
  },
  { additionalProperties: false },
)
const ChangeForm = Type.Object(
  { id: Id, role: Role, department: Department },
  { additionalProperties: false },
)
const RemoveForm = Type.Object({ id: Id }, { additionalProperties: false })
const InvitationForm = Type.Object(
  { email: Type.String({ format: 'email', maxLength: 320 }), role: Role, department: Department },
  { additionalProperties: false },
)
const WithdrawForm = Type.Object({ id: Uuid }, { additionalProperties: false })

/** The people of a tenant as a page, and what its buttons do. */
const tenant: FastifyPluginAsyncTypebox = async function tenant(app) {
  const systemDb = app.systemDb
  const hidden = { hide: true } as const

  app.get(
    '/app/tenant',
    {
      config: { access: { resource: 'user', action: 'read' } },
      schema: { ...hidden, querystring: Query },
    },
    async (request, reply) => {
      const { viewer, tenantScope: scope } = request
      const { userId, tenantId } = scope
      const { done, trail } = request.query
      const part = { limit: shownEntries, ...(trail !== undefined && { cursor: trail }) }
      const page = readPage(part, tenantAuditList.name, tenantAuditList.forms)
      const [{ tenant, members, invitations }, audit] = await Promise.all([
        app.db.read(scope, async (tx) => ({
          tenant: await findTenant(tx, scope),
          members: (await listMembers(tx, scope, shown)).data,
          invitations: (await listInvitations(tx, scope, shown)).data,
        })),
        // The tenant alone is the scope: with the reader in it their own from elsewhere would show.
        app.db.read({ tenantId }, (tx) => listTenantAudit(tx, { tenantId }, page)),
      ])
      return reply.sendPage(
        tenantPage({
          viewer,
          name: tenant?.name ?? 'Your tenant',
          userId,
          members,
          invitations,
          audit: { ...audit, isLater: trail !== undefined },
          done,
        }),
      )
    },
  )

  app.post(
    '/app/tenant/members/change',
    {
      config: { access: { resource: 'user', action: 'update' } },
      schema: { ...hidden, body: ChangeForm },
    },
    async (request, reply) => {
      const { id, role, department } = request.body
      const change = { role, department: department === '' ? null : department }
      const result = await changeMember(
        systemDb,
        request.tenantScope,
        readId(id),
        change,
        request.clientInfo,
      )
      if (typeof result === 'string') throw toMemberProblem(result)
      return done(reply, 'changed')
    },
  )

  app.post(
    '/app/tenant/members/remove',
    {
      config: { access: { resource: 'user', action: 'delete' } },
      schema: { ...hidden, body: RemoveForm },
    },
    async (request, reply) => {
      const id = readId(request.body.id)
      const result = await removeMember(
        systemDb,
        app.queue,
        request.tenantScope,
        id,
        request.clientInfo,
      )
      if (result !== 'removed') throw toMemberProblem(result)
      return done(reply, 'removed')
    },
  )

  app.post(
    '/app/tenant/invitations',
    {
      config: { access: { resource: 'user', action: 'create' } },
      schema: { ...hidden, body: InvitationForm },
    },
    async (request, reply) => {
      const { userId: invitedBy, tenantId } = request.tenantScope
      const { email, role } = request.body
      const department = request.body.department === '' ? null : request.body.department
      const invitation = await createInvitation(
        systemDb,
        { tenantId, email, role, department, invitedBy },
        request.clientInfo,
      )
      if (invitation === 'member') throw toMemberProblem('member-already')
      return done(reply, invitation.acceptedAt === null ? 'invited' : 'joined')
    },
  )

  app.post(
    '/app/tenant/invitations/withdraw',
    {
      config: { access: { resource: 'user', action: 'delete' } },
      schema: { ...hidden, body: WithdrawForm },
    },
    async (request, reply) => {
      const { tenantScope, body } = request
      const withdrawn = await withdrawInvitation(systemDb, tenantScope, body.id, request.clientInfo)
      if (!withdrawn) throw new Problem('not-found')
      return done(reply, 'withdrawn')
    },
  )
}

/** The page again, by GET, so that reloading it does nothing twice. */
function done(reply: FastifyReply, notice: TenantNotice) {
  return reply.redirect(`/app/tenant?done=${notice}`, 303)
}

export default tenant
