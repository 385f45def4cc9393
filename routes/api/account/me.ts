import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { effectivePermissions } from '#src/access/roles.ts'
import { OwnInvitation } from '#src/auth/members/own-invitations.ts'
import { profile } from '#src/auth/members/tenants.ts'
import { toSubscription } from '#src/billing/plans.ts'
import { Id, Nullable, Time, Uuid } from '#src/http/schemas.ts'
import { Subscription } from '#src/webhooks/events/program-kinds.ts'

const Me = Type.Object(
  {
    user: Type.Object({
      id: Id,
      name: Nullable(Type.String({ description: 'As your sign-in provider last said it' })),
      email: Nullable(Type.String()),
      createdAt: Time,
    }),
    tenant: Nullable(Type.Object({ id: Uuid, name: Type.String() })),
    role: Nullable(Type.String()),
    department: Nullable(Type.String()),
    permissions: Type.Array(Type.String()),
    plan: Nullable(Type.String()),
    subscription: Nullable(Subscription),
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
      const { caller, userName, tenant, invitations, subscription } = await app.db.read(
        request.entry,
        profile,
      )
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
        invitations,
      }
    },
  )
}

export default me
