import type Type from 'typebox'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { EncryptionKey, EncryptionKeys } from '#src/crypto/encryption.ts'
import { type Clock, clockStartingAt, systemClock } from '#src/runtime/clock.ts'
import { Settings } from './settings.ts'

/*
 * Each reader converts the text of a setting to its value. If the text is not valid, it adds a
 * message to `faults` and returns a placeholder; readConfig throws before a placeholder is used.
 */

export type Environment = Readonly<Record<string, string | undefined>>

/** In SIGN_IN_RETURN_TO: every path of an app that shares our origin. */
export const anyPath = '/*'

/**
 * Converts and validates the settings of one schema and adds the defaults. An empty value counts as
 * absent.
 */
export function readSchema<Schema extends TSchema & { properties: Record<string, TSchema> }>(
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
      const rule = missing ? 'is missing' : (choices(schema, name) ?? error.message)
      faults.push(`${prefix}${name}: ${rule}. ${described(schema, name)}`)
    }
  }
  // The values were validated above; if there are faults, the caller throws before using them.
  return values as Type.Static<Schema>
}

export function readOrigin(
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

export function readDatabaseUrl(name: string, value: string | undefined, faults: string[]): string {
  const url = URL.parse(value ?? '')
  if (value === undefined) faults.push(`${name}: is missing. ${described(Settings, name)}`)
  else if (isOfSeveralHosts(value)) {
    faults.push(
      `${name}: names several hosts, but the driver connects to one. Name an address that leads to the primary: a proxy, a virtual address or the endpoint of a managed service.`,
    )
  } else if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    faults.push(`${name}: must be a postgresql:// URL.`)
  } else if (!isDecodable(url)) {
    faults.push(`${name}: a % in the user or the password must be written %25.`)
  }
  return value ?? fallbackUrl
}

/**
 * Whether name and password are encoded correctly. Otherwise the driver would guess what is meant, and
 * `migrate` could create the role with another password.
 */
function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(`${username}:${password}`)
    return true
  } catch {
    return false
  }
}

/**
 * Whether the URL names several hosts as libpq takes them: `h1,h2` or `h1:5432,h2:5432`, or in the
 * parameter `host`.
 */
function isOfSeveralHosts(url: string): boolean {
  const [, hosts = '', query = ''] =
    /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)[^?#]*\??([^#]*)/.exec(url) ?? []
  return hosts.includes(',') || (new URLSearchParams(query).get('host') ?? '').includes(',')
}

export function readSecrets(
  name: string,
  value: string | undefined,
  minimum: number,
  faults: string[],
): readonly [string, ...string[]] {
  const secrets = list(value ?? '')
  if (secrets.some((secret) => secret.length < minimum)) {
    faults.push(`${name}: every secret must have at least ${minimum} characters.`)
  }
  if (value !== undefined) return nonEmpty(name, secrets, faults)
  faults.push(`${name}: is missing. ${described(Settings, name)}`)
  return ['']
}

const secretBytes = 32 // AES-256
const placeholderKeys: EncryptionKeys = [{ id: 'none', secret: new Uint8Array(secretBytes) }]

/**
 * Reads `keyId:base64(32 bytes)`, comma-separated; the first key encrypts, all keys decrypt. Faults
 * repeat neither keys nor ids.
 */
export function readEncryptionKeys(value: string | undefined, faults: string[]): EncryptionKeys {
  const name = 'ENCRYPTION_KEYS'
  if (value === undefined || value === '') {
    faults.push(`${name}: is missing. ${described(Settings, name)}`)
    return placeholderKeys
  }
  const keys = list(value).map(readKey)
  const valid = keys.filter((key) => key !== null)
  if (valid.length < keys.length) {
    faults.push(
      `${name}: every key must be keyId:base64 of 32 bytes (openssl rand -base64 32); an id has 1 to 32 of A-Z a-z 0-9 . _ -`,
    )
  }
  if (new Set(valid.map(({ id }) => id)).size < valid.length) {
    faults.push(`${name}: two keys have the same id.`)
  }
  const [first, ...rest] = valid
  if (first === undefined && keys.length === 0) faults.push(`${name}: must have at least one key.`)
  return first === undefined ? placeholderKeys : [first, ...rest]
}

