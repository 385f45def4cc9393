import type Type from 'typebox'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { type Clock, clockStartingAt, systemClock } from './clock.ts'
import type { ProviderConfig } from './identity/provider.ts'
import { ProviderSettings, Settings } from './settings.ts'

type Environment = Readonly<Record<string, string | undefined>>
export type RateLimit = { max: number; seconds: number } | 'off'

/** One provider; with `true` or a list of lower-case domains it may vouch for addresses. */
export type ProviderSetup = ProviderConfig & { trustEmail: boolean | readonly string[] }

export type Config = {
  production: boolean
  host: string
  port: number
  /** Origin without a trailing slash. */
  baseUrl: string
  redirectUri: string
  admin: { host: string; port: number }
  trustProxy: readonly string[]
  role: 'all' | 'web' | 'worker'
  database: { url: string; workerUrl: string; ownerUrl: string | undefined; poolSize: number }
  session: {
    secrets: readonly [string, ...string[]]
    idleSeconds: number
    absoluteSeconds: number
    secureCookie: boolean
  }
  providers: readonly ProviderSetup[]
  returnTo: string
  billing: { secrets: readonly [string, ...string[]] }
  rateLimits: { signIn: RateLimit; webhooks: RateLimit; api: RateLimit }
  logLevel: string
  clock: Clock
}

/** Thrown when the environment is not a configuration; `faults` names each setting and its rule. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(`The settings are not complete:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

const asymmetricAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']
const fallbackUrl = 'http://invalid'

/**
 * Reads the settings from an environment.
 * @throws ConfigError with every fault at once, none of them repeating a secret value
 */
export function readConfig(env: Environment): Config {
  const faults: string[] = []
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
    admin: { host: values.ADMIN_HOST, port: values.ADMIN_PORT },
    trustProxy: list(values.TRUST_PROXY),
    role: values.ROLE,
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
    providers: readProviders(env, values.OIDC_PROVIDERS, production, faults),
    returnTo: readReturnTo(values.SIGN_IN_RETURN_TO, faults),
    billing: {
      secrets: readSecrets('BILLING_WEBHOOK_SECRETS', values.BILLING_WEBHOOK_SECRETS, 16, faults),
    },
    rateLimits: {
      signIn: readRateLimit('RATE_LIMIT_SIGN_IN', values.RATE_LIMIT_SIGN_IN, faults),
      webhooks: readRateLimit('RATE_LIMIT_WEBHOOKS', values.RATE_LIMIT_WEBHOOKS, faults),
      api: readRateLimit('RATE_LIMIT_API', values.RATE_LIMIT_API, faults),
    },
    logLevel: values.LOG_LEVEL,
    clock: readClock(values.GATEHOUSE_NOW, production, faults),
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}

/** Converts, completes and checks the values of one schema; an empty value counts as absent. */
function readSchema<Schema extends TSchema & { properties: Record<string, TSchema> }>(
  schema: Schema,
  env: Environment,
  prefix: string,
  faults: string[],
): Type.Static<Schema> {
  const given: Record<string, unknown> = {}
  for (const name of Object.keys(schema.properties)) {
    const value = env[prefix + name]?.trim()
    if (value !== undefined && value !== '') given[name] = value
  }
  const values = Value.Default(schema, Value.Convert(schema, given))
  const failed = new Set<string>()
  for (const error of Value.Errors(schema, values)) {
    const missing = error.keyword === 'required' ? error.params.requiredProperties : undefined
    const names = missing ?? [error.instancePath.slice(1)]
    for (const name of names) {
      if (failed.has(name)) continue
      failed.add(name)
      faults.push(
        `${prefix}${name}: ${missing ? 'is missing' : error.message}. ${described(schema, name)}`,
      )
    }
  }
  // The cast stands behind the check above: with a fault the caller throws before anything is used.
  return values as Type.Static<Schema>
}

function described(schema: { properties: Record<string, TSchema> }, name: string): string {
  const property: TSchema & { description?: string } = schema.properties[name] ?? {}
  return property.description ?? ''
}

function readProviders(
  env: Environment,
  names: string | undefined,
  production: boolean,
  faults: string[],
): ProviderSetup[] {
  if (names === undefined) {
    faults.push(
      'OIDC_PROVIDERS: is missing. Name at least one provider and give OIDC_<NAME>_ISSUER, _CLIENT_ID and _CLIENT_SECRET.',
    )
    return []
  }
  return list(names).map((name) => {
    if (!/^[a-z][a-z0-9_]*$/.test(name)) {
      faults.push(`OIDC_PROVIDERS: “${name}” is not a name ([a-z][a-z0-9_]*).`)
    }
    return readProvider(env, name, production, faults)
  })
}

