import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Caller } from '#src/access/caller.ts'
import { planTitle } from '#src/access/entitlements.ts'
import type { Action } from '#src/access/policy.ts'
import { permissionsOf } from '#src/access/roles.ts'
import { AuditQuery, countOwnAudit, listOwnAudit, ownAuditList } from '#src/audit/list.ts'
import { findTargets } from '#src/audit/targets.ts'
import { leaveTenant } from '#src/auth/members/leave.ts'
import { memberProblem } from '#src/auth/members/members.ts'
import { listOwnInvitations } from '#src/auth/members/own-invitations.ts'
import { createTenant, findOwnRole, listMemberships } from '#src/auth/members/tenants.ts'
import { endOtherSessions, endOwnSession, listSessions } from '#src/auth/sessions/list.ts'
import { switchTenant } from '#src/auth/sessions/switch-tenant.ts'
import { listIdentities } from '#src/auth/sign-in/identities.ts'
import { IdentityParams, identityActions } from '#src/auth/sign-in/identity-actions.ts'
import type { Checkout, OwnBilling } from '#src/billing/checkout.ts'
import { choicesOf, type Offer } from '#src/billing/offers.ts'
import { listOwnSubscriptions } from '#src/billing/subscriptions.ts'
import { withoutLocks } from '#src/db/entry.ts'
import { Problem } from '#src/http/problems.ts'
import { Uuid } from '#src/http/schemas.ts'
import {
  type AccountNotice,
  accountPage,
  deletionForm,
  newTenantForm,
  newTenantPage,
} from '#src/pages/account/account.ts'
import type { ShownPlan } from '#src/pages/account/plan.ts'
import { activityPage } from '#src/pages/account/tabs.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import { sectionFor } from '#src/pages/kit/destinations.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import { listPageOf } from '#src/pages/kit/list-page.ts'
import { rangeOf, sinceParameter } from '#src/pages/kit/since.ts'
import { resources } from '#src/resources/running-app.ts'
import { listRooms } from '#src/rows/room.ts'
import { inWords } from '#src/runtime/words.ts'

const path = '/app/account'
const firstPage = { limit: 100, after: null }

const Query = Type.Object(doneQuery, { additionalProperties: false })
const { action, from, to, sort } = AuditQuery.properties
const activity = listPageOf(Type.Object({ action, ...sinceParameter, from, to, sort }))
const IdForm = Type.Object({ id: Uuid }, { additionalProperties: false })
const ConfirmedIdForm = Type.Object(
  { id: Uuid, ...confirmedField },
  { additionalProperties: false },
)
const SwitchForm = Type.Object(
  { tenantId: Uuid, section: Type.String({ pattern: '^(/[a-z]*){0,3}$', maxLength: 64 }) },
  { additionalProperties: false },
)

type Options = { idleSeconds: number; checkout: Checkout }
type App = Parameters<FastifyPluginAsyncTypebox>[0]

const hide = true
const access = (resource: 'account' | 'session' | 'tenant', action: Action) => ({
  access: { resource, action },
})

