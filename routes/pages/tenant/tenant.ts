import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { requireAssignableRole } from '#src/access/policy.ts'
import { listTenantAudit, tenantAuditList, usersIn } from '#src/audit/list.ts'
import { findTargets } from '#src/audit/targets.ts'
import {
  invitationActions,
  inviteUser,
  listUsers,
  removeUser,
  renameActiveTenant,
  updateShownUser,
} from '#src/auth/members/actions.ts'
import { invitationUrl } from '#src/auth/members/invitation-link.ts'
import {
  invitationList,
  invitationRefusals,
  listInvitations,
  resendInvitation,
} from '#src/auth/members/invitations.ts'
import {
  countMembers,
  findMemberNames,
  findRoleProviders,
  listMembers,
  memberList,
  withMembersLocked,
} from '#src/auth/members/members.ts'
import { findTenant } from '#src/auth/members/tenants.ts'
import { findUsage } from '#src/auth/members/usage.ts'
import type { QuotaConfig } from '#src/config/parse.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { PageQuery, Uuid } from '#src/http/schemas.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import { listPageOf } from '#src/pages/kit/list-page.ts'
import {
  changeForm,
  deletionForm,
  invitationForm,
  nameForm,
  newInvitationPage,
  type TenantNotice,
  tenantPage,
} from '#src/pages/tenant/tenant.ts'

const path = '/app/tenant'
const pageSize = '25'
const auditPageSize = '10'

const list = listPageOf(listUsers.query ?? Type.Object({}), pageSize)
const Query = Type.Object(
  {
    ...doneQuery,
    ...list.filters,
    /** Cursors of the members, the invitations and the audit entries. */
    members: PageQuery.properties.cursor,
    invitations: PageQuery.properties.cursor,
    trail: PageQuery.properties.cursor,
  },
  { additionalProperties: false },
)
const RemoveForm = Type.Object(
  { id: changeForm.schema.properties.id, ...confirmedField },
  { additionalProperties: false },
)
const WithdrawForm = Type.Object({ id: Uuid }, { additionalProperties: false })
const ResendForm = Type.Object(
  { id: Uuid, role: invitationForm.schema.properties.role },
  { additionalProperties: false },
)

type Options = {
  baseUrl: string
  keys: EncryptionKeys
  /** Invitations are mailed; otherwise the page shows their links. */
  mails: boolean
  /** Who cannot accept an invitation; null if everybody can who has the address. */
  obstacle: string | null
  quota: QuotaConfig
}

type App = Parameters<FastifyPluginAsyncTypebox>[0]

const hide = true
const read = { access: { resource: 'user', action: 'read' } } as const
const create = { access: { resource: 'user', action: 'create' } } as const
const destroy = { access: { resource: 'tenant-deletion', action: 'create' } } as const

/** The members page of a tenant and its forms. */
const tenant: FastifyPluginAsyncTypebox<Options> = async function tenant(app, options) {
  const { baseUrl, keys, mails, obstacle } = options
  addPage(app, options)
  addMemberForms(app)
  app.formPage(`${path}/invitations/new`, inviteUser({ baseUrl, keys, queue: app.queue }), {
    ...done(mails ? 'mailed' : 'invited'),
    fields: invitationForm.schema,
    read: ({ fields: { department, ...fields } }) =>
      department === '' ? fields : { ...fields, department },
    async page(request) {
      await request.enter()
      return newInvitationPage({ viewer: request.viewer, mails, obstacle })
    },
  })
  app.post(
    '/app/tenant/invitations/resend',
    { config: create, schema: { hide, body: ResendForm } },
    async (request, reply) => {
      const { tenantEntry, clientInfo, body } = request
      const result = await app.db.write(tenantEntry, (tx, admin) => {
        requireAssignableRole(admin, body.role, null)
        return resendInvitation(tx, app.queue, admin, body, clientInfo)
      })
      if (result === null) throw new Problem('not-found')
      if (result === 'sent-today') return redirect(reply, 'sent-today')
      if (result !== 'sent') throw new Problem('conflict', { detail: invitationRefusals[result] })
      return redirect(reply, mails ? 'resent' : 'renewed')
    },
  )
  const withdrawal = { ...done('withdrawn'), fields: WithdrawForm }
  app.form(`${path}/invitations/withdraw`, invitationActions.withdraw, withdrawal)
  const renaming = { ...done('renamed'), fields: nameForm.schema }
  app.form(`${path}/name`, renameActiveTenant, renaming)
  app.post(
    '/app/tenant/delete',
    { config: destroy, schema: { hide, body: deletionForm.schema } },
    async (request, reply) => {
      const { session } = await reply.deleteActiveTenant(request.body.name)
      return reply.redirect(session === 'ended' ? '/auth/signed-out' : '/', 303)
    },
  )
}

