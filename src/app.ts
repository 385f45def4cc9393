import formbody from '@fastify/formbody'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
} from 'fastify'
import appOrigins from '#plugins/access/app-origins.ts'
import authz from '#plugins/access/authz.ts'
import credential from '#plugins/access/credential.ts'
import forwardedRequest from '#plugins/access/forwarded-request.ts'
import portalSession from '#plugins/access/portal-session.ts'
import requireAccess from '#plugins/access/require-access.ts'
import session from '#plugins/access/session.ts'
import tenantRls from '#plugins/access/tenant-rls.ts'
import actions from '#plugins/api/actions.ts'
import idempotency from '#plugins/api/idempotency.ts'
import openapi from '#plugins/api/openapi.ts'
import pageLinks from '#plugins/api/page-links.ts'
import preconditions from '#plugins/api/preconditions.ts'
import schemaCompilers from '#plugins/api/schema-compilers.ts'
import strictRequests from '#plugins/api/strict-requests.ts'
import backchannelLogoutPlugin from '#plugins/auth/backchannel-logout.ts'
import erasure from '#plugins/auth/erasure.ts'
import oidcClient from '#plugins/auth/oidc-client.ts'
import providerTokens from '#plugins/auth/provider-tokens.ts'
import database from '#plugins/database.ts'
import gracefulShutdown from '#plugins/graceful-shutdown.ts'
import allowedMethods from '#plugins/http/allowed-methods.ts'
import compression from '#plugins/http/compression.ts'
import cors from '#plugins/http/cors.ts'
import errors from '#plugins/http/errors.ts'
import eventStream from '#plugins/http/event-stream.ts'
import notFound from '#plugins/http/not-found.ts'
import parserAnswers from '#plugins/http/parser-answers.ts'
import requestBody from '#plugins/http/request-body.ts'
import securityHeaders from '#plugins/http/security-headers.ts'
import connectionLimit from '#plugins/limits/connection-limit.ts'
import listTurns from '#plugins/limits/list-turns.ts'
import rateLimit, { rateLimitStore } from '#plugins/limits/rate-limit.ts'
import underPressure from '#plugins/limits/under-pressure.ts'
import clientInfo from '#plugins/observability/client-info.ts'
import metricsPlugin from '#plugins/observability/metrics.ts'
import refusals from '#plugins/observability/refusals.ts'
import { createRequestLog } from '#plugins/observability/request-log.ts'
import tracingPlugin from '#plugins/observability/tracing.ts'
import branding from '#plugins/pages/branding.ts'
import forms from '#plugins/pages/forms.ts'
import pages from '#plugins/pages/pages.ts'
import signInReturn from '#plugins/pages/sign-in-return.ts'
import queue from '#plugins/queue.ts'
import billingRecorder from '#plugins/webhooks/billing-recorder.ts'
import customerUrls from '#plugins/webhooks/customer-urls.ts'
import schemaChecks from '#plugins/webhooks/schema-checks.ts'
import webhookVerify from '#plugins/webhooks/webhook-verify.ts'
import api from '#routes/api/index.ts'
import auth from '#routes/auth/index.ts'
import apiDescription from '#routes/openapi.ts'
import pageRoutes from '#routes/pages/index.ts'
import webhookRoutes from '#routes/webhooks/index.ts'
import { createIdentityTokens, type IdentityTokens } from '#src/auth/forward-auth/identity-token.ts'
import { findInvitationObstacle } from '#src/auth/members/invitation-obstacle.ts'
import { portalSeconds } from '#src/auth/portal/portal.ts'
import { type Checkout, createCheckout } from '#src/billing/checkout.ts'
import { requireHookTypes } from '#src/billing/hooks.ts'
import { chooseProvider } from '#src/billing/providers/choose.ts'
import { chooseCheckout } from '#src/billing/providers/choose-api.ts'
import type { Config } from '#src/config/config.ts'
import { createMetrics, type Metrics } from '#src/observability/metrics.ts'
import type { Tracing } from '#src/observability/tracing.ts'
import type { AppScope } from '#src/resources/define-app.ts'
import { faultOfPart } from '#src/resources/load-app.ts'
import { appFolder, resources, app as running } from '#src/resources/running-app.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { alwaysVerified, type VerifyMonitor } from '#src/schema/verification/verify-monitor.ts'
import type { EndpointSettings } from '#src/webhooks/endpoints/actions.ts'
import { findForm } from './schema/citus/statements.ts'
import { serverOptions } from './server-options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    clock: Clock
    /** Those of the app, for `of` of what `defineSettings` returns. */
    settings: object
  }
}

