import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { findUnknownSettings } from './documentation.ts'
import {
  type BillingApiConfig,
  type Environment,
  type MailConfig,
  type OutboundConfig,
  type RateLimit,
  readAllowedHosts,
  readBillingApi,
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
import { type ProviderConfig, readProviders } from './providers.ts'
import { readTrustProxy } from './proxies.ts'
import { Settings } from './settings.ts'

export type Config = {
  production: boolean
  host: string
  port: number
  /** Origin without a trailing slash. */
  baseUrl: string
  redirectUri: string
  signedOutUri: string
  admin: { host: string; port: number }
  trustProxy: readonly string[]
  role: 'all' | 'web' | 'worker'
  /** How long requests are still accepted after SIGTERM. */
  drainMs: number
  database: {
    url: string
    workerUrl: string
    ownerUrl: string | undefined
    poolSize: number
  }
  session: {
    secrets: readonly [string, ...string[]]
    idleSeconds: number
    absoluteSeconds: number
    secureCookie: boolean
  }
  encryptionKeys: EncryptionKeys
  providers: readonly ProviderConfig[]
  /** Paths that a sign-in may return to besides our own pages; the first is the default. */
  returnPaths: readonly [string, ...string[]]
  billing: {
    secrets: readonly [string, ...string[]]
    api: BillingApiConfig | null
    retentionDays: number
  }
  outbound: OutboundConfig
  /** Null if no mail server is configured. */
  mail: MailConfig | null
  /** `provider:subject` pairs. */
  operators: ReadonlySet<string>
  rateLimits: { signIn: RateLimit; webhooks: RateLimit; api: RateLimit }
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

  constructor(faults: readonly string[]) {
    super(`The settings are not valid:
${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/**
 * Reads the settings from an environment.
 * @throws ConfigError with all faults at once; none of them contains a secret value
 */
export function readConfig(env: Environment): Config {
  const faults: string[] = []
  const warnings = findUnknownSettings(env).map(
    ({ name, nearest }) => `${name} is not a setting of Gatehouse; did you mean ${nearest}?`,
  )
  const values = readSchema(Settings, env, '', faults)
  const production = values.NODE_ENV === 'production'
  const baseUrl = readOrigin('BASE_URL', values.BASE_URL, production, faults)
  const databaseUrl = readDatabaseUrl('DATABASE_URL', values.DATABASE_URL, faults)
  const config: Config = {
    production,
    host: values.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: values.PORT,
    baseUrl,
    redirectUri: `${baseUrl}/auth/callback`,
    signedOutUri: `${baseUrl}/auth/signed-out`,
    admin: { host: values.ADMIN_HOST, port: values.ADMIN_PORT },
    trustProxy: readTrustProxy(values.TRUST_PROXY, faults, warnings),
    role: values.ROLE,
    drainMs: (values.DRAIN_SECONDS ?? (production ? 3 : 0)) * 1_000,
    database: {
      url: databaseUrl,
      workerUrl:
        values.DATABASE_WORKER_URL === undefined
          ? databaseUrl
          : readDatabaseUrl('DATABASE_WORKER_URL', values.DATABASE_WORKER_URL, faults),
      ownerUrl: values.DATABASE_OWNER_URL,
      poolSize: values.DATABASE_POOL_SIZE,
    },
    session: {
      secrets: readSecrets('SESSION_SECRETS', values.SESSION_SECRETS, 32, faults),
      idleSeconds: values.SESSION_IDLE_SECONDS,
      absoluteSeconds: values.SESSION_ABSOLUTE_SECONDS,
      secureCookie: !baseUrl.startsWith('http://'),
    },
    encryptionKeys: readEncryptionKeys(values.ENCRYPTION_KEYS, faults),
    providers: readProviders(env, values.OIDC_PROVIDERS, production, faults),
    returnPaths: readReturnPaths(values.SIGN_IN_RETURN_TO, faults),
    billing: {
      secrets: readSecrets('BILLING_WEBHOOK_SECRETS', values.BILLING_WEBHOOK_SECRETS, 16, faults),
      api: readBillingApi(values.BILLING_API_URL, values.BILLING_API_KEY, production, faults),
      retentionDays: values.BILLING_RETENTION_DAYS,
    },
    outbound: {
      retrySeconds: readRetrySeconds(values.OUTBOUND_RETRY_SECONDS, faults),
      timeoutMs: values.OUTBOUND_TIMEOUT_MS,
      perAddress: values.OUTBOUND_PER_ADDRESS,
      signature: values.OUTBOUND_SIGNATURE,
      allow: readAllowedHosts(values.OUTBOUND_ALLOW, faults),
      retentionDays: values.OUTBOUND_RETENTION_DAYS,
    },
    mail: readMail(values.SMTP_URL, values.ALERT_FROM, faults),
    operators: readOperators(values.OPERATORS, faults),
    rateLimits: {
      signIn: readRateLimit('RATE_LIMIT_SIGN_IN', values.RATE_LIMIT_SIGN_IN, faults),
      webhooks: readRateLimit('RATE_LIMIT_WEBHOOKS', values.RATE_LIMIT_WEBHOOKS, faults),
      api: readRateLimit('RATE_LIMIT_API', values.RATE_LIMIT_API, faults),
    },
    redisUrl: readRedisUrl(values.REDIS_URL, faults),
    logLevel: values.LOG_LEVEL,
    tracing: readTracing(values, faults),
    warnings,
    clock: readClock(values.GATEHOUSE_NOW, production, faults),
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}
