import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '#src/access/caller.ts'
import { listOwnInvitations } from '#src/auth/members/own-invitations.ts'
import { findTenant } from '#src/auth/members/tenants.ts'
import type { Tx } from '#src/db/database.ts'
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
  const { visitorEntry } = request
  const own =
    visitorEntry && (await this.db.read(visitorEntry, (tx, caller) => readOwn(tx, caller)))
  if (own === null) return reply.sendPage(welcomePage(this.signInChoices()))
  const { caller, tenant, invitations, orders, documents } = own
  return reply.sendPage(
    homePage({
      viewer: request.viewer,
      email: caller.email ?? 'an account without an email address',
      tenant: tenant?.name ?? 'No tenant',
      plan: caller.plan ?? 'free',
      invitations,
      orders,
      documents,
    }),
  )
}

/** What the page shows of the caller; null for a visitor who is not signed in. */
async function readOwn(tx: Tx, caller: Caller | null) {
  if (caller === null) return null
  const { tenantId } = caller
  if (tenantId === null) {
    const [invitations, orders] = await Promise.all([
      listOwnInvitations(tx),
      findLatestOrders(tx, caller, shownOrders),
    ])
    return { caller, tenant: null, invitations, orders, documents: [] }
  }
  const member = { ...caller, tenantId }
  const [invitations, orders, tenant, { data: documents }] = await Promise.all([
    listOwnInvitations(tx),
    findLatestOrders(tx, caller, shownOrders),
    findTenant(tx, member),
    listDocuments(tx, member, shownDocuments),
  ])
  return { caller, tenant, invitations, orders, documents }
}

export default home
