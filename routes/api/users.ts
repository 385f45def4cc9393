import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { roles } from '#src/access/roles.ts'
import { createInvitation, Invitation } from '#src/auth/members/invitations.ts'
import {
  changeMember,
  listMembers,
  memberList,
  removeMember,
  toMemberProblem,
} from '#src/auth/members/members.ts'
import { readPage } from '#src/http/pagination.ts'
import { readId } from '#src/http/params.ts'
import {
  Id,
  IdParams,
  Line,
  Nullable,
  PageOf,
  PageQuery,
  problems,
  Time,
} from '#src/http/schemas.ts'

const Role = Type.Enum([...roles])
const Department = Line(100)

const User = Type.Object({
  id: Id,
  email: Nullable(Type.String()),
  role: Type.String({ description: 'In your tenant' }),
  department: Nullable(Type.String({ description: 'In your tenant' })),
  billingCustomer: Nullable(
    Type.String({ description: 'Shown in the user’s own tenant; null elsewhere' }),
  ),
  createdAt: Time,
})

const NewUser = Type.Object(
  {
    email: Type.String({ format: 'email', maxLength: 320 }),
    role: Role,
    department: Type.Optional(Department),
  },
  { additionalProperties: false },
)

const UserChange = Type.Object(
  {
    role: Type.Optional(Role),
    department: Type.Optional(Nullable(Department)),
    billingCustomer: Type.Optional(Nullable(Line(255))),
  },
  { additionalProperties: false, minProperties: 1 },
)

const tags = ['users']
const lastAdmin = 'A tenant keeps an admin: 409 for the last one, whoever asks.'

/** The members of a tenant, for those who manage them. */
const users: FastifyPluginAsyncTypebox = async function users(app) {
  app.get(
    '/users',
    {
      config: { access: { resource: 'user', action: 'read' } },
      schema: {
        tags,
        summary: 'The members of your tenant, newest users first',
        description: 'Who is invited and has not come yet is at `GET /invitations`.',
        querystring: PageQuery,
        response: { 200: PageOf(User), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const scope = request.tenantScope
      const page = readPage(request.query, memberList.name, memberList.forms)
      return app.db.read(scope, (tx) => listMembers(tx, scope, page))
    },
  )

  app.post(
    '/users',
    {
      config: { access: { resource: 'user', action: 'create' } },
      schema: {
        tags,
        summary: 'Invite somebody into your tenant',
        description:
          'Whoever next signs in with that e-mail, verified by a provider trusted for it, becomes a member; a user who has it verified already is one at once (`acceptedAt`). Invitations hold for 14 days; a second one for the same e-mail takes the place of the first. A member’s e-mail is a 409.',
        body: NewUser,
        response: { 201: Invitation, ...problems(400, 401, 403, 409, 429, 503) },
      },
    },
    async (request, reply) => {
      const { userId: invitedBy, tenantId } = request.tenantScope
      const { email, role, department = null } = request.body
      const invitation = await createInvitation(
        app.systemDb,
        { tenantId, email, role, department, invitedBy },
        request.clientInfo,
      )
      if (invitation === 'member') throw toMemberProblem('member-already')
      return reply.code(201).send(invitation)
    },
  )

  app.patch(
    '/users/:id',
    {
      config: { access: { resource: 'user', action: 'update' } },
      schema: {
        tags,
        summary: 'Change a member of your tenant, from their next request on',
        description: `\`role\` and \`department\` are the member’s in your tenant; in others they keep theirs. \`billingCustomer\` is the user’s everywhere, so it is changed in the user’s own tenant alone, the one made at their first sign-in, where their invoices go: 403 elsewhere, 409 when another user has it. ${lastAdmin}`,
        params: IdParams,
        body: UserChange,
        response: { 200: User, ...problems(400, 401, 403, 404, 409, 429, 503) },
      },
    },
    async (request) => {
      const id = readId(request.params.id)
      const { tenantScope, body } = request
      const result = await changeMember(app.systemDb, tenantScope, id, body, request.clientInfo)
      if (typeof result === 'string') throw toMemberProblem(result)
      return result
    },
  )

  app.delete(
    '/users/:id',
    {
      config: { access: { resource: 'user', action: 'delete' } },
      schema: {
        tags,
        summary: 'Remove a member from your tenant',
        description: `Their sessions and API tokens in it end; their posts stay, without an author. Whoever is a member nowhere any more is deleted, with their identities and orders. ${lastAdmin}`,
        params: IdParams,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 409, 429, 503) },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const { systemDb, queue } = app
      const result = await removeMember(
        systemDb,
        queue,
        request.tenantScope,
        id,
        request.clientInfo,
      )
      if (result !== 'removed') throw toMemberProblem(result)
      return reply.code(204).send(null)
    },
  )
}

export default users