type AppOptions = {
  connect: boolean
  tracing?: Tracing
  /** For tests that stand in for the providers. */
  providerFetch?: typeof globalThis.fetch
}

const owned = resources.filter(({ scope }) => scope === 'owner')
const ofTenants = resources.filter(({ scope }) => scope !== 'owner')
const callbackBytes = 16_384 // contract 9: the response of a provider that posts it

/**
 * Builds the public server. A plugin applies to the scope it is registered in, so the scopes below
 * are the security model:
 *
 *     root                 brand, errors, connection limit, headers, CORS, compression,
 *     │                    links of pages, access check, API description, database, audit of refusals, queue,
 *     │                    OIDC client, check of customers' URLs
 *     ├─ open              assets; no session
 *     ├─ reference         API description, keys of identity tokens; limited per address
 *     ├─ browser           under-pressure, session, credential, erasure, sign-in return,
 *     │  │                 provider tokens, pages, forms
 *     │  ├─ unknown        unknown paths, other methods, OPTIONS; limited per address
 *     │  ├─ signIn         login, callback, signed out; limited per address and session
 *     │  ├─ welcome        the start page, also without sign-in
 *     │  ├─ forwardAuth    forwarded-request, authz: a proxy asks who sent a request to the app behind
 *     │  │                 it; services too
 *     │  ├─ appCalls       authz, tenant-rls: the app, in the tenant that it names
 *     │  ├─ signedIn       app-origins, authz: a caller, and permission by the policy; services too
 *     │  │  └─ tenant      tenant-rls: the caller's tenant
 *     │  ├─ people         authz: account, billing and own pages of the app
 *     │  │  ├─ payments    app-origins: checkout and portal of the billing provider
 *     │  │  └─ members     tenant-rls: pages of the caller's tenant
 *     │  └─ portal         portal-session in place of the other credentials
 *     │     ├─ opening     links of the app; limited per address
 *     │     └─ customers   authz, tenant-rls: webhook pages of one tenant for people without an account
 *     ├─ formPost          the form that a provider posts its response with; no session, forms only
 *     ├─ providerLogout    backchannel-logout: a provider's signature; no session, forms only
 *     └─ webhooks          webhook-verify: a signature over the raw body; no session, no parser
 *
 * Guards are registered in one order in every scope: credential, rate limit, authorization, tenant.
 * The credential is only parsed, so the limit can count per session or token before the database is
 * asked whose it is. A credential that is rejected (malformed, or from another site) is refused after
 * the limit has counted the request for its address.
 * @param options `connect: false` for a server that only generates its API description; `providerFetch`
 *   for tests that stand in for the providers
 */
export async function buildApp(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Metrics = createMetrics(),
  verification: VerifyMonitor = alwaysVerified,
  options: AppOptions = { connect: true },
): Promise<FastifyInstance> {
  const app = Fastify({ ...serverOptions(config, logger), logController: createRequestLog() })
  try {
    await compose(app, { config, metrics, verification, options })
    return app
  } catch (error) {
    // What is registered already has connections, which would keep the process alive.
    await app.close().catch(() => {})
    throw error
  }
}

