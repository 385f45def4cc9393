import type { PgBoss } from 'pg-boss'
import Type from 'typebox'
import type { Member, TenantPrincipal, TenantScope } from '#src/access/caller.ts'
import { requireAssignableRole } from '#src/access/policy.ts'
import { roles } from '#src/access/roles.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { SortBy } from '#src/http/lists/query.ts'
import {
  Id,
  Line,
  NoContent,
  Nullable,
  PageOf,
  PageQuery,
  TenantName,
  Time,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'
import { invitationUrl } from './invitation-link.ts'
import {
  createInvitation,
  Invitation,
  invitationList,
  invitationRefusals,
  listInvitations,
  withdrawInvitation,
} from './invitations.ts'
import { listMembers, memberList } from './members.ts'
import { renameTenant as rename } from './tenants.ts'

export const Role = Type.Enum([...roles], { title: 'Role' })
export const Department = Line(100)

export const User = Type.Object(
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
    url: Type.String({
      description:
        'The link for the invited person, with a secret; with a mail server it is mailed to them too',
    }),
  },
  { title: 'CreatedInvitation' },
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

const tag = 'members'

/** The members of a tenant, for its administrators. */
export const listUsers = defineAction({
  name: 'listUsers',
  rule: { resource: 'user', action: 'read' },
  tag,
  summary: 'List the members of your tenant, newest members first',
  description: 'Open invitations are at `GET /invitations`.',
  query: MemberQuery,
  result: PageOf(User),
  run({ tx, by }: Acting<TenantScope>, { query }) {
    const { page, filter } = readList(query, memberList)
    return listMembers(tx, by, page, filter)
  },
})

/** The same list for the app, in the tenant that it names. */
export const listTenantMembers = defineAction({
  name: 'listTenantMembers',
  rule: { resource: 'member', action: 'read' },
  tag: 'app',
  summary: 'List the members of a tenant, newest members first',
  params: UuidParams,
  query: MemberQuery,
  result: PageOf(User),
  run: (acting: Acting<TenantScope>, input) => listUsers.run(acting, input),
})

type Inviting = {
  baseUrl: string
  keys: EncryptionKeys
  queue: PgBoss
}

export function inviteUser({ baseUrl, keys, queue }: Inviting) {
  return defineAction({
    name: 'inviteUser',
    rule: { resource: 'user', action: 'create' },
    tag,
    summary: 'Invite a user to your tenant',
    description:
      'The person who has that e-mail becomes a member when they accept: verified by a provider trusted for it, or with the link, which contains a secret and works once, and a sign-in with that e-mail. Whether such a person exists is not told. With a mail server the link is mailed too, to an address once a day from a tenant and five times from all; what is not mailed is not told, so pass `url` on if the mail does not arrive. An invitation is valid for 14 days, until it is withdrawn, or until its inviter is no longer an admin; a second one for the same e-mail replaces it. 409 for the e-mail of a member.',
    body: NewUser,
    result: CreatedInvitation,
    status: 201,
    location: ({ id }: { id: string }) => `/invitations/${id}`,
    problems: ['conflict', 'quota-exceeded'],
    refusals: invitationRefusals,
    once: true,
    async run({ tx, by }: Acting<Member>, { body: { email, role, department = null } }) {
      requireAssignableRole(by, role)
      const { userId: invitedBy, tenantId } = by
      const wanted = { tenantId, email, role, department, invitedBy }
      const invitation = await createInvitation(tx, { queue, keys }, wanted, by.clientInfo)
      if (typeof invitation === 'string') return invitation
      const { linkHash, ...shown } = invitation
      return { ...shown, url: invitationUrl({ baseUrl, keys }, shown.id, linkHash) }
    },
  })
}

/** The open invitations of a tenant. */
export const invitationActions = {
  list: defineAction({
    name: 'listInvitations',
    rule: { resource: 'user', action: 'read' },
    tag,
    summary: 'List the open invitations to your tenant, newest first',
    description: 'Includes expired invitations, which can no longer be accepted.',
    list: invitationList,
    result: PageOf(Invitation),
    run: ({ tx, by }: Acting<TenantPrincipal>, { page }) => listInvitations(tx, by, page),
  }),
  withdraw: defineAction({
    name: 'withdrawInvitation',
    rule: { resource: 'user', action: 'delete' },
    tag,
    summary: 'Withdraw an open invitation',
    params: UuidParams,
    result: NoContent('The invitation is withdrawn'),
    status: 204,
    run: ({ tx, by }: Acting<Member>, { params }) =>
      withdrawInvitation(tx, by, params.id, by.clientInfo),
  }),
}

/** Renames the active tenant, whose id its page does not send. */
export const renameActiveTenant = defineAction({
  name: 'renameTenant',
  rule: { resource: 'tenant-name', action: 'update' },
  tag: 'tenants',
  summary: 'Rename the active tenant',
  body: TenantName,
  result: Type.Object({ id: Uuid, name: Type.String() }, { title: 'Tenant' }),
  once: true,
  versioned: false,
  async run({ tx, by }: Acting<Member>, { body: { name } }) {
    const isRenamed = await rename(tx, by, name, by.clientInfo)
    return isRenamed && { id: by.tenantId, name }
  },
})

export const renameTenant = defineAction({
  ...renameActiveTenant,
  params: UuidParams,
  run: async (acting: Acting<Member>, { params, ...input }) =>
    params.id === acting.by.tenantId ? renameActiveTenant.run(acting, { ...input, params }) : null,
})
