import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { auditActions } from '#src/auth/audit-actions.ts'
import {
  getUsage,
  invitationActions,
  inviteUser,
  listTenantMembers,
  listUsers,
  removeUser,
  renameTenant,
  updateUser,
} from '#src/auth/members/actions.ts'
import { withMembersLocked } from '#src/auth/members/members.ts'
import type { QuotaConfig } from '#src/config/parse.ts'
import { readId } from '#src/http/params.ts'

type Options = Omit<Parameters<typeof inviteUser>[0], 'queue'>

const principal = { entryOf: (request: FastifyRequest) => request.tenantPrincipalEntry }
const member = { entryOf: (request: FastifyRequest) => request.tenantEntry }
const changed = {
  entryOf: ({ tenantEntry, params }: FastifyRequest) =>
    withMembersLocked(tenantEntry, readId(Object(params).id)),
}

/** The members of a tenant, for its administrators. */
const users: FastifyPluginAsyncTypebox<Options> = async function users(app, options) {
  app.api('GET /users', listUsers, principal)
  app.api('POST /users', inviteUser({ ...options, queue: app.queue }), member)

  app.api('PATCH /users/:id', updateUser, changed)
  app.api('DELETE /users/:id', removeUser(app.queue), changed)
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

/** What a tenant stores, for its administrators. */
export const usage: FastifyPluginAsyncTypebox<{ quota: QuotaConfig }> = async function usage(
  app,
  { quota },
) {
  app.api('GET /usage', getUsage(quota), principal)
}

export default users