/** What the scopes are made of. */
type Wiring = {
  config: Config
  metrics: Metrics
  verification: VerifyMonitor
  options: AppOptions
  /** Signs identity tokens. */
  tokens: IdentityTokens
  newEndpoints: EndpointSettings
}

/** Registers the scopes. @throws the error of a plugin or a route, such as one of the app */
async function compose(
  app: FastifyInstance,
  parts: Omit<Wiring, 'tokens' | 'newEndpoints'>,
): Promise<void> {
  const { encryptionKeys: keys, baseUrl: issuer, clock, outbound } = parts.config
  const tokens = createIdentityTokens({ keys, issuer, clock })
  const wiring = { ...parts, tokens, newEndpoints: { keys, signature: outbound.signature } }
  await registerRoot(app, wiring)
  await app.register(open, wiring)
  await app.register(reference, wiring)
  await app.register(browser, wiring)
  await app.register(formPost, wiring)
  await app.register(providerLogout, wiring)
  await app.register(webhooks, wiring)
}

/** Applies to all scopes. */
async function registerRoot(
  app: FastifyInstance,
  { config, metrics, verification, options }: Wiring,
): Promise<void> {
  app.decorate('clock', config.clock)
  app.decorate('settings', config.settings)
  await app.register(schemaCompilers)
  await app.register(tracingPlugin, { tracing: options.tracing })
  await app.register(gracefulShutdown)
  await app.register(clientInfo)
  await app.register(branding, { brand: config.brand })
  await app.register(errors)
  const providers = config.providers.map(({ name }) => name)
  await app.register(metricsPlugin, { metrics, providers })
  await app.register(parserAnswers)
  await app.register(connectionLimit, { ...config.connections, trustProxy: config.trustProxy })
  await app.register(securityHeaders, {
    https: config.session.secureCookie,
    formTargets: config.providers.map(originOf),
  })
  await app.register(allowedMethods)
  await app.register(cors, { tokenOrigins: config.corsOrigins, appOrigins: config.appOrigins })
  await app.register(preconditions)
  await app.register(compression)
  await app.register(listTurns)
  await app.register(pageLinks)
  await app.register(requireAccess)
  await app.register(requestBody)
  await app.register(idempotency, { keys: config.encryptionKeys })
  await app.register(actions)
  await app.register(strictRequests)
  await app.register(openapi, { baseUrl: config.baseUrl })
  await app.register(rateLimitStore, {
    redisUrl: config.redisUrl,
    isShared: metrics.http.sharedLimits,
  })
  const form = options.connect ? await findForm(config.database.url) : undefined
  await app.register(database, { ...config.database, verification, form })
  await app.register(refusals)
  await app.register(queue, { ...config.database, connect: options.connect })
  await app.register(oidcClient, {
    providers: config.providers,
    clock: config.clock,
    secureCookie: config.session.secureCookie,
    ...(options.providerFetch && { providerFetch: options.providerFetch }),
  })
  await app.register(customerUrls, { ...config.outbound, production: config.production })
  await app.register(schemaChecks, { clock: config.clock })
}

async function open(app: FastifyInstance, { config }: Wiring): Promise<void> {
  await app.register(pageRoutes.assets, { brand: config.brand })
}

async function reference(app: FastifyInstance, { config, tokens }: Wiring): Promise<void> {
  await app.register(rateLimit, { name: 'api', limit: config.rateLimits.api, by: 'address' })
  await app.register(apiDescription, { baseUrl: config.baseUrl })
  await app.register(auth.jwks, { tokens })
  await registerOwn(app, 'open')
}

