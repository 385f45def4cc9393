import type { PgBoss } from 'pg-boss'
import Type, { type Static } from 'typebox'
import type { Caller, Member, TenantPrincipal, TenantScope } from '#src/access/caller.ts'
import { requireAssignableRole } from '#src/access/policy.ts'
import { managingRole, roles } from '#src/access/roles.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import type { QuotaConfig } from '#src/config/parse.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { OwnId, OwnUuid } from '#src/http/fields.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { SortBy } from '#src/http/lists/query.ts'
import { readId } from '#src/http/params.ts'
import {
  IdParams,
  Line,
  NoContent,
  Nullable,
  PageOf,
  PageQuery,
  TenantName,
  Time,
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
import {
  changeMember,
  listMembers,
  memberList,
  memberRefusals,
  removeMember,
  type ShownBefore,
} from './members.ts'
import {
  createTenant as create,
  listMemberships,
  renameTenant as rename,
  tenantList,
} from './tenants.ts'
import { findUsage } from './usage.ts'

export const Role = Type.Enum([...roles], {
  title: 'Role',
  description: 'Decides what the member may do in the tenant',
})
export const Department = Line(
  100,
  'The part of the tenant that the member works in; rules about departments compare this text',
)

export const User = Type.Object(
  {
    id: OwnId,
    email: Nullable(
      Type.String({ description: 'As a provider last said it; null if none has said one' }),
    ),
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
    email: Type.String({
      ...{ format: 'email', maxLength: 320 },
      description: 'Whose owner is invited; its case does not matter',
    }),
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

/** The members of a tenant for the app, which names it. */
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

const UserChange = Type.Object(
  {
    role: Type.Optional(Role),
    department: Type.Optional(Nullable(Department)),
  },
  { title: 'UserChange', additionalProperties: false, minProperties: 1 },
)
const lastAdmin = 'The last admin cannot be removed or lose the role (409).'

/** Changes a member, in a transaction that has locked the members (`withMembersLocked`). */
export const updateUser = defineAction({
  name: 'updateUser',
  rule: { resource: 'user', action: 'update' },
  tag,
  summary: 'Change a member of your tenant; it applies from their next request',
  description: `\`role\` and \`department\` apply to your tenant only. The open invitations of an admin who loses the role end. ${lastAdmin}`,
  params: IdParams,
  body: UserChange,
  result: User,
  problems: ['last-admin'],
  refusals: memberRefusals,
  once: true,
  versioned: false,
  run: (acting: Acting<Member>, { params, body }) => change(acting, readId(params.id), body),
})

/** `updateUser` against lost updates: refused unless the member still is as the page showed them. */
export const updateShownUser = defineAction({
  ...updateUser,
  body: Type.Unsafe<Static<typeof UserChange> & { before?: ShownBefore }>({}),
  run: (acting: Acting<Member>, { params, body: { before, ...fields } }) =>
    change(acting, readId(params.id), fields, before),
})

async function change(
  { tx, by }: Acting<Member>,
  id: number,
  fields: Static<typeof UserChange>,
  before?: ShownBefore,
) {
  if (fields.role !== undefined) requireAssignableRole(by, fields.role, id)
  return changeMember(tx, by, id, fields, by.clientInfo, before)
}

/** Removes a member, in a transaction that has locked the members. */
export function removeUser(queue: PgBoss) {
  return defineAction({
    name: 'removeUser',
    rule: { resource: 'user', action: 'delete' },
    tag,
    summary: 'Remove a member from your tenant',
    description: `Ends their sessions and API tokens in it, and their open invitations. What they wrote for the tenant stays without an author. A user without any membership left is deleted, with identities and all that they own. ${lastAdmin}`,
    params: IdParams,
    result: NoContent('The user is no member any more'),
    status: 204,
    problems: ['last-admin'],
    refusals: memberRefusals,
    async run({ tx, by }: Acting<Member>, { params }) {
      const outcome = await removeMember(tx, queue, by, readId(params.id), by.clientInfo)
      return outcome === 'removed' || outcome
    },
  })
}

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
      requireAssignableRole(by, role, null)
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

const tenantName = Type.String({ description: 'For people; several tenants may have the same' })

/** Renames the active tenant, whose id its page does not send. */
export const renameActiveTenant = defineAction({
  name: 'renameTenant',
  rule: { resource: 'tenant-name', action: 'update' },
  tag: 'tenants',
  summary: 'Rename the active tenant',
  body: TenantName,
  result: Type.Object({ id: OwnUuid, name: tenantName }, { title: 'Tenant' }),
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

const Membership = Type.Object(
  {
    id: OwnUuid,
    name: tenantName,
    role: Type.String({ description: 'Yours in this tenant' }),
    active: Type.Boolean({ description: 'Whether it is the active tenant of this session' }),
  },
  { title: 'Membership' },
)

export const listTenants = defineAction({
  name: 'listTenants',
  rule: { resource: 'tenant', action: 'read' },
  tag: 'tenants',
  summary: 'List the tenants you are a member of, by name',
  list: tenantList,
  result: PageOf(Membership),
  run: ({ tx, by }: Acting<Caller>, { page }) => listMemberships(tx, by, by.tenantId, page),
})

export const createTenant = defineAction({
  name: 'createTenant',
  rule: { resource: 'tenant', action: 'create' },
  tag: 'tenants',
  summary: 'Create a tenant with you as its admin',
  description:
    'It is not the active tenant of your session; `POST /session/tenant` switches to it. A member of a hundred tenants cannot create another (409).',
  body: TenantName,
  result: Membership,
  status: 201,
  location: () => null,
  problems: ['too-many-tenants'],
  refusals: { 'too-many-tenants': { code: 'too-many-tenants' } },
  once: true,
  async run({ tx, by }: Acting<Caller>, { body: { name } }) {
    const id = await create(tx, by, name, by.clientInfo)
    return id === null ? 'too-many-tenants' : { id, name, role: managingRole, active: false }
  },
})

const Used = (what: string) =>
  Type.Object(
    {
      rows: Type.Integer({ description: 'Rows that are stored now' }),
      bytes: Type.Integer({ description: 'UTF-8 bytes of the stored texts' }),
      maxRows: Nullable(Type.Integer({ description: 'The most of them; null: no limit' })),
      maxBytes: Nullable(Type.Integer({ description: 'The most of them; null: no limit' })),
    },
    { description: what },
  )

/** What the tenant stores. */
export function getUsage(quota: QuotaConfig) {
  return defineAction({
    name: 'getUsage',
    rule: { resource: 'usage', action: 'read' },
    tag: 'tenants',
    summary: 'Read what your tenant stores and may store',
    description:
      'A write that would store more than a limit is refused with 409, `quota-exceeded`, and changes nothing. Deleting resources is always possible. Events expire on their own.',
    result: Type.Object(
      {
        resources: Used('The resources of the app, folders, teams, team members and invitations'),
        events: Used('Events, deliveries, attempts, replays and notifications'),
      },
      { title: 'Usage' },
    ),
    run: ({ tx, by }: Acting<TenantPrincipal>) => findUsage(tx, by, quota),
  })
}