function readKey(text: string): EncryptionKey | null {
  const [, id, encoded] = /^([A-Za-z0-9._-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/.exec(text) ?? []
  if (id === undefined || encoded === undefined) return null
  const secret = Buffer.from(encoded, 'base64')
  return secret.length === secretBytes ? { id, secret } : null
}

export function readReturnPaths(value: string, faults: string[]): readonly [string, ...string[]] {
  const paths = list(value)
  for (const path of paths) {
    if (!/^\/(?![/\\])[!-~]*$/.test(path)) {
      faults.push(`SIGN_IN_RETURN_TO: “${path}” is not a path on this origin.`)
    }
  }
  // The first is where a sign-in returns by default, which needs a path.
  const [first = '/', ...others] = paths.filter((path) => path !== anyPath)
  return [first, ...others, ...(paths.includes(anyPath) ? [anyPath] : [])]
}

export type OutboundConfig = {
  /** Delay before attempts 1, 2, …, in seconds. */
  retrySeconds: readonly number[]
  timeoutMs: number
  /** Attempts in progress at one address, in this process. */
  perAddress: number
  /** Log lines per second for successful attempts, and as many for failed ones. */
  logPerSecond: number
  /** The default signature profile of a new endpoint. */
  signature: 'spec' | 'standard' | 'both'
  /** Exact `host:port` pairs that are exempt from the rules for addresses and schemes. */
  allow: readonly string[]
  retentionDays: number
  /** How far the feed of a tenant without an endpoint goes back. */
  feedDays: number
}

const maxAttempts = 20
const maxWaitSeconds = 604_800

export function readRetrySeconds(value: string, faults: string[]): readonly number[] {
  const waits = list(value)
  const valid = waits.every((wait) => /^\d{1,6}$/.test(wait) && Number(wait) <= maxWaitSeconds)
  if (!valid || waits.length === 0 || waits.length > maxAttempts) {
    faults.push(
      `OUTBOUND_RETRY_SECONDS: must be 1 to ${maxAttempts} whole numbers of seconds, each at most a week.`,
    )
  }
  return waits.map(Number)
}

export function readAllowedHosts(value: string, faults: string[]): readonly string[] {
  const pairs = list(value)
  for (const pair of pairs) {
    const [, port] = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):([1-9]\d{0,4})$/.exec(pair) ?? []
    if (port === undefined || Number(port) > 65_535) {
      faults.push(`OUTBOUND_ALLOW: “${pair}” is not a lower-case host:port pair.`)
    }
  }
  return pairs
}

/** The mail server and the sender of alerts. */
export type MailConfig = {
  host: string
  port: number
  /** True: implicit TLS (smtps). False: STARTTLS if the server offers it. */
  secure: boolean
  /** True: nothing is sent without TLS, so that a password never crosses a network in clear. */
  requireTls: boolean
  auth: { user: string; pass: string } | null
  from: { name: string; address: string }
}

// RFC 6409 (submission) and RFC 8314 (submission over TLS).
const ports = { 'smtp:': 587, 'smtps:': 465 }
const sender = /^(?:([^<>"\p{Cc}]{1,100}?) ?<([^<>]+)>|([^<> ]+))$/u
const plainAddress = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,255}$/u

/** Null if no mail server is configured; then alerts are notifications and log lines only. */
export function readMail(
  smtpUrl: string | undefined,
  alertFrom: string | undefined,
  faults: string[],
): MailConfig | null {
  if (smtpUrl === undefined) {
    if (alertFrom !== undefined) faults.push('ALERT_FROM: has no effect without SMTP_URL.')
    return null
  }
  const url = URL.parse(smtpUrl)
  const { protocol } = url ?? {}
  const auth = url && readAuth(url)
  const isPlain = url !== null && url.search === '' && url.hash === '' && /^\/?$/.test(url.pathname)
  if (
    !isPlain ||
    auth === 'malformed' ||
    url.hostname === '' ||
    (protocol !== 'smtp:' && protocol !== 'smtps:')
  ) {
    faults.push(
      'SMTP_URL: must be smtp://user:password@host:port or smtps://…, without path, query or fragment.',
    )
    return null
  }
  const from = readSender(alertFrom ?? '')
  if (from === null) faults.push('ALERT_FROM: must be an address, or Name <address>.')
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port:
      url.port === '' ? ports[url.protocol === 'smtps:' ? 'smtps:' : 'smtp:'] : Number(url.port),
    secure: url.protocol === 'smtps:',
    requireTls: auth !== null && !loopbackHosts.includes(url.hostname),
    auth,
    from: from ?? { name: '', address: '' },
  }
}

/** True for a plain address without comments, quotes or groups, which all parsers read the same. */
export function isPlainAddress(text: string): boolean {
  return plainAddress.test(text)
}

function readSender(text: string): MailConfig['from'] | null {
  const [, name = '', named, bare] = sender.exec(text) ?? []
  const address = named ?? bare ?? ''
  return isPlainAddress(address) ? { name, address } : null
}

function readAuth({ username, password }: URL): MailConfig['auth'] | 'malformed' {
  if (username === '') return null
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  } catch {
    return 'malformed'
  }
}

/** The `provider:subject` pairs of the operators. */
export function readOperators(value: string, faults: string[]): ReadonlySet<string> {
  const pairs = list(value)
  for (const pair of pairs) {
    if (!/^[a-z][a-z0-9_]*:.{1,255}$/.test(pair)) {
      faults.push(`OPERATORS: “${pair}” is not a provider:subject pair.`)
    }
  }
  return new Set(pairs)
}

export type RateLimit = { max: number; seconds: number } | 'off'

export function readRateLimit(name: string, value: string, faults: string[]): RateLimit {
  if (value === 'off') return 'off'
  const [, max, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(value) ?? []
  if (max === undefined || seconds === undefined) {
    faults.push(`${name}: must be requests/seconds such as 600/60, or off.`)
    return 'off'
  }
  return { max: Number(max), seconds: Number(seconds) }
}

/** What a tenant may store, or `off`. */
export type Budget = { rows: number; bytes: number } | 'off'

export type QuotaConfig = { resources: Budget; events: Budget }

const mebibyte = 1_048_576

export function readBudget(name: string, value: string, faults: string[]): Budget {
  if (value === 'off') return 'off'
  const [, rows, mebibytes] = /^([1-9]\d{0,11})\/([1-9]\d{0,8})$/.exec(value) ?? []
  if (rows === undefined || mebibytes === undefined) {
    faults.push(`${name}: must be rows/MiB such as 500000/1024, or off.`)
    return 'off'
  }
  return { rows: Number(rows), bytes: Number(mebibytes) * mebibyte }
}

export function readRedisUrl(value: string | undefined, faults: string[]): string | null {
  if (value === undefined) return null
  const protocol = URL.parse(value)?.protocol
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    faults.push('REDIS_URL: must be a redis:// or rediss:// URL.')
  }
  return value
}

export type TracingConfig = {
  /** URL that spans are posted to. */
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** Sampled share of the traces that start here, 0 to 1. */
  ratio: number
}

type Values = {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string
  OTEL_EXPORTER_OTLP_HEADERS?: string
  OTEL_SERVICE_NAME: string
  OTEL_TRACES_SAMPLER_ARG: number
}

/** Null without an endpoint: tracing is off. Faults do not repeat header values. */
export function readTracing(values: Values, faults: string[]): TracingConfig | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = values
  if (endpoint === undefined) return null
  const url = URL.parse(endpoint)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    faults.push('OTEL_EXPORTER_OTLP_ENDPOINT: must be an http:// or https:// URL without a query.')
  }
  return {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: readHeaders(values.OTEL_EXPORTER_OTLP_HEADERS ?? '', faults),
    serviceName: values.OTEL_SERVICE_NAME,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  }
}

