import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { findTenant } from '#src/auth/members/tenants.ts'
import { homePage, welcomePage } from '#src/pages/home.ts'
import { listDocuments } from '#src/resources/documents.ts'
import { findLatestOrders } from '#src/resources/orders.ts'

const shownOrders = 10
const shownDocuments = { limit: 5, after: null }

/** The start page: sign-in buttons, or the user's own objects. */
const home: FastifyPluginAsync = async function home(app) {
  app.get('/', { config: { access: 'public' }, schema: { hide: true } }, showHome)
}

async function showHome(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
  const { viewer, session } = request
  const { caller } = session
  if (!caller) return reply.sendPage(welcomePage(this.signInChoices()))
  const { userId, tenantId } = caller
  const scope = tenantId === null ? { userId } : { userId, tenantId }
  const { tenant, orders, documents } = await this.db.read(scope, async (tx) => ({
    tenant: tenantId === null ? null : await findTenant(tx, { tenantId }),
    orders: await findLatestOrders(tx, { userId }, shownOrders),
    documents:
      tenantId === null ? [] : (await listDocuments(tx, { userId, tenantId }, shownDocuments)).data,
  }))
  return reply.sendPage(
    homePage({
      viewer,
      email: caller.email ?? 'an account without an email address',
      tenant: tenant?.name ?? 'No tenant',
      plan: caller.plan ?? 'free',
      orders,
      documents,
    }),
  )
}

export default home
