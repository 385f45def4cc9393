import formbody from '@fastify/formbody'
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import apiToken from '#plugins/api-token.ts'
import authz from '#plugins/authz.ts'
import logoutToken from '#plugins/backchannel-logout.ts'
import inbox from '#plugins/billing-recorder.ts'
import device from '#plugins/client-info.ts'
import sameOrigin from '#plugins/csrf.ts'
import database from '#plugins/database.ts'
import errors from '#plugins/errors.ts'
import eventStream from '#plugins/event-stream.ts'
import leaving from '#plugins/graceful-shutdown.ts'
import metricsPlugin from '#plugins/metrics.ts'
import notFound from '#plugins/not-found.ts'
import oidcClient from '#plugins/oidc-client.ts'
import openapi from '#plugins/openapi.ts'
import operator from '#plugins/operator.ts'
import pages from '#plugins/pages.ts'
import grantAccess from '#plugins/provider-tokens.ts'
import queue from '#plugins/queue.ts'
import rateLimit from '#plugins/rate-limit.ts'
import limitStore from '#plugins/rate-limit-store.ts'
import requestLog from '#plugins/request-log.ts'
import routeAccess from '#plugins/require-access.ts'
import schemaCompilers from '#plugins/schema-compilers.ts'
import securityHeaders from '#plugins/security-headers.ts'
import session from '#plugins/session.ts'
import tenantRls from '#plugins/tenant-rls.ts'
import tracingPlugin from '#plugins/tracing.ts'
import overload from '#plugins/under-pressure.ts'
import outbound from '#plugins/webhook-client.ts'
import webhookVerify from '#plugins/webhook-verify.ts'
import tenantAudit from '#routes/api/audit.ts'
import billingEvents from '#routes/api/billing-events.ts'
import billingReplays from '#routes/api/billing-replays.ts'
import deliveries from '#routes/api/deliveries.ts'
import documents from '#routes/api/documents.ts'
import endpointReplays from '#routes/api/endpoint-replays.ts'
import events from '#routes/api/events.ts'
import folders from '#routes/api/folders.ts'
import invitations from '#routes/api/invitations.ts'
import invoices from '#routes/api/invoices.ts'
import me from '#routes/api/me.ts'
import notifications from '#routes/api/notifications.ts'
import orders from '#routes/api/orders.ts'
import posts from '#routes/api/posts.ts'
import teamMembers from '#routes/api/team-members.ts'
import teams from '#routes/api/teams.ts'
import tenants from '#routes/api/tenants.ts'
import users from '#routes/api/users.ts'
import webhookEndpointActions from '#routes/api/webhook-endpoint-actions.ts'
import webhookEndpoints from '#routes/api/webhook-endpoints.ts'
import ownAudit from '#routes/auth/audit.ts'
import backchannelLogout from '#routes/auth/backchannel-logout.ts'
import callback from '#routes/auth/callback.ts'
import identities from '#routes/auth/identities.ts'
import login from '#routes/auth/login.ts'
import logout from '#routes/auth/logout.ts'
import sessions from '#routes/auth/sessions.ts'
import signedOut from '#routes/auth/signed-out.ts'
import tokens from '#routes/auth/tokens.ts'
import apiDescription from '#routes/openapi.ts'
import access from '#routes/pages/access.ts'
import account from '#routes/pages/account.ts'
import assets from '#routes/pages/assets.ts'
import billingPages from '#routes/pages/billing.ts'
import deliveryPages from '#routes/pages/deliveries.ts'
import documentPages from '#routes/pages/documents.ts'
import home from '#routes/pages/home.ts'
import orderPages from '#routes/pages/orders.ts'
import tenantMembers from '#routes/pages/tenant.ts'
import endpointPages from '#routes/pages/webhook-endpoint.ts'
import replayPages from '#routes/pages/webhook-replays.ts'
import webhookPages from '#routes/pages/webhooks.ts'
import billing from '#routes/webhooks/billing.ts'
import type { Config } from '#src/config/config.ts'
import { createMetrics, type Metrics } from '#src/observability/metrics.ts'
import type { Tracing } from '#src/observability/tracing.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { type ProofWatch, unwatched } from '#src/schema/verify-monitor.ts'
import { serverOptions } from './server-options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    clock: Clock
  }
}

/**
 * The whole server. Where a plugin is registered is its reach, so the scopes below say who may
 * reach what:
 *
 *     root                 request log, errors, headers, access rule, API description, database,
 *     │                    queue, provider client, client for customers' URLs
 *     ├─ unknown           paths that do not exist; counted per address
 *     ├─ open              assets, API description; no session
 *     ├─ browser           overload, session, same-origin, provider tokens
 *     │  ├─ (sign-in)      start, callback, signed out; counted per address and session
 *     │  ├─ signedIn       API token, authz: an identity and the policy's leave
 *     │  │  └─ tenant      tenant-rls: the caller's tenant
 *     │  └─ people         operator: the start page, which leads them to their pages
 *     │     └─ identified  API token, authz: one's own pages, and what belongs to no tenant
 *     │        └─ members  tenant-rls: the pages of the caller's tenant
 *     ├─ providerLogout    logout-token: a provider's signature; no session, no cookie, forms only
 *     └─ webhooks          webhook-verify: raw bytes; no session, no cookie, no JSON parser
 *
 * @param options `connect: false` for a server that only describes itself
 */
