import type { FastifyPluginAsync } from 'fastify'
import type { Caller, Member } from '#src/access/caller.ts'
import { permissionsOf } from '#src/access/roles.ts'
import { listOwnInvitations } from '#src/auth/members/own-invitations.ts'
import { findTenant } from '#src/auth/members/tenants.ts'
import { listIdentities } from '#src/auth/sign-in/identities.ts'
import { countByStatus } from '#src/billing/events.ts'
import type { Tx } from '#src/db/database.ts'
import { actionsOf } from '#src/domain/actions.ts'
import { readFirstSteps } from '#src/domain/first-steps.ts'
import { homePage, type ManagedTenant, welcomePage } from '#src/pages/account/home.ts'
import { documents } from '#src/resources/documents.ts'
import { orders } from '#src/resources/orders.ts'
import { listEndpoints, maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'
import { measureEndpoints } from '#src/webhooks/history/stats.ts'

const shownOrders = { limit: 10, after: null }
const { list: listOrders } = actionsOf(orders)
const { list: listDocuments } = actionsOf(documents)
const shownIdentities = { limit: 5, after: null }
const shownDocuments = { limit: 5, after: null }

type Options = { operators: ReadonlySet<string> }

/** The start page: sign-in buttons, or the user's own objects. */
const home: FastifyPluginAsync<Options> = async function home(app, { operators }) {
  app.get('/', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const { visitorEntry } = request
    const now = app.clock.now()
    const own =
      visitorEntry &&
      (await app.db.read(visitorEntry, (tx, caller) => readOwn(tx, caller, now, operators)))
    if (own === null) return reply.sendPage(welcomePage(app.signInChoices(request.cookies)))
    const { caller, tenant, ...objects } = own
    return reply.sendPage(
      homePage({
        viewer: request.viewer,
        tenant: tenant?.name ?? 'No tenant',
        plan: caller.plan ?? 'free',
        ...objects,
      }),
    )
  })
}

/** What the page shows of the caller; null for a visitor who is not signed in. */
async function readOwn(tx: Tx, caller: Caller | null, now: Date, operators: ReadonlySet<string>) {
  if (caller === null) return null
  const member = caller.tenantId === null ? null : { ...caller, tenantId: caller.tenantId }
  const isManager = permissionsOf(caller.role).includes('user:manage')
  // All at once, so that the page waits for the database twice, however much it shows.
  const [invitations, latest, deadEvents, tenant, documents, managed, operatorIds] =
    await Promise.all([
      listOwnInvitations(tx),
      listOrders(tx, caller, shownOrders),
      caller.operator ? countDead(tx) : null,
      member && findTenant(tx, member),
      member && listDocuments(tx, member, shownDocuments),
      member && isManager ? readManaged(tx, member, now) : null,
      operators.size === 0 ? listOperatorIds(tx, caller) : [],
    ])
  return {
    caller,
    invitations,
    orders: latest.data.map(({ id, shippingAddress, lineItems }) => ({
      id,
      city: shippingAddress.city,
      items: lineItems.length,
    })),
    deadEvents,
    tenant,
    documents: documents?.data ?? [],
    managed,
    operatorIds,
  }
}

/** Identities that the first person may write into `OPERATORS`; none of anybody else. */
async function listOperatorIds(tx: Tx, caller: Caller): Promise<string[]> {
  const [[row], { data }] = await Promise.all([
    tx.sql<{ first: boolean }>`SELECT is_first_user() AS first`,
    listIdentities(tx, caller, shownIdentities),
  ])
  return row?.first === true ? data.map(({ provider, subject }) => `${provider}:${subject}`) : []
}

async function readManaged(tx: Tx, member: Member, now: Date): Promise<ManagedTenant> {
  const [{ data: endpoints }, stats, steps] = await Promise.all([
    listEndpoints(tx, member, { limit: maxEndpoints, after: null }),
    measureEndpoints(tx, member, now),
    readFirstSteps(tx, member),
  ])
  return { endpoints, stats, steps }
}

async function countDead(tx: Tx): Promise<number> {
  const counts = await countByStatus(tx)
  return counts.find(({ status }) => status === 'dead')?.events ?? 0
}

export default home
