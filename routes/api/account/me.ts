import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { effectivePermissions } from '#src/access/roles.ts'
import { OwnInvitation } from '#src/auth/members/own-invitations.ts'
import { profile } from '#src/auth/members/tenants.ts'
import { toSubscription } from '#src/billing/plans.ts'
import { OwnId, OwnUuid } from '#src/http/fields.ts'
import { means, Nullable, Time } from '#src/http/schemas.ts'
import { tagOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { isLimited, listRooms } from '#src/rows/room.ts'
import { Subscription } from '#src/webhooks/events/program-kinds.ts'

const Me = Type.Object(
  {
    user: Type.Object(
      {
        id: OwnId,
        name: Nullable(Type.String({ description: 'As your sign-in provider last said it' })),
        email: Nullable(
          Type.String({ description: 'As your sign-in provider last said it; null without one' }),
        ),
        createdAt: means(Time, 'When you first signed in, in UTC'),
      },
      { description: 'You, in all your tenants' },
    ),
    tenant: Nullable(
      Type.Object(
        { id: OwnUuid, name: Type.String({ description: 'For people' }) },
        {
          description:
            'The active tenant of the session, or that of the token; null if you have none',
        },
      ),
    ),
    role: Nullable(Type.String({ description: 'Yours in this tenant' })),
    department: Nullable(Type.String({ description: 'Yours in this tenant; null for none' })),
    permissions: Type.Array(Type.String(), {
      description: 'What this session or token may do here, as `resource:action`',
    }),
    plan: Nullable(Type.String({ description: 'What you have paid for; null without a plan' })),
    subscription: Nullable(
      means(Subscription, 'The subscription that decides the plan; null without one'),
    ),
    features: Type.Array(Type.String(), { description: 'What the plan gives' }),
    limits: Type.Array(
      Type.Object(
        {
          resource: Type.String({ description: 'Its path without the slash' }),
          limit: Nullable(Type.Integer({ description: 'The most rows; null if unlimited' })),
          used: Type.Integer({
            description: 'Counted up to the limit, or up to 1,000 if that is more',
          }),
        },
        { title: 'PlanLimit' },
      ),
      { description: 'Of the plan, for what you may read' },
    ),
    invitations: Type.Array(OwnInvitation, {
      description:
        'Open invitations for e-mails that you have verified; empty with an API token. Accept one with `POST /invitations/{id}/accept`.',
    }),
  },
  { title: 'Profile' },
)

const me: FastifyPluginAsyncTypebox = async function me(app) {
  app.get(
    '/me',
    {
      config: { access: { resource: 'profile', action: 'read' } },
      schema: {
        operationId: 'getMe',
        tags: ['account'],
        summary: 'Read your user, tenant, role, permissions and invitations',
        response: { 200: Me },
      },
    },
    async (request) => {
      const [found, rooms] = await read(app, request)
      const { caller, userName, tenant, invitations, subscription } = found
      return {
        user: {
          id: caller.userId,
          name: userName,
          email: caller.email,
          createdAt: caller.createdAt.toISOString(),
        },
        tenant,
        role: caller.role,
        department: caller.department,
        permissions: [...effectivePermissions(caller.role, caller.tokenPermissions)],
        plan: caller.plan,
        subscription: subscription && toSubscription(subscription),
        features: [...caller.features],
        limits: rooms.map(({ resource, most, used }) => ({
          ...{ resource: tagOf(resource), limit: most, used },
        })),
        invitations,
      }
    },
  )
}

const hasLimits = resources.some(isLimited)

/** The profile in one packet, unless the rows of a limit are counted too. */
async function read({ db }: FastifyInstance, { entry }: FastifyRequest) {
  if (!hasLimits) return [await db.read(entry, profile), []] as const
  return db.read(entry, async (tx, caller) => {
    const [rows, rooms] = await Promise.all([tx.sql(profile.statement), listRooms(tx, caller)])
    return [profile.read(rows, caller), rooms] as const
  })
}

export default me