/** The account page and its forms, and what the person has done. */
const account: FastifyPluginAsyncTypebox<Options> = async function account(
  app,
  { idleSeconds, checkout },
) {
  app.get(
    '/app/account',
    { config: access('account', 'read'), schema: { hide, querystring: Query } },
    async (request, reply) => {
      const { sessionEntry, query } = request
      const { own, planWith, ...shown } = await app.db.read(sessionEntry, async (tx, caller) => {
        const [identities, sessions, invitations, memberships, own, rooms, bought] =
          await Promise.all([
            listIdentities(tx, caller, firstPage),
            listSessions(tx, caller, idleSeconds, firstPage),
            listOwnInvitations(tx),
            listMemberships(tx, caller, caller.tenantId, firstPage),
            checkout.find(tx, caller),
            listRooms(tx, caller),
            listOwnSubscriptions(tx),
          ])
        return {
          identities: identities.data,
          sessions: sessions.data,
          invitations,
          memberships: memberships.data,
          own,
          planWith: (offers: readonly Offer[]) => ({
            ...toShownPlan(checkout, offers, caller, own, rooms),
            subscriptions: bought,
          }),
        }
      })
      const { viewer } = request
      const plan = planWith(await checkout.offersFor(own))
      const providers = app.signInChoices(request.cookies)
      return reply.sendPage(accountPage({ viewer, providers, done: query.done, plan, ...shown }))
    },
  )
  app.get(
    '/app/account/activity',
    { config: access('account', 'read'), schema: { hide, querystring: activity.querystring } },
    async (request, reply) => {
      const { query, read } = activity
      const { page, used } = read(request.query, ownAuditList)
      const filter = { action: used.action, ...rangeOf(used, app.clock.now()) }
      const shown = await app.db.read(request.sessionEntry, async (tx, caller) => {
        const [listed, count] = await Promise.all([
          listOwnAudit(tx, caller, page, filter),
          countOwnAudit(tx, caller, filter),
        ])
        const { data: entries, ...cursors } = listed
        const targets = await findTargets(tx, ownTargets(caller), entries)
        return { entries, cursors, count, targets }
      })
      return reply.sendPage(activityPage({ viewer: request.viewer, query, used, ...shown }))
    },
  )
  app.form('/app/account/identities/remove', identityActions(app.queue).unlink, {
    ...done('identity-removed'),
    fields: IdentityParams,
  })
  addSessionForms(app)
  addTenantForms(app)
  app.post(
    '/app/account/delete',
    { config: access('account', 'delete'), schema: { hide, body: deletionForm.schema } },
    async (_request, reply) => {
      await reply.deleteOwnAccount()
      return reply.redirect('/auth/signed-out', 303)
    },
  )
}

/** Adds the forms that end sessions. The sessions are counted after the commit. */
function addSessionForms(app: App) {
  app.post(
    '/app/account/sessions/end',
    { config: access('session', 'delete'), schema: { hide, body: IdForm } },
    async (request, reply) => {
      const { sessionEntry, body, clientInfo } = request
      const ended = await app.db.write(sessionEntry, (tx, caller) =>
        endOwnSession(tx, app.queue, caller, body.id, clientInfo),
      )
      if (!ended) throw new Problem('not-found')
      app.metrics.identity.sessionsEnded.inc({ reason: 'own-request' })
      return redirect(reply, 'session-ended')
    },
  )
  app.post(
    '/app/account/sessions/end-others',
    { config: access('session', 'delete'), schema: { hide } },
    async (request, reply) => {
      const { sessionEntry, clientInfo } = request
      const ended = await app.db.write(sessionEntry, (tx, caller) =>
        endOtherSessions(tx, caller, clientInfo),
      )
      app.metrics.identity.sessionsEnded.inc({ reason: 'others-ended' }, ended)
      return redirect(reply, 'others-ended')
    },
  )
}

