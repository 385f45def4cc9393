import Type, { type TObject } from 'typebox'
import { randomToken } from '#src/crypto/hash.ts'
import { readAppOrigins, readCorsOrigins, readFrameOrigins } from './allowed-origins.ts'
import { readAppWebhook } from './app-webhook.ts'
import { readAudiences } from './audiences.ts'
import {
  checkPlans,
  hasCheckout,
  isBillingProvider,
  readBillingApi,
  readBillingMetadata,
  readBillingPlans,
  readBillingSecrets,
} from './billing.ts'
import { readBrand } from './brand.ts'
import { findUnknownSettings } from './documentation.ts'
import {
  type Environment,
  type OutboundConfig,
  readAllowedHosts,
  readBudget,
  readClock,
  readDatabaseUrl,
  readEncryptionKeys,
  readMail,
  readOperators,
  readOrigin,
  readRateLimit,
  readRedisUrl,
  readRetrySeconds,
  readReturnPaths,
  readSchema,
  readSecrets,
  readTracing,
} from './parse.ts'
import { readProviders } from './providers/providers.ts'
import { readTrustProxy } from './proxies.ts'
import { Settings } from './settings.ts'

export type Config = ReturnType<typeof readSettings> & {
  /** Set by tests only: the delay of the event loop beyond which a process refuses requests. */
  maxEventLoopDelayMs?: number
  /** Tests alone set other limits than those of requests and jobs. */
  database: { limits?: { acquireMs?: number; lockMs?: number } }
  /** Tests alone set other limits for recording an event. */
  billing: { recorder?: { connectMs?: number; waitMs?: number; sendMs?: number; beginMs?: number } }
}

/** The settings are not valid; `faults` names each setting and its rule. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[], remedy?: string) {
    const lines = faults.map((fault) => `  - ${fault}`)
    super(['The settings are not valid:', ...lines, ...(remedy ? [remedy] : [])].join('\n'))
    this.name = 'ConfigError'
    this.faults = faults
  }
}

const askInit =
  '`gatehouse init` asks for what an installation needs and writes it to .env; docs/settings.md describes each setting.'

const ownerInReach =
  'DATABASE_OWNER_URL is among the settings of this process, which does not need it: whoever can read them owns the database, without row-level security. Keep it where only migrate reads it (docs/deployment.md).'

/**
 * Reads the settings from an environment. A process of one role needs, and keeps, only the secrets
 * of that role.
 * @param own settings of the app
 * @param plans of the app; empty if it declares none
 * @throws ConfigError with all faults at once; none of them contains a secret value
 */
export function readConfig(
  env: Environment,
  own: TObject = Type.Object({}),
  plans: readonly string[] = [],
): Config {
  const faults: string[] = []
  const config = readSettings(env, own, faults)
  checkPlans(config.billing.plans, plans, faults)
  if (faults.length > 0) throw new ConfigError(faults, askInit)
  return config
}