async function browser(app: FastifyInstance, wiring: Wiring): Promise<void> {
  const { config } = wiring
  const { operators, quota, maxEventLoopDelayMs } = config
  await app.register(underPressure, { ...(maxEventLoopDelayMs && { maxEventLoopDelayMs }) })
  const eventRetentionDays = config.outbound.retentionDays
  await app.register(session, { ...config.session, operators, quota, eventRetentionDays })
  await app.register(credential, { baseUrl: config.baseUrl })
  await app.register(erasure)
  await app.register(signInReturn, {
    baseUrl: config.baseUrl,
    returnPaths: config.returnPaths,
    appOrigins: config.appOrigins,
    audiences: config.audiences,
    keys: config.encryptionKeys,
    secureCookie: config.session.secureCookie,
    clock: config.clock,
  })
  await app.register(providerTokens, { ...config.database, keys: config.encryptionKeys })
  await app.register(formbody)
  await app.register(pages)
  await app.register(forms)
  await app.register(unknown, wiring)
  await app.register(signIn, wiring)
  await app.register(welcome, wiring)
  await app.register(forwardAuth, wiring)
  await app.register(appCalls, wiring)
  await app.register(signedIn, wiring)
  await app.register(people, wiring)
  await app.register(portal, wiring)
}

async function unknown(app: FastifyInstance, { config }: Wiring): Promise<void> {
  await app.register(rateLimit, {
    name: 'unknown',
    limit: config.rateLimits.api,
    by: 'address',
    countsUnparsed: true,
  })
  await app.register(notFound)
}

async function signIn(app: FastifyInstance, { config }: Wiring): Promise<void> {
  await app.register(rateLimit, {
    name: 'sign-in',
    limit: config.rateLimits.signIn,
    by: 'address-and-session',
  })
  await app.register(auth.oauth2ProxyStart, { baseUrl: config.baseUrl })
  await app.register(auth.login, { redirectUri: config.redirectUri, ...config.session })
  await app.register(auth.callback, {
    redirectUri: config.redirectUri,
    returnTo: config.returnPaths[0],
    encryptionKeys: config.encryptionKeys,
    operators: config.operators,
    signUp: config.signUp,
    ...config.session,
  })
  await app.register(auth.signedOut, { signedOutUri: config.signedOutUri, ...config.session })
}

async function welcome(app: FastifyInstance, { config }: Wiring): Promise<void> {
  await app.register(rateLimit, { name: 'api', limit: config.rateLimits.api, by: 'session' })
  await app.register(pageRoutes.home, { operators: config.operators })
  await app.register(pageRoutes.invitationLink, config.session)
  if (!config.production) await app.register(pageRoutes.design)
}

async function forwardAuth(app: FastifyInstance, { config, tokens }: Wiring): Promise<void> {
  await app.register(forwardedRequest, { baseUrl: config.baseUrl, audiences: config.audiences })
  await app.register(rateLimit, { name: 'verify', limit: config.rateLimits.verify, by: 'session' })
  await app.register(authz, { services: true })
  await app.register(auth.verify, { tokens })
  await app.register(auth.oauth2Proxy, { tokens })
}

async function appCalls(app: FastifyInstance, { config, newEndpoints }: Wiring): Promise<void> {
  await app.register(rateLimit, {
    name: 'publish',
    limit: config.rateLimits.publish,
    by: 'session',
  })
  await app.register(authz, { services: true })
  await app.register(tenantRls)
  await app.register(api.eventTypes)
  await app.register(api.publish)
  await app.register(api.portalLinks, { baseUrl: config.baseUrl })
  await app.register(api.tenantMembers)
  await app.register(api.tenantWebhookEndpoints, newEndpoints)
}

async function signedIn(app: FastifyInstance, wiring: Wiring): Promise<void> {
  const { config } = wiring
  await app.register(appOrigins, { origins: config.appOrigins })
  await app.register(rateLimit, { name: 'api', limit: config.rateLimits.api, by: 'session' })
  await app.register(authz, { services: true })
  await app.register(auth.logout, { signedOutUri: config.signedOutUri, ...config.session })
  await app.register(auth.sessions, config.session)
  await app.register(auth.identities, { redirectUri: config.redirectUri })
  await app.register(api.apiTokens)
  await app.register(auth.audit)
  await app.register(auth.account)
  await app.register(api.tenants)
  await app.register(api.me)
  await app.register(api.ownInvitations)
  await app.register(api.declared, { resources: owned, currency: config.currency })
  await registerOwn(app, 'signedIn')
  await app.register(tenant, wiring)
}