export async function buildApp(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Metrics = createMetrics(),
  proof: ProofWatch = unwatched,
  options: { connect: boolean; tracing?: Tracing } = { connect: true },
): Promise<FastifyInstance> {
  const app = Fastify(serverOptions(config, logger))
  const { redirectUri, signedOutUri, returnTo, rateLimits, encryptionKeys, clock } = config
  const newEndpoints = { keys: encryptionKeys, signature: config.outbound.signature }

  app.decorate('clock', clock)
  await app.register(schemaCompilers)
  await app.register(tracingPlugin, { tracing: options.tracing })
  await app.register(requestLog)
  await app.register(leaving)
  await app.register(device)
  await app.register(errors)
  await app.register(metricsPlugin, { metrics })
  await app.register(securityHeaders, {
    https: config.session.secureCookie,
    formTargets: config.providers.map(({ issuer }) => new URL(issuer).origin),
  })
  await app.register(routeAccess)
  await app.register(openapi, { baseUrl: config.baseUrl })
  await app.register(limitStore, { redisUrl: config.redisUrl })
  await app.register(database, { ...config.database, proof })
  await app.register(queue, { url: config.database.url, connect: options.connect })
  await app.register(oidcClient, { providers: config.providers, clock })
  await app.register(outbound, { ...config.outbound, clock })

  await app.register(async function unknown(app) {
    await app.register(rateLimit, { name: 'api', limit: rateLimits.api, by: 'address' })
    await app.register(notFound)
  })

  await app.register(async function open(app) {
    await app.register(assets)
    await app.register(apiDescription)
  })

  await app.register(async function browser(app) {
    await app.register(overload)
    await app.register(session, config.session)
    await app.register(sameOrigin, { baseUrl: config.baseUrl })
    await app.register(grantAccess, { url: config.database.url, keys: encryptionKeys })
    await app.register(formbody)

    await app.register(async function signIn(app) {
      await app.register(rateLimit, {
        name: 'sign-in',
        limit: rateLimits.signIn,
        by: 'address-and-session',
      })
      await app.register(login, { redirectUri })
      await app.register(callback, { redirectUri, returnTo, encryptionKeys, ...config.session })
      await app.register(signedOut, { signedOutUri, ...config.session })
    })

    await app.register(async function signedIn(app) {
      await app.register(apiToken)
      await app.register(rateLimit, { name: 'api', limit: rateLimits.api, by: 'session' })
      await app.register(authz)
      await app.register(logout, { signedOutUri, ...config.session })
      await app.register(sessions, config.session)
      await app.register(identities, { redirectUri })
      await app.register(tokens)
      await app.register(ownAudit)
      await app.register(tenants)
      await app.register(me)
      await app.register(orders)

      await app.register(async function tenant(app) {
        await app.register(tenantRls)
        await app.register(posts)
        await app.register(invoices)
        await app.register(users)
        await app.register(invitations)
        await app.register(documents)
        await app.register(folders)
        await app.register(teams)
        await app.register(teamMembers)
        await app.register(tenantAudit)
        await app.register(webhookEndpoints, newEndpoints)
        await app.register(webhookEndpointActions, { keys: encryptionKeys })
        await app.register(deliveries)
        await app.register(endpointReplays)
        await app.register(events)
        await app.register(notifications)
      })
    })

    await app.register(async function people(app) {
      await app.register(rateLimit, { name: 'api', limit: rateLimits.api, by: 'session' })
      await app.register(operator, { operators: config.operators })
      await app.register(pages)
      await app.register(home)

      await app.register(async function identified(app) {
        await app.register(apiToken)
        await app.register(authz)
        await app.register(eventStream)
        await app.register(access)
        await app.register(account, config.session)
        await app.register(orderPages)
        await app.register(billingEvents)
        await app.register(billingReplays)
        await app.register(billingPages)

        await app.register(async function members(app) {
          await app.register(tenantRls)
          await app.register(tenantMembers)
          await app.register(documentPages)
          await app.register(webhookPages, newEndpoints)
          await app.register(endpointPages, { keys: encryptionKeys })
          await app.register(deliveryPages)
          await app.register(replayPages)
        })
      })
    })
  })

  await app.register(async function providerLogout(app) {
    await app.register(rateLimit, { name: 'webhooks', limit: rateLimits.webhooks, by: 'address' })
    await app.register(logoutToken)
    await app.register(backchannelLogout)
  })

  await app.register(async function webhooks(app) {
    await app.register(rateLimit, { name: 'webhooks', limit: rateLimits.webhooks, by: 'address' })
    await app.register(inbox, config.database)
    await app.register(webhookVerify, {
      secrets: config.billing.secrets,
      clock,
      metrics: metrics.billing,
    })
    await app.register(billing)
  })

  return app
}
