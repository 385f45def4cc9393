import type { FastifyPluginAsync } from 'fastify'
import { findTenant } from '#src/auth/members/tenants.ts'
import { homePage, welcomePage } from '#src/pages/home.ts'
import { listDocuments } from '#src/resources/documents.ts'
import { findLatestOrders } from '#src/resources/orders.ts'

const shownOrders = 10
const shownDocuments = { limit: 5, after: null }

/** The start page: a way in, or what is yours. */
const home: FastifyPluginAsync = async function home(app) {
  app.get('/', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const caller = request.session.caller
    if (!caller) return reply.sendPage(welcomePage(app.signInChoices()))
    const { userId, tenantId } = caller
    const scope = tenantId === null ? { userId } : { userId, tenantId }
    const { tenant, orders, documents } = await app.db.read(scope, async (tx) => ({
      tenant: tenantId === null ? null : await findTenant(tx, { tenantId }),
      orders: await findLatestOrders(tx, { userId }, shownOrders),
      documents:
        tenantId === null
          ? []
          : (await listDocuments(tx, { userId, tenantId }, shownDocuments)).data,
    }))
    return reply.sendPage(
      homePage({
        viewer: request.viewer,
        email: caller.email ?? 'an account without an address',
        tenant: tenant?.name ?? 'No tenant',
        plan: caller.plan ?? 'free',
        orders,
        documents,
      }),
    )
  })
}

export default home