async function tenant(app: FastifyInstance, { config, newEndpoints }: Wiring): Promise<void> {
  await app.register(tenantRls)
  await app.register(api.declared, { resources: ofTenants, currency: config.currency })
  await app.register(api.users, { baseUrl: config.baseUrl, keys: config.encryptionKeys })
  await app.register(api.tenantDeletion)
  await app.register(api.tenantName)
  await app.register(api.invitations)
  await app.register(api.folders)
  await app.register(api.teams)
  await app.register(api.teamMembers)
  await app.register(api.audit)
  await app.register(api.serviceTokens)
  await app.register(api.webhookEndpoints, newEndpoints)
  await app.register(api.deliveries)
  await app.register(api.endpointReplays)
  await app.register(api.events)
  await app.register(api.notifications)
  await app.register(api.usage, { quota: config.quota })
  await registerOwn(app, 'tenant')
}

async function people(app: FastifyInstance, wiring: Wiring): Promise<void> {
  const { config } = wiring
  await app.register(rateLimit, { name: 'api', limit: config.rateLimits.api, by: 'session' })
  await app.register(authz)
  await app.register(eventStream)
  const checkout = createCheckout(chooseCheckout(config), config.billing, config.clock, app.log)
  await app.register(pageRoutes.access)
  await app.register(pageRoutes.go, { resources })
  await app.register(pageRoutes.account, { ...config.session, checkout })
  await app.register(pageRoutes.accountTokens, { keys: config.encryptionKeys })
  await app.register(pageRoutes.commandLine)
  await app.register(pageRoutes.invitations)
  await app.register(pageRoutes.declared, { resources: owned })
  await registerOwn(app, 'people')
  await app.register(pageRoutes.plan, { checkout, baseUrl: config.baseUrl })
  await app.register(api.billingEvents)
  await app.register(api.billingReplays)
  await app.register(api.billingReconciliations)
  await app.register(api.billingCustomers)
  await app.register(api.appTokens)
  await app.register(pageRoutes.operations)
  const provider = chooseProvider(config.billing.provider, config)
  await app.register(pageRoutes.billing, { provider })
  await app.register(pageRoutes.billingCustomers)
  await app.register(pageRoutes.unlinkedCustomers, { provider, plans: config.billing.plans })
  await app.register(pageRoutes.appTokens, { keys: config.encryptionKeys })
  await app.register(payments, { config, checkout })
  await app.register(members, wiring)
}

async function payments(
  app: FastifyInstance,
  { config, checkout }: Pick<Wiring, 'config'> & { checkout: Checkout },
): Promise<void> {
  await app.register(appOrigins, { origins: config.appOrigins })
  await app.register(api.billingCheckout, { checkout, baseUrl: config.baseUrl })
}

async function members(app: FastifyInstance, wiring: Wiring): Promise<void> {
  const { config } = wiring
  await app.register(tenantRls)
  await app.register(pageRoutes.tenant, {
    baseUrl: config.baseUrl,
    keys: config.encryptionKeys,
    mails: config.sendsMail,
    obstacle: findInvitationObstacle(config),
    quota: config.quota,
  })
  await app.register(pageRoutes.welcome, { returnTo: config.returnPaths[0] })
  await app.register(pageRoutes.declared, { resources: ofTenants })
  await registerOwn(app, 'members')
  await app.register(pageRoutes.invoices)
  await app.register(pageRoutes.teams)
  await app.register(pageRoutes.audit)
  await app.register(pageRoutes.serviceTokens, { keys: config.encryptionKeys })
  await registerWebhookPages(app, '/app', wiring)
}

