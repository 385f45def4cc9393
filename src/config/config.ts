import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { randomToken } from '#src/crypto/hash.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { readAppOrigins, readCorsOrigins, readFrameOrigins } from './allowed-origins.ts'
import { type AppWebhook, readAppWebhook } from './app-webhook.ts'
import { type Audience, readAudiences } from './audiences.ts'
import {
  type BillingApiConfig,
  type BillingPlans,
  type BillingProviderName,
  hasCheckout,
  isBillingProvider,
  readBillingApi,
  readBillingPlans,
  readBillingSecrets,
} from './billing.ts'
import { type Brand, readBrand } from './brand.ts'
import { findUnknownSettings } from './documentation.ts'
import {
  type Environment,
  type MailConfig,
  type OutboundConfig,
  type QuotaConfig,
  type RateLimit,
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
  type TracingConfig,
} from './parse.ts'
import { type ProviderConfig, readProviders } from './providers/providers.ts'
import { readTrustProxy } from './proxies.ts'
import { Settings } from './settings.ts'

export type Config = {
  production: boolean
  /** How the pages name and colour the product. */
  brand: Brand
  /** Of an order that names none, by its code of ISO 4217. */
  currency: string
  host: string
  port: number
  /** Origin without a trailing slash. */
  baseUrl: string
  redirectUri: string
  signedOutUri: string
  admin: { host: string; port: number }
  trustProxy: readonly string[]
  /** Open connections of the public listener. */
  connections: { max: number; maxPerAddress: number }
  role: 'all' | 'web' | 'worker'
  /** How long requests are still accepted after SIGTERM. */
  drainMs: number
  /** Set by tests only: the delay of the event loop beyond which a process refuses requests. */
  maxEventLoopDelayMs?: number
  /** In a process of one role, both URLs are that of its role. */
  database: {
    url: string
    workerUrl: string
    ownerUrl: string | undefined
    poolSize: number
    /** Set by tests only: other limits than those of requests and jobs. */
    limits?: { acquireMs?: number; lockMs?: number }
  }
  session: {
    /** The first signs, all verify. A worker has a random one, which nothing uses. */
    secrets: readonly [string, ...string[]]
    idleSeconds: number
    absoluteSeconds: number
    secureCookie: boolean
  }
  encryptionKeys: EncryptionKeys
  providers: readonly ProviderConfig[]
  /** Who may get an account. */
  signUp: 'open' | 'invited' | 'closed'
  /** Paths that a sign-in may return to besides our own pages; the first is the default. */
  returnPaths: readonly [string, ...string[]]
  /** Apps behind a proxy that identity tokens are made for; the first is the default. */
  audiences: readonly [Audience, ...Audience[]]
  /** Origins of the same site whose pages may call the API with the session cookie. */
  appOrigins: readonly string[]
  /** Origins whose pages may call the API with a token. */
  corsOrigins: readonly string[]
  /** Origins whose pages may frame the portal. */
  portalFrameOrigins: readonly string[]
  billing: {
    provider: BillingProviderName
    /** All verify. A worker has a random one, which nothing uses. */
    secrets: readonly [string, ...string[]]
    /** Null: every subscription is `pro`. */
    plans: BillingPlans | null
    /** Null if it is not configured, and in a web process that starts no checkouts. */
    api: BillingApiConfig | null
    /** Null if processed events are not posted to an app, and in a web process. */
    appWebhook: AppWebhook | null
    retentionDays: number
    /** Of bodies whose signature is not verified yet, in one process. */
    maxUnverifiedBytes: number
    /** Set by tests only: other limits for recording an event. */
    recorder?: { connectMs?: number; waitMs?: number; sendMs?: number; beginMs?: number }
  }
  outbound: OutboundConfig
  /** Null if no mail server is configured, and in a web process. */
  mail: MailConfig | null
  /** Whether this process or a worker sends mail. */
  sendsMail: boolean
  /** `provider:subject` pairs. */
  operators: ReadonlySet<string>
  /** What a tenant may store. */
  quota: QuotaConfig
  rateLimits: Record<'signIn' | 'webhooks' | 'logout' | 'verify' | 'publish' | 'api', RateLimit>
  audit: { retentionDays: number }
  /** Null in a worker. */
  redisUrl: string | null
  logLevel: string
  /** Null: tracing is off. */
  tracing: TracingConfig | null
  /** What the settings allow but an operator should look at: logged at start, shown by `doctor`. */
  warnings: readonly string[]
  clock: Clock
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
 * @throws ConfigError with all faults at once; none of them contains a secret value
 */
export function readConfig(env: Environment): Config {
  const faults: string[] = []
  const warnings = findUnknownSettings(env).map(
    ({ name, nearest }) => `${name} is not a setting of Gatehouse; did you mean ${nearest}?`,
  )
  const values = readSchema(Settings, env, '', faults)
  const production = values.NODE_ENV === 'production'
  if (production && values.DATABASE_OWNER_URL !== undefined) warnings.push(ownerInReach)
  const baseUrl = readOrigin('BASE_URL', values.BASE_URL, production, faults)
  const [isWeb, isWorker] = [values.ROLE !== 'worker', values.ROLE !== 'web']
  const config: Config = {
    production,
    host: values.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: values.PORT,
    baseUrl,
    redirectUri: `${baseUrl}/auth/callback`,
    signedOutUri: `${baseUrl}/auth/signed-out`,
    admin: { host: values.ADMIN_HOST, port: values.ADMIN_PORT },
    trustProxy: readTrustProxy(values.TRUST_PROXY, faults, warnings),
    connections: {
      max: values.MAX_CONNECTIONS,
      maxPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    },
    role: values.ROLE,
    drainMs: (values.DRAIN_SECONDS ?? (production ? 3 : 0)) * 1_000,
    database: {
      ...readDatabaseUrls(values, faults),
      ownerUrl: values.DATABASE_OWNER_URL,
      poolSize: values.DATABASE_POOL_SIZE,
    },
    session: readSession(values, baseUrl, isWeb, faults),
    encryptionKeys: readEncryptionKeys(values.ENCRYPTION_KEYS, faults),
    providers: readProviders(env, values.OIDC_PROVIDERS, production, faults),
    signUp: values.SIGN_UP,
    returnPaths: readReturnPaths(values.SIGN_IN_RETURN_TO, faults),
    audiences: readAudiences(values.IDENTITY_AUDIENCE ?? baseUrl, baseUrl, faults),
    appOrigins: readAppOrigins(values.APP_ORIGINS, baseUrl, faults),
    corsOrigins: readCorsOrigins(values.CORS_ORIGINS, production, faults),
    portalFrameOrigins: readFrameOrigins(values.PORTAL_FRAME_ORIGINS, production, faults),
    billing: readBilling(env, values, { production, isWeb, isWorker }, faults, warnings),
    outbound: readOutbound(values, faults),
    mail: isWorker ? readMail(values.SMTP_URL, values.ALERT_FROM, faults) : null,
    sendsMail: values.ALERT_FROM !== undefined,
    operators: readOperators(values.OPERATORS, faults),
    rateLimits: readRateLimits(values, faults),
    quota: {
      resources: readBudget('QUOTA_RESOURCES', values.QUOTA_RESOURCES, faults),
      events: readBudget('QUOTA_EVENTS', values.QUOTA_EVENTS, faults),
    },
    audit: { retentionDays: values.AUDIT_RETENTION_DAYS },
    currency: values.CURRENCY,
    brand: readBrand(values, isWeb, faults),
    redisUrl: isWeb ? readRedisUrl(values.REDIS_URL, faults) : null,
    logLevel: values.LOG_LEVEL,
    tracing: readTracing(values, faults),
    warnings,
    clock: readClock(values.GATEHOUSE_NOW, production, faults),
  }
  if (faults.length > 0) throw new ConfigError(faults, askInit)
  return config
}

type Values = ReturnType<typeof readSchema<typeof Settings>>

function readBilling(
  env: Environment,
  values: Values,
  { production, isWeb, isWorker }: { production: boolean; isWeb: boolean; isWorker: boolean },
  faults: string[],
  warnings: string[],
): Config['billing'] {
  // A wrong name is a fault already, and the rules of the default find nothing that it does not.
  const billingProvider = isBillingProvider(values.BILLING_PROVIDER)
    ? values.BILLING_PROVIDER
    : 'signed'
  return {
    provider: billingProvider,
    secrets: isWeb ? readBillingSecrets(billingProvider, env, faults, warnings) : [randomToken()],
    plans: readBillingPlans(billingProvider, values.BILLING_PLANS, faults),
    api:
      isWorker || hasCheckout(billingProvider)
        ? readBillingApi(billingProvider, values, production, faults)
        : null,
    appWebhook: isWorker ? readAppWebhook(values, faults) : null,
    retentionDays: values.BILLING_RETENTION_DAYS,
    maxUnverifiedBytes: values.BILLING_UNVERIFIED_MIB * 1_048_576,
  }
}

function readSession(
  values: Values,
  baseUrl: string,
  isWeb: boolean,
  faults: string[],
): Config['session'] {
  return {
    secrets: isWeb
      ? readSecrets('SESSION_SECRETS', values.SESSION_SECRETS, 32, faults)
      : [randomToken()],
    idleSeconds: values.SESSION_IDLE_SECONDS,
    absoluteSeconds: values.SESSION_ABSOLUTE_SECONDS,
    secureCookie: !baseUrl.startsWith('http://'),
  }
}

function readOutbound(values: Values, faults: string[]): Config['outbound'] {
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

function readRateLimits(values: Values, faults: string[]): Config['rateLimits'] {
  return {
    signIn: readRateLimit('RATE_LIMIT_SIGN_IN', values.RATE_LIMIT_SIGN_IN, faults),
    webhooks: readRateLimit('RATE_LIMIT_WEBHOOKS', values.RATE_LIMIT_WEBHOOKS, faults),
    logout: readRateLimit('RATE_LIMIT_LOGOUT', values.RATE_LIMIT_LOGOUT, faults),
    verify: readRateLimit('RATE_LIMIT_VERIFY', values.RATE_LIMIT_VERIFY, faults),
    publish: readRateLimit('RATE_LIMIT_PUBLISH', values.RATE_LIMIT_PUBLISH, faults),
    api: readRateLimit('RATE_LIMIT_API', values.RATE_LIMIT_API, faults),
  }
}

type UrlSettings = {
  ROLE: string
  DATABASE_URL?: string
  DATABASE_WORKER_URL?: string
}

function readDatabaseUrls(
  { ROLE: role, DATABASE_URL, DATABASE_WORKER_URL }: UrlSettings,
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
