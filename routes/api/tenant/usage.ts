import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { findUsage } from '#src/auth/members/usage.ts'
import type { QuotaConfig } from '#src/config/parse.ts'
import { Nullable } from '#src/http/schemas.ts'

const Used = (what: string) =>
  Type.Object(
    {
      rows: Type.Integer(),
      bytes: Type.Integer({ description: 'UTF-8 bytes of the stored texts' }),
      maxRows: Nullable(Type.Integer({ description: 'null: no limit' })),
      maxBytes: Nullable(Type.Integer({ description: 'null: no limit' })),
    },
    { description: what },
  )

const Usage = Type.Object(
  {
    resources: Used('The resources of the app, folders, teams, team members and invitations'),
    events: Used('Events, deliveries, attempts, replays and notifications'),
  },
  { title: 'Usage' },
)

type Options = { quota: QuotaConfig }

/** What a tenant stores, for its administrators. */
const usage: FastifyPluginAsyncTypebox<Options> = async function usage(app, { quota }) {
  app.get(
    '/usage',
    {
      config: { access: { resource: 'usage', action: 'read' } },
      schema: {
        operationId: 'getUsage',
        tags: ['tenants'],
        summary: 'Read what your tenant stores and may store',
        description:
          'A write that would store more than a limit is refused with 409, `quota-exceeded`, and changes nothing. Deleting resources is always possible. Events expire on their own.',
        response: { 200: Usage },
      },
    },
    async (request) =>
      app.db.read(request.tenantPrincipalEntry, (tx, caller) => findUsage(tx, caller, quota)),
  )
}

export default usage