/** The members, the invitations, what the tenant stores and the latest audit entries. */
function addPage(app: App, { baseUrl, keys, mails, quota }: Options) {
  app.get(
    '/app/tenant',
    { config: read, schema: { hide, querystring: Query } },
    async (request, reply) => {
      const { done, members, invitations, trail, ...given } = request.query
      const {
        page: memberPage,
        filter,
        used,
      } = list.read({ ...given, cursor: members }, memberList)
      const invitationPage = readPart(pageSize, invitations, invitationList)
      const auditPage = readPart(auditPageSize, trail, tenantAuditList)
      const shown = await app.db.read(request.tenantEntry, async (tx, caller) => {
        const [tenant, listed, count, invited, audit, usage] = await Promise.all([
          findTenant(tx, caller),
          listMembers(tx, caller, memberPage, filter),
          countMembers(tx, caller, filter),
          listInvitations(tx, caller, invitationPage),
          listTenantAudit(tx, caller, auditPage),
          findUsage(tx, caller, quota),
        ])
        const [targets, names, roleProviders] = await Promise.all([
          findTargets(tx, caller, audit.data),
          findMemberNames(tx, caller, usersIn(audit.data)),
          findRoleProviders(
            tx,
            caller,
            listed.data.map(({ id }) => id),
          ),
        ])
        return {
          name: tenant?.name ?? 'Your tenant',
          members: {
            ...{ ...listed, count, roleProviders, query: list.query, used },
            isLater: members !== undefined,
          },
          invitations: {
            data: invited.data.map((one) => ({
              ...one,
              url: invitationUrl({ baseUrl, keys }, one.id, one.linkHash),
            })),
            nextCursor: invited.nextCursor,
            isLater: invitations !== undefined,
            mails,
          },
          usage,
          audit: {
            ...audit,
            isLater: trail !== undefined,
            targets,
          },
          names,
        }
      })
      return reply.sendPage(tenantPage({ viewer: request.viewer, ...shown, done }))
    },
  )
}

/** Adds the forms that change and remove a member. Both lock the members first. */
function addMemberForms(app: App) {
  const changed = {
    entryOf: ({ tenantEntry, body }: FastifyRequest) =>
      withMembersLocked(tenantEntry, readId(Object(body).id)),
    to: path,
  }
  app.form(`${path}/members/change`, updateShownUser, {
    ...changed,
    notice: 'changed',
    fields: changeForm.schema,
    read({ fields: { role, department, roleBefore, departmentBefore = '' } }) {
      const before = roleBefore !== undefined && {
        before: { role: roleBefore, department: departmentIn(departmentBefore) },
      }
      return { role, department: departmentIn(department), ...before }
    },
  })
  const removal = { ...changed, notice: 'removed', fields: RemoveForm }
  app.form(`${path}/members/remove`, removeUser(app.queue), removal)
}

/** An empty field stands for none. */
function departmentIn(field: string): string | null {
  return field === '' ? null : field
}

function readPart(
  limit: string,
  cursor: string | undefined,
  { name, forms }: { name: string; forms: readonly RegExp[] },
) {
  return readPage({ limit, ...(cursor !== undefined && { cursor }) }, name, forms)
}

function done(notice: TenantNotice) {
  return { entryOf: ({ tenantEntry }: FastifyRequest) => tenantEntry, to: path, notice }
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function redirect(reply: FastifyReply, notice: TenantNotice) {
  return reply.redirect(`${path}?done=${notice}`, 303)
}

export default tenant
