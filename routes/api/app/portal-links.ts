import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { portalLinkActions } from '#src/auth/portal/actions.ts'

const inTenant = {
  entryOf: ({ tenantPrincipalEntry }: FastifyRequest) => tenantPrincipalEntry,
  namesTenant: true,
} as const

/** Links to the webhook pages of one tenant, for people without an account here. */
const portalLinks: FastifyPluginAsyncTypebox<{ baseUrl: string }> = async function portalLinks(
  app,
  { baseUrl },
) {
  const { create, remove } = portalLinkActions(baseUrl)
  app.api('POST /tenants/:id/portal-links', create, inTenant)
  app.api('DELETE /tenants/:id/portal-links/:linkId', remove, inTenant)
}

export default portalLinks
