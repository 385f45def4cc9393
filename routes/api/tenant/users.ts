import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { requireAssignableRole } from '#src/access/policy.ts'
import { roles } from '#src/access/roles.ts'
import { invitationUrl } from '#src/auth/members/invitation-link.ts'
import { createInvitation, Invitation } from '#src/auth/members/invitations.ts'
import {
  changeMember,
  listMembers,
  memberList,
  removeMember,
  toMemberProblem,
  writeAsAdmin,
} from '#src/auth/members/members.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { SortBy } from '#src/http/lists/query.ts'
import { readId } from '#src/http/params.ts'
import {
  Id,
  IdParams,
  Line,
  NoContent,
  Nullable,
  PageOf,
  PageQuery,
  problems,
  Time,
  UuidParams,
} from '#src/http/schemas.ts'

const Role = Type.Enum([...roles], { title: 'Role' })
const Department = Line(100)

const User = Type.Object(
  {
    id: Id,
    email: Nullable(Type.String()),
    role: Type.String({ description: 'In this tenant' }),
    department: Nullable(Type.String({ description: 'In this tenant' })),
    billingCustomer: Nullable(
      Type.String({
        description:
          'Shown in the user’s own tenant, null elsewhere; operators link it (`PUT /billing/customers/{customer}`)',
      }),
    ),
    createdAt: Type.String({ ...Time, description: 'When the user became a member' }),
  },
  { title: 'User' },
)

const NewUser = Type.Object(
  {
    email: Type.String({ format: 'email', maxLength: 320 }),
    role: Role,
    department: Type.Optional(Department),
  },
  { title: 'NewUser', additionalProperties: false },
)

const CreatedInvitation = Type.Object(
  {
    ...Invitation.properties,
    url: Nullable(
      Type.String({
        description:
          'The link to send to the invited person, with a secret; null if it is mailed to them',
      }),
    ),
  },
  { title: 'CreatedInvitation' },
)

const UserChange = Type.Object(
  {
    role: Type.Optional(Role),
    department: Type.Optional(Nullable(Department)),
  },
  { title: 'UserChange', additionalProperties: false, minProperties: 1 },
)

const MemberQuery = Type.Object(
  {
    ...PageQuery.properties,
    from: Type.Optional(Type.String({ ...Time, description: 'Joined at this time or later' })),
    to: Type.Optional(Type.String({ ...Time, description: 'Joined before this time' })),
    role: Type.Optional(Role),
    department: Type.Optional(Department),
    sort: SortBy('createdAt'),
    search: Type.Optional(
      Type.String({
        ...Line(320),
        description: 'Part of an e-mail, in any case, or the id of a user',
      }),
    ),
  },
  { additionalProperties: false },
)

const tags = ['members']
const lastAdmin = 'The last admin cannot be removed or lose the role (409).'

const page = { querystring: MemberQuery, response: { 200: PageOf(User) } }

/** `mails`: the links of invitations are mailed; otherwise they are in the answers. */
type Options = { baseUrl: string; mails: boolean; keys: EncryptionKeys }

/** The members of a tenant, for its administrators. */
const users: FastifyPluginAsyncTypebox<Options> = async function users(
  app,
  { baseUrl, mails, keys },
) {
  app.get(
    '/users',
    {
      config: { access: { resource: 'user', action: 'read' } },
      schema: {
        operationId: 'listUsers',
        tags,
        summary: 'List the members of your tenant, newest members first',
        description: 'Open invitations are at `GET /invitations`.',
        ...page,
      },
    },
    async (request) => readMembers(request),
  )

  app.post(
    '/users',
    {
      config: { idempotencyKey: true, access: { resource: 'user', action: 'create' } },
      schema: {
        operationId: 'inviteUser',
        tags,
        summary: 'Invite a user to your tenant',
        description:
          'The person who has that e-mail becomes a member when they accept: verified by a provider trusted for it, or with the link, which contains a secret and works once, and a sign-in with that e-mail. Whether such a person exists is not told. With a mail server the link is mailed, and only its recipient has it; otherwise it is `url`. An invitation is valid for 14 days, until it is withdrawn, or until its inviter is no longer an admin; a second one for the same e-mail replaces it. 409 for the e-mail of a member.',
        body: NewUser,
        response: { 201: CreatedInvitation, ...problems('conflict', 'quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { email, role, department = null } = request.body
      const created = await app.db.write(request.tenantEntry, async (tx, caller) => {
        requireAssignableRole(caller, role)
        const { userId: invitedBy, tenantId } = caller
        const invitation = await createInvitation(
          tx,
          { queue: app.queue, keys },
          { tenantId, email, role, department, invitedBy },
          request.clientInfo,
        )
        if (typeof invitation === 'string') return invitation
        const { linkHash, ...shown } = invitation
        return {
          ...shown,
          url: mails ? null : invitationUrl({ baseUrl, keys }, shown.id, linkHash),
        }
      })
      if (typeof created === 'string') throw toMemberProblem(created)
      return reply.code(201).header('location', `/invitations/${created.id}`).send(created)
    },
  )

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

/** The same list for the app, in the tenant that it names. */
export const tenantMembers: FastifyPluginAsyncTypebox = async function tenantMembers(app) {
  app.get(
    '/tenants/:id/members',
    {
      config: { namesTenant: true, access: { resource: 'member', action: 'read' } },
      schema: {
        operationId: 'listTenantMembers',
        tags: ['app'],
        summary: 'List the members of a tenant, newest members first',
        params: UuidParams,
        ...page,
      },
    },
    async (request) => readMembers(request),
  )
}

async function readMembers(request: FastifyRequest<{ Querystring: Static<typeof MemberQuery> }>) {
  const { server, query, tenantPrincipalEntry } = request
  const { page, filter } = readList(query, memberList)
  return server.db.read(tenantPrincipalEntry, (tx, caller) => listMembers(tx, caller, page, filter))
}

export default users
