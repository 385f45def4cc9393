import type { FastifyPluginAsync } from 'fastify'
import type { Caller, Member } from '#src/access/caller.ts'
import { permissionsOf } from '#src/access/roles.ts'
import { readFirstSteps } from '#src/auth/members/first-steps.ts'
import { listOwnInvitations } from '#src/auth/members/own-invitations.ts'
import { findTenant } from '#src/auth/members/tenants.ts'
import { listIdentities } from '#src/auth/sign-in/identities.ts'
import { countByStatus } from '#src/billing/events.ts'
import type { Tx } from '#src/db/database.ts'
import { type Home, homePage, type ManagedTenant, welcomePage } from '#src/pages/account/home.ts'
import { app as running } from '#src/resources/running-app.ts'
import { listEndpoints, maxEndpoints } from '#src/webhooks/endpoints/endpoints.ts'
import { measureEndpoints } from '#src/webhooks/history/stats.ts'

const shownIdentities = { limit: 5, after: null }

type Options = { operators: ReadonlySet<string> }

/** The start page: sign-in buttons, or what needs attention and what the app shows. */
const home: FastifyPluginAsync<Options> = async function home(app, { operators }) {
  const ofApp = ((await running.home?.())?.default ?? {}) as Home
  app.get('/', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const { visitorEntry } = request
    const now = app.clock.now()
    const own =
      visitorEntry &&
      (await app.db.read(visitorEntry, (tx, caller) =>
        readOwn(tx, caller, { now, operators, ofApp }),
      ))
    if (own === null)
      return reply.sendPage(welcomePage(app.signInChoices(request.cookies), ofApp.welcome))
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
async function readOwn(
  tx: Tx,
  caller: Caller | null,
  { now, operators, ofApp }: Options & { now: Date; ofApp: Home },
) {
  if (caller === null) return null
  const member = caller.tenantId === null ? null : { ...caller, tenantId: caller.tenantId }
  const isManager = permissionsOf(caller.role).includes('user:manage')
  // All at once, so that the page waits for the database twice, however much it shows.
  const [invitations, sections, deadEvents, tenant, managed, operatorIds] = await Promise.all([
    listOwnInvitations(tx),
    ofApp.sections?.(tx, caller) ?? [],
    caller.operator ? countDead(tx) : null,
    member && findTenant(tx, member),
    member && isManager ? readManaged(tx, member, now, ofApp) : null,
    operators.size === 0 ? listOperatorIds(tx, caller) : [],
  ])
  return { caller, invitations, sections, deadEvents, tenant, managed, operatorIds }
}

/** Identities that the first person may write into `OPERATORS`; empty for anybody else. */
async function listOperatorIds(tx: Tx, caller: Caller): Promise<string[]> {
  const [[row], { data }] = await Promise.all([
    tx.sql<{ first: boolean }>`SELECT is_first_user() AS first`,
    listIdentities(tx, caller, shownIdentities),
  ])
  return row?.first === true ? data.map(({ provider, subject }) => `${provider}:${subject}`) : []
}

async function readManaged(
  tx: Tx,
  member: Member,
  now: Date,
  { step }: Home,
): Promise<ManagedTenant> {
  const [{ data: endpoints }, stats, steps, isDone] = await Promise.all([
    listEndpoints(tx, member, { limit: maxEndpoints, after: null }),
    measureEndpoints(tx, member, now),
    readFirstSteps(tx, member),
    step?.isDone(tx, member) ?? true,
  ])
  return { endpoints, stats, steps, appStep: step === undefined ? null : { ...step, isDone } }
}

async function countDead(tx: Tx): Promise<number> {
  const counts = await countByStatus(tx)
  return counts.find(({ status }) => status === 'dead')?.events ?? 0
}

export default home