function readSettings(env: Environment, own: TObject, faults: string[]) {
  const warnings = findUnknownSettings(env, own).map(
    ({ name, nearest }) => `${name} is not a setting; did you mean ${nearest}?`,
  )
  const values = readSchema(Settings, env, '', faults)
  const production = values.NODE_ENV === 'production'
  if (production && values.DATABASE_OWNER_URL !== undefined) warnings.push(ownerInReach)
  const baseUrl = readOrigin('BASE_URL', values.BASE_URL, production, faults)
  const [isWeb, isWorker] = [values.ROLE !== 'worker', values.ROLE !== 'web']
  const mail = isWorker ? readMail(values.SMTP_URL, values.ALERT_FROM, faults) : null
  return {
    production,
    /** Those of the app. */
    settings: readSchema(own, env, '', faults) as object,
    host: values.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: values.PORT,
    /** Origin without a trailing slash. */
    baseUrl,
    redirectUri: `${baseUrl}/auth/callback`,
    signedOutUri: `${baseUrl}/auth/signed-out`,
    admin: { host: values.ADMIN_HOST, port: values.ADMIN_PORT },
    trustProxy: readTrustProxy(values.TRUST_PROXY, faults, warnings),
    /** Open connections of the public listener. */
    connections: {
      max: values.MAX_CONNECTIONS,
      maxPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    },
    role: values.ROLE,
    /** How long requests are still accepted after SIGTERM. */
    drainMs: (values.DRAIN_SECONDS ?? (production ? 3 : 0)) * 1_000,
    /** In a process of one role, both URLs are that of its role. */
    database: {
      ...readDatabaseUrls(values, faults),
      ownerUrl: values.DATABASE_OWNER_URL,
      poolSize: values.DATABASE_POOL_SIZE,
    },
    session: readSession(values, baseUrl, isWeb, faults),
    encryptionKeys: readEncryptionKeys(values.ENCRYPTION_KEYS, faults),
    providers: readProviders(env, values.OIDC_PROVIDERS, production, faults),
    /** Who may get an account. */
    signUp: values.SIGN_UP,
    /** Paths that a sign-in may return to besides our own pages; the first is the default. */
    returnPaths: readReturnPaths(values.SIGN_IN_RETURN_TO, faults),
    /** Apps behind a proxy that identity tokens are made for; the first is the default. */
    audiences: readAudiences(values.IDENTITY_AUDIENCE ?? baseUrl, baseUrl, faults),
    /** Origins of the same site whose pages may call the API with the session cookie. */
    appOrigins: readAppOrigins(values.APP_ORIGINS, baseUrl, faults),
    /** Origins whose pages may call the API with a token. */
    corsOrigins: readCorsOrigins(values.CORS_ORIGINS, production, faults),
    /** Origins whose pages may frame the portal. */
    portalFrameOrigins: readFrameOrigins(values.PORTAL_FRAME_ORIGINS, production, faults),
    billing: readBilling(env, values, { production, isWeb, isWorker }, faults, warnings),
    outbound: readOutbound(values, faults),
    /** Null if no mail server is configured, and in a web process. */
    mail,
    /** Whether this process or a worker sends mail. */
    sendsMail: values.ALERT_FROM !== undefined,
    /** `provider:subject` pairs. */
    operators: readOperators(values.OPERATORS, faults),
    rateLimits: readRateLimits(values, faults),
    /** What a tenant may store. */
    quota: {
      resources: readBudget('QUOTA_RESOURCES', values.QUOTA_RESOURCES, faults),
      events: readBudget('QUOTA_EVENTS', values.QUOTA_EVENTS, faults),
    },
    audit: { retentionDays: values.AUDIT_RETENTION_DAYS },
    /** The currency of a row that names none, by its code of ISO 4217. */
    currency: values.CURRENCY,
    /** How the pages name and colour the product. */
    brand: readBrand(values, isWeb || mail !== null, faults),
    /** Null in a worker. */
    redisUrl: isWeb ? readRedisUrl(values.REDIS_URL, faults) : null,
    logLevel: values.LOG_LEVEL,
    /** Null: tracing is off. */
    tracing: readTracing(values, faults),
    /** What the settings allow but an operator should look at: logged at start, shown by `doctor`. */
    warnings,
    clock: readClock(values.GATEHOUSE_NOW, production, faults),
  }
}

type Values = ReturnType<typeof readSchema<typeof Settings>>