function readProvider(
  env: Environment,
  name: string,
  production: boolean,
  faults: string[],
): ProviderSetup {
  const prefix = `OIDC_${name.toUpperCase()}_`
  const values = readSchema(ProviderSettings, env, prefix, faults)
  const issuer = URL.parse(values.ISSUER ?? fallbackUrl)
  const allowInsecure =
    !production && issuer?.protocol === 'http:' && loopbackHosts.includes(issuer.hostname)
  if (values.ISSUER !== undefined && issuer?.protocol !== 'https:' && !allowInsecure) {
    faults.push(`${prefix}ISSUER: must be an https URL (http only on loopback outside production).`)
  }
  const algorithms = list(values.ID_TOKEN_ALG ?? '')
  for (const algorithm of algorithms) {
    if (!asymmetricAlgorithms.includes(algorithm)) {
      faults.push(
        `${prefix}ID_TOKEN_ALG: “${algorithm}” is not one of ${asymmetricAlgorithms.join(', ')}.`,
      )
    }
  }
  if (!(values.SCOPES ?? '').split(' ').includes('openid')) {
    faults.push(`${prefix}SCOPES: must contain openid.`)
  }
  return {
    name,
    label: values.LABEL ?? name,
    issuer: values.ISSUER,
    clientId: values.CLIENT_ID,
    clientSecrets: nonEmpty(list(values.CLIENT_SECRET ?? '')),
    clientAuth: values.CLIENT_AUTH,
    scopes: values.SCOPES,
    idTokenAlgorithms: nonEmpty(algorithms),
    trustEmail: readTrustEmail(values.TRUST_EMAIL ?? 'false'),
    allowInsecure,
  }
}

function readTrustEmail(value: string): boolean | readonly string[] {
  if (value === 'true') return true
  if (value === 'false') return false
  return list(value).map((domain) => domain.toLowerCase())
}

function readOrigin(
  name: string,
  value: string | undefined,
  production: boolean,
  faults: string[],
): string {
  if (value === undefined) {
    faults.push(`${name}: is missing. ${described(Settings, name)}`)
    return fallbackUrl
  }
  const url = URL.parse(value)
  const plain =
    url !== null &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === ''
  if (!plain) {
    faults.push(`${name}: must be an origin like https://app.example.com, without a path.`)
    return fallbackUrl
  }
  if (url.protocol === 'https:') return url.origin
  if (url.protocol !== 'http:' || production || !loopbackHosts.includes(url.hostname)) {
    faults.push(`${name}: must be https (http only on loopback outside production).`)
  }
  return url.origin
}

function readDatabaseUrl(name: string, value: string | undefined, faults: string[]): string {
  const url = URL.parse(value ?? '')
  if (value === undefined) faults.push(`${name}: is missing. ${described(Settings, name)}`)
  else if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:') {
    faults.push(`${name}: must be a postgresql:// URL.`)
  }
  return value ?? fallbackUrl
}

function readSecrets(
  name: string,
  value: string | undefined,
  minimum: number,
  faults: string[],
): readonly [string, ...string[]] {
  const secrets = list(value ?? '')
  if (secrets.length === 0) faults.push(`${name}: is missing. ${described(Settings, name)}`)
  if (secrets.some((secret) => secret.length < minimum)) {
    faults.push(`${name}: every secret must have at least ${minimum} characters.`)
  }
  return nonEmpty(secrets)
}

function readReturnTo(value: string, faults: string[]): string {
  const paths = list(value)
  for (const path of paths) {
    if (!/^\/(?![/\\])[!-~]*$/.test(path)) {
      faults.push(`SIGN_IN_RETURN_TO: “${path}” is not a path on this origin.`)
    }
  }
  return paths[0] ?? '/'
}

function readRateLimit(name: string, value: string, faults: string[]): RateLimit {
  if (value === 'off') return 'off'
  const [, max, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(value) ?? []
  if (max === undefined || seconds === undefined) {
    faults.push(`${name}: must be requests/seconds such as 600/60, or off.`)
    return 'off'
  }
  return { max: Number(max), seconds: Number(seconds) }
}

function readClock(value: string | undefined, production: boolean, faults: string[]): Clock {
  if (value === undefined) return systemClock
  if (production) faults.push('GATEHOUSE_NOW: must not be set in production.')
  const start = new Date(value)
  if (!/^\d{4}-\d\d-\d\dT/.test(value) || Number.isNaN(start.getTime())) {
    faults.push('GATEHOUSE_NOW: must be an RFC 3339 time such as 2026-01-31T09:00:00Z.')
    return systemClock
  }
  return clockStartingAt(start)
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The first element is empty only where a fault has been recorded, so it is never used. */
function nonEmpty(values: readonly string[]): readonly [string, ...string[]] {
  const [first = '', ...rest] = values
  return [first, ...rest]
}