async function portal(app: FastifyInstance, wiring: Wiring): Promise<void> {
  const { config } = wiring
  const frameOrigins = config.portalFrameOrigins
  await app.register(portalSession, { frameOrigins, sessionSeconds: portalSeconds })
  await app.register(opening, wiring)
  await app.register(customers, wiring)
}

async function opening(app: FastifyInstance, { config }: Wiring): Promise<void> {
  await app.register(rateLimit, { name: 'api', limit: config.rateLimits.api, by: 'address' })
  await app.register(pageRoutes.openPortal, { frameOrigins: config.portalFrameOrigins })
}

async function customers(app: FastifyInstance, wiring: Wiring): Promise<void> {
  const limit = wiring.config.rateLimits.api
  await app.register(rateLimit, { name: 'api', limit, by: 'session' })
  await app.register(authz, { services: true })
  await app.register(eventStream)
  await app.register(tenantRls)
  await registerWebhookPages(app, '/portal', wiring)
}

async function formPost(app: FastifyInstance, { config }: Wiring): Promise<void> {
  await app.register(rateLimit, { name: 'sign-in', limit: config.rateLimits.signIn, by: 'address' })
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit: callbackBytes })
  await app.register(auth.callbackForm, { encryptionKeys: config.encryptionKeys })
}

async function providerLogout(app: FastifyInstance, { config }: Wiring): Promise<void> {
  await app.register(rateLimit, { name: 'logout', limit: config.rateLimits.logout, by: 'address' })
  await app.register(backchannelLogoutPlugin)
  await app.register(auth.backchannelLogout)
}

async function webhooks(app: FastifyInstance, { config, metrics }: Wiring): Promise<void> {
  await app.register(rateLimit, {
    name: 'webhooks',
    limit: config.rateLimits.webhooks,
    by: 'address',
  })
  await app.register(billingRecorder, {
    url: config.database.url,
    limits: config.billing.recorder,
  })
  requireHookTypes()
  const provider = chooseProvider(config.billing.provider, config)
  await app.register(webhookVerify, {
    provider,
    secrets: config.billing.secrets,
    clock: config.clock,
    metrics: metrics.billing,
    maxUnverifiedBytes: config.billing.maxUnverifiedBytes,
  })
  await app.register(webhookRoutes.billing, { provider })
}

/** The routes of the app in a scope. @throws OperatorError naming the file and the line of a mistake in them */
async function registerOwn(app: FastifyInstance, scope: AppScope) {
  for (const load of running.routes?.[scope] ?? []) {
    try {
      // The scope has checked nothing about its type, which define-app.ts leaves open.
      await app.register((await load()).default as unknown as FastifyPluginAsync)
    } catch (error) {
      throw faultOfPart(`A route of the app in the scope ${scope}`, error, appFolder ?? '')
    }
  }
}

async function registerWebhookPages(
  app: FastifyInstance,
  prefix: '/app' | '/portal',
  { config, newEndpoints }: Wiring,
) {
  const { retrySeconds } = config.outbound
  const endpoints = { ...newEndpoints, schedule: config.outbound }
  await app.register(pageRoutes.webhooks, { prefix, ...endpoints })
  await app.register(pageRoutes.endpointDeliveries, { prefix })
  await app.register(pageRoutes.webhookEndpoint, { prefix, ...newEndpoints })
  await app.register(pageRoutes.deliveries, { prefix, keys: config.encryptionKeys, retrySeconds })
  await app.register(pageRoutes.webhookReplays, { prefix })
  await app.register(pageRoutes.events, { prefix })
  await app.register(pageRoutes.eventTypes, { prefix })
}

/** Where a form that links an identity leads to. */
function originOf({ issuer, oauth2 }: Config['providers'][number]): string {
  return new URL(oauth2?.authorizationEndpoint ?? issuer).origin
}
