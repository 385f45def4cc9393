import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { createPortalLink, maxLinksPerMinute, maxPortalSessions } from '#src/auth/portal/portal.ts'
import { Problem } from '#src/http/problems.ts'
import { NoBody, Time, UuidParams } from '#src/http/schemas.ts'

const PortalLink = Type.Object(
  {
    url: Type.String({
      description:
        'Lead the person there, in a frame or a window. Add `&theme=dark` for a dark page.',
      examples: ['https://app.example.com/portal/open?link=…'],
    }),
    expiresAt: Type.Unsafe<string>({ ...Time, description: 'When it no longer opens' }),
  },
  { title: 'PortalLink' },
)

/** Links to the webhook pages of one tenant, for people without an account here. */
const portalLinks: FastifyPluginAsyncTypebox<{ baseUrl: string }> = async function portalLinks(
  app,
  { baseUrl },
) {
  app.post(
    '/tenants/:id/portal-links',
    {
      config: {
        namesTenant: true,
        idempotencyKey: false,
        access: { resource: 'portal-link', action: 'create' },
      },
      schema: {
        operationId: 'createPortalLink',
        tags: ['app'],
        summary: 'Make a link to the webhook pages of a tenant',
        description: `It works once, within five minutes, and opens a session of one hour that sees the webhooks of this tenant and nothing else: endpoints, deliveries, replays and events. The person needs no account. What is done there is in the audit log of the tenant as done by the app token. The session ends with the app token, and when this permission is taken from it. A tenant has at most ${maxPortalSessions} links and sessions; one more ends the oldest. 429 after ${maxLinksPerMinute} links for one tenant within a minute.`,
        params: UuidParams,
        body: NoBody,
        response: { 201: PortalLink },
      },
    },
    async (request, reply) => {
      const { tenantPrincipalEntry, clientInfo } = request
      const { secret, expiresAt } = await app.db.write(tenantPrincipalEntry, (tx, caller) => {
        if (!caller.isApp) throw new Problem('forbidden', { reason: 'app-required' })
        return createPortalLink(tx, caller, clientInfo)
      })
      const url = `${baseUrl}/portal/open?${new URLSearchParams({ link: secret })}`
      return reply.code(201).send({ url, expiresAt })
    },
  )
}

export default portalLinks