/** Adds the forms about tenants, after which the session has another id, or ends. */
function addTenantForms(app: App) {
  // Switches the tenant and stays in the same section, if the role there allows it.
  app.post(
    '/app/account/tenants/switch',
    { config: access('tenant', 'update'), schema: { hide, body: SwitchForm } },
    async (request, reply) => {
      const { sessionEntry, session, body, clientInfo } = request
      const { tenantId, section } = body
      const switched = await app.db.write(withoutLocks(sessionEntry), async (tx, caller) => {
        const role = await findOwnRole(tx, caller, tenantId)
        const newCookieId = await switchTenant(tx, session.sessionId, tenantId, clientInfo)
        if (newCookieId === null) return null
        return { newCookieId, to: sectionFor(section, { ...caller, role }) }
      })
      if (switched === null) throw new Problem('not-found')
      await request.adoptSession(switched.newCookieId)
      return reply.redirect(switched.to, 303)
    },
  )
  const creation = access('tenant', 'create')
  app.get(
    '/app/account/tenants/new',
    { config: creation, schema: { hide } },
    async (request, reply) => {
      await request.enter()
      return reply.sendPage(newTenantPage(request.viewer))
    },
  )
  app.post(
    '/app/account/tenants/new',
    { config: creation, schema: { hide, body: newTenantForm.schema } },
    async (request, reply) => {
      const { sessionEntry, session, body, clientInfo } = request
      const { location, switched } = await app.db.write(sessionEntry, async (tx, caller) => {
        const switched: { newCookieId?: string } = {}
        const location = await request.submitOnce(tx, caller, async () => {
          const id = await createTenant(tx, caller, body.name, clientInfo)
          if (id === null) throw new Problem('too-many-tenants')
          const newCookieId = await switchTenant(tx, session.sessionId, id, clientInfo)
          if (newCookieId === null) throw new Problem('not-found')
          switched.newCookieId = newCookieId
          return { path: '/app/tenant?done=created' }
        })
        return { location, switched }
      })
      // Missing if the form was sent again, because the session has switched already.
      const { newCookieId } = switched
      if (newCookieId !== undefined) await request.adoptSession(newCookieId)
      return reply.redirect(location, 303)
    },
  )
  app.post(
    '/app/account/tenants/leave',
    { config: access('tenant', 'delete'), schema: { hide, body: ConfirmedIdForm } },
    async (request, reply) => {
      const { sessionEntry, session, body, clientInfo } = request
      const left = await app.db.write(withoutLocks(sessionEntry), (tx) =>
        leaveTenant(tx, app.queue, session.sessionId, body.id, clientInfo),
      )
      if (typeof left === 'string') throw memberProblem(left)
      await reply.followSession(left)
      return left.session === 'ended'
        ? reply.redirect('/auth/signed-out', 303)
        : redirect(reply, 'left')
    },
  )
}

/** What audit entries link to: objects of the tenant only for those who may see them. */
function ownTargets({ userId, tenantId, role }: Caller) {
  const isManager = permissionsOf(role).includes('user:manage')
  return { userId, tenantId: isManager ? tenantId : null }
}

function tableWords(table: string): string {
  const resource = resources.find(({ plural }) => plural === table)
  return resource?.page?.label ?? inWords(table)
}

function toShownPlan(
  { hasPortalFor }: Checkout,
  offers: readonly Offer[],
  { plan, features }: Caller,
  { customer, holder, plan: bought, seats, subscription }: OwnBilling,
  rooms: Awaited<ReturnType<typeof listRooms>>,
): Omit<ShownPlan, 'subscriptions'> {
  return {
    ...{ plan, title: planTitle(plan), features },
    limits: rooms.map(({ resource, most, used }) => ({
      ...{ words: tableWords(resource.plural), most, used },
    })),
    subscription: subscription && {
      status: subscription.status,
      periodEnd: subscription.periodEnd?.toISOString() ?? null,
      cancelsAt: subscription.cancelsAt?.toISOString() ?? null,
    },
    ...{ seats, isOfTenant: seats !== null || holder === 'not-manager' },
    canBuy: bought === null && typeof holder !== 'string',
    choices: (holder === 'no-tenant' ? [] : choicesOf(offers, plan)).map(
      ({ limits, ...choice }) => ({
        ...choice,
        limits: Object.entries(limits).map(([table, most]) => ({ words: tableWords(table), most })),
      }),
    ),
    hasPortal: hasPortalFor({ customer }),
  }
}

function entryOf({ sessionEntry }: FastifyRequest) {
  return sessionEntry
}

function done(notice: AccountNotice) {
  return { entryOf, to: path, notice }
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function redirect(reply: FastifyReply, notice: AccountNotice) {
  return reply.redirect(`${path}?done=${notice}`, 303)
}

export default account