function readHeaders(text: string, faults: string[]): Record<string, string> {
  const pairs = list(text).map((pair) => /^([\w-]+)=([!-~]+)$/.exec(pair))
  if (pairs.includes(null)) {
    faults.push('OTEL_EXPORTER_OTLP_HEADERS: must be name=value pairs, comma-separated.')
  }
  const known = pairs.filter((pair) => pair !== null)
  try {
    return Object.fromEntries(
      known.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]),
    )
  } catch {
    faults.push('OTEL_EXPORTER_OTLP_HEADERS: a % in a value must be written %25.')
    return {}
  }
}

export function readClock(value: string | undefined, production: boolean, faults: string[]): Clock {
  if (value === undefined) return systemClock
  if (production) faults.push('GATEHOUSE_NOW: must not be set in production.')
  const start = new Date(value)
  if (!/^\d{4}-\d\d-\d\dT/.test(value) || Number.isNaN(start.getTime())) {
    faults.push('GATEHOUSE_NOW: must be an RFC 3339 time such as 2026-01-31T09:00:00Z.')
    return systemClock
  }
  return clockStartingAt(start)
}

export function list(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** Requires at least one value. */
export function nonEmpty(
  name: string,
  values: readonly string[],
  faults: string[],
): readonly [string, ...string[]] {
  const [first, ...rest] = values
  if (first === undefined) faults.push(`${name}: must have at least one value.`)
  return [first ?? '', ...rest]
}

type Properties = { properties: Record<string, TSchema> }

export function described(schema: Properties, name: string): string {
  const property: TSchema & { description?: string } = schema.properties[name] ?? {}
  return property.description ?? ''
}

/** The rule of a setting with fixed choices; null for any other setting. */
function choices(schema: Properties, name: string): string | null {
  const property: TSchema & { anyOf?: { const?: unknown }[] } = schema.properties[name] ?? {}
  return property.anyOf
    ? `must be one of ${property.anyOf.map((choice) => choice.const).join(', ')}`
    : null
}

export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
export const fallbackUrl = 'http://invalid'