function readBilling(
  env: Environment,
  values: Values,
  { production, isWeb, isWorker }: { production: boolean; isWeb: boolean; isWorker: boolean },
  faults: string[],
  warnings: string[],
) {
  // A wrong name is already a fault; the rules of the default provider add no other.
  const billingProvider = isBillingProvider(values.BILLING_PROVIDER)
    ? values.BILLING_PROVIDER
    : 'signed'
  return {
    provider: billingProvider,
    /** All verify. A worker has a random one, which nothing uses. */
    secrets: isWeb ? readBillingSecrets(billingProvider, env, faults, warnings) : unusedSecrets(),
    /** Who starts checkouts. Customers that are linked already stay what they are. */
    customer: values.BILLING_CUSTOMER,
    /** Null: every subscription is `pro`. */
    plans: readBillingPlans(billingProvider, values.BILLING_PLANS, faults),
    /** The keys of a subscription's metadata that are kept and shown. */
    metadata: readBillingMetadata(billingProvider, values.BILLING_METADATA, faults),
    /** Null if it is not configured, and in a web process that starts no checkouts. */
    api:
      isWorker || hasCheckout(billingProvider)
        ? readBillingApi(billingProvider, values, production, faults)
        : null,
    /** Null if processed events are not posted to an app, and in a web process. */
    appWebhook: isWorker ? readAppWebhook(values, faults) : null,
    retentionDays: values.BILLING_RETENTION_DAYS,
    /** The most bytes of bodies whose signature is not verified yet, in one process. */
    maxUnverifiedBytes: values.BILLING_UNVERIFIED_MIB * 1_048_576,
  }
}

function readSession(values: Values, baseUrl: string, isWeb: boolean, faults: string[]) {
  return {
    /** The first signs, all verify. A worker has a random one, which nothing uses. */
    secrets: isWeb
      ? readSecrets('SESSION_SECRETS', values.SESSION_SECRETS, 32, faults)
      : unusedSecrets(),
    idleSeconds: values.SESSION_IDLE_SECONDS,
    absoluteSeconds: values.SESSION_ABSOLUTE_SECONDS,
    secureCookie: !baseUrl.startsWith('http://'),
  }
}

function unusedSecrets(): [string] {
  return [randomToken()]
}

function readOutbound(values: Values, faults: string[]): OutboundConfig {
  return {
    retrySeconds: readRetrySeconds(values.OUTBOUND_RETRY_SECONDS, faults),
    timeoutMs: values.OUTBOUND_TIMEOUT_MS,
    perAddress: values.OUTBOUND_PER_ADDRESS,
    logPerSecond: values.OUTBOUND_LOG_PER_SECOND,
    signature: values.OUTBOUND_SIGNATURE,
    allow: readAllowedHosts(values.OUTBOUND_ALLOW, faults),
    retentionDays: values.OUTBOUND_RETENTION_DAYS,
    feedDays: values.OUTBOUND_FEED_DAYS,
  }
}

function readRateLimits(values: Values, faults: string[]) {
  return {
    signIn: readRateLimit('RATE_LIMIT_SIGN_IN', values.RATE_LIMIT_SIGN_IN, faults),
    webhooks: readRateLimit('RATE_LIMIT_WEBHOOKS', values.RATE_LIMIT_WEBHOOKS, faults),
    logout: readRateLimit('RATE_LIMIT_LOGOUT', values.RATE_LIMIT_LOGOUT, faults),
    verify: readRateLimit('RATE_LIMIT_VERIFY', values.RATE_LIMIT_VERIFY, faults),
    publish: readRateLimit('RATE_LIMIT_PUBLISH', values.RATE_LIMIT_PUBLISH, faults),
    api: readRateLimit('RATE_LIMIT_API', values.RATE_LIMIT_API, faults),
  }
}

function readDatabaseUrls(
  { ROLE: role, DATABASE_URL, DATABASE_WORKER_URL }: Values,
  faults: string[],
): { url: string; workerUrl: string } {
  const hasWorkerUrl = DATABASE_WORKER_URL !== undefined
  const readUrl = () => readDatabaseUrl('DATABASE_URL', DATABASE_URL, faults)
  const readWorkerUrl = () => readDatabaseUrl('DATABASE_WORKER_URL', DATABASE_WORKER_URL, faults)
  if (role === 'worker') {
    const workerUrl = hasWorkerUrl ? readWorkerUrl() : readUrl()
    return { url: workerUrl, workerUrl }
  }
  const url = readUrl()
  return { url, workerUrl: hasWorkerUrl && role !== 'web' ? readWorkerUrl() : url }
}
