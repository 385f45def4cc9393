import type Type from 'typebox'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { EncryptionKey, EncryptionKeys } from '#src/crypto/encryption.ts'
import { type Clock, clockStartingAt, systemClock } from '#src/runtime/clock.ts'
import { Settings } from './settings.ts'

/*
 * Each reader turns the text of a setting into its value. What is wrong is added to `faults`, and
 * something harmless is returned in its place: the caller throws before it is used.
 */

export type Environment = Readonly<Record<string, string | undefined>>
export type RateLimit = { max: number; seconds: number } | 'off'

export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
export const fallbackUrl = 'http://invalid'

/** Converts, completes and checks the values of one schema; an empty value counts as absent. */
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
  // The cast stands behind the check above: with a fault the caller throws before anything is used.
  return values as Type.Static<Schema>
}

type Properties = { properties: Record<string, TSchema> }

export function described(schema: Properties, name: string): string {
  const property: TSchema & { description?: string } = schema.properties[name] ?? {}
  return property.description ?? ''
}

/** The rule of a setting that is one of a few words. */
function choices(schema: Properties, name: string): string | null {
  const property: TSchema & { anyOf?: { const?: unknown }[] } = schema.properties[name] ?? {}
  return property.anyOf
    ? `must be one of ${property.anyOf.map((choice) => choice.const).join(', ')}`
    : null
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
  else if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:') {
    faults.push(`${name}: must be a postgresql:// URL.`)
  }
  return value ?? fallbackUrl
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

export function readReturnTo(value: string, faults: string[]): string {
  const paths = list(value)
  for (const path of paths) {
    if (!/^\/(?![/\\])[!-~]*$/.test(path)) {
      faults.push(`SIGN_IN_RETURN_TO: “${path}” is not a path on this origin.`)
    }
  }
  return paths[0] ?? '/'
}

export function readRateLimit(name: string, value: string, faults: string[]): RateLimit {
  if (value === 'off') return 'off'
  const [, max, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(value) ?? []
  if (max === undefined || seconds === undefined) {
    faults.push(`${name}: must be requests/seconds such as 600/60, or off.`)
    return 'off'
  }
  return { max: Number(max), seconds: Number(seconds) }
}

export function readRedisUrl(value: string | undefined, faults: string[]): string | null {
  if (value === undefined) return null
  const protocol = URL.parse(value)?.protocol
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    faults.push('REDIS_URL: must be a redis:// or rediss:// URL.')
  }
  return value
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

/** At least one value, or a fault. */
export function nonEmpty(
  name: string,
  values: readonly string[],
  faults: string[],
): readonly [string, ...string[]] {
  const [first, ...rest] = values
  if (first === undefined) faults.push(`${name}: must name at least one value.`)
  return [first ?? '', ...rest]
}

/** Where the newest state of an object is asked for; `url` has no trailing slash. */
export type BillingApiConfig = { url: string; key: string }

/** `null` when no API is configured: then an event's own state and time decide. */
export function readBillingApi(
  url: string | undefined,
  key: string | undefined,
  production: boolean,
  faults: string[],
): BillingApiConfig | null {
  if (url === undefined) {
    if (key !== undefined) faults.push('BILLING_API_KEY: is of no use without BILLING_API_URL.')
    return null
  }
  if (key === undefined) faults.push('BILLING_API_KEY: is missing; BILLING_API_URL needs one.')
  const parsed = URL.parse(url)
  const isPlain =
    parsed !== null && parsed.search === '' && parsed.hash === '' && parsed.username === ''
  const isLocal =
    parsed?.protocol === 'http:' && !production && loopbackHosts.includes(parsed.hostname)
  if (!isPlain || (parsed.protocol !== 'https:' && !isLocal)) {
    faults.push(
      'BILLING_API_URL: must be an https URL without user, query and fragment (http only on loopback outside production).',
    )
  }
  return { url: url.replace(/\/+$/, ''), key: key ?? '' }
}

/** The `provider:subject` pairs of the operators. */
export function readOperators(value: string, faults: string[]): ReadonlySet<string> {
  const pairs = list(value)
  for (const pair of pairs) {
    if (!/^[a-z][a-z0-9_]*:.{1,255}$/.test(pair)) {
      faults.push(`OPERATORS: “${pair}” is no provider:subject pair.`)
    }
  }
  return new Set(pairs)
}

const secretBytes = 32 // AES-256
const standIn: EncryptionKeys = [{ id: 'none', secret: new Uint8Array(secretBytes) }]

/**
 * Reads `keyId:base64(32 bytes)`, comma-separated; the first encrypts, all decrypt.
 * What is wrong is added to `faults`, which repeat neither keys nor ids.
 */
export function readEncryptionKeys(value: string | undefined, faults: string[]): EncryptionKeys {
  const name = 'ENCRYPTION_KEYS'
  if (value === undefined || value === '') {
    faults.push(`${name}: is missing. ${described(Settings, name)}`)
    return standIn
  }
  const keys = list(value).map(readKey)
  const good = keys.filter((key) => key !== null)
  if (good.length < keys.length) {
    faults.push(
      `${name}: every key must be keyId:base64 of 32 bytes (openssl rand -base64 32); an id has 1 to 32 of A-Z a-z 0-9 . _ -`,
    )
  }
  if (new Set(good.map(({ id }) => id)).size < good.length) {
    faults.push(`${name}: two keys have the same id.`)
  }
  const [first, ...rest] = good
  if (first === undefined && keys.length === 0) faults.push(`${name}: must name at least one key.`)
  return first === undefined ? standIn : [first, ...rest]
}

function readKey(text: string): EncryptionKey | null {
  const [, id, encoded] = /^([A-Za-z0-9._-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/.exec(text) ?? []
  if (id === undefined || encoded === undefined) return null
  const secret = Buffer.from(encoded, 'base64')
  return secret.length === secretBytes ? { id, secret } : null
}

export type OutboundConfig = {
  /** The waits before attempts 1, 2, …, in seconds. */
  retrySeconds: readonly number[]
  timeoutMs: number
  /** The profile of a new endpoint that names none. */
  signature: 'spec' | 'standard' | 'both'
  /** Exact `host:port` pairs that the rules for addresses and schemes do not hold for. */
  allow: readonly string[]
  retentionDays: number
}

const maxAttempts = 20
const maxWaitSeconds = 604_800

export function readRetrySeconds(value: string, faults: string[]): readonly number[] {
  const waits = list(value)
  const valid = waits.every((wait) => /^\d{1,6}$/.test(wait) && Number(wait) <= maxWaitSeconds)
  if (!valid || waits.length === 0 || waits.length > maxAttempts) {
    faults.push(
      `OUTBOUND_RETRY_SECONDS: must be 1 to ${maxAttempts} whole numbers of seconds, a week at most each.`,
    )
  }
  return waits.map(Number)
}

export function readAllowedHosts(value: string, faults: string[]): readonly string[] {
  const pairs = list(value)
  for (const pair of pairs) {
    const [, port] = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):([1-9]\d{0,4})$/.exec(pair) ?? []
    if (port === undefined || Number(port) > 65_535) {
      faults.push(`OUTBOUND_ALLOW: “${pair}” is no host:port pair in lower case.`)
    }
  }
  return pairs
}

/** How mail is sent, and from whom. */
export type MailConfig = {
  host: string
  port: number
  /** TLS from the first byte (smtps); otherwise STARTTLS where it is offered. */
  secure: boolean
  /** Without TLS nothing is sent: a password never goes in clear over a network. */
  requireTls: boolean
  auth: { user: string; pass: string } | null
  from: { name: string; address: string }
}

// RFC 6409 and 8314: submission, and submission over TLS.
const ports = { 'smtp:': 587, 'smtps:': 465 }
const sender = /^(?:([^<>"\p{Cc}]{1,100}?) ?<([^<>]+)>|([^<> ]+))$/u
const plainAddress = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,255}$/u

/** `null` when no mail server is configured: then alerts are notifications and log lines. */
export function readMail(
  smtpUrl: string | undefined,
  alertFrom: string | undefined,
  faults: string[],
): MailConfig | null {
  if (smtpUrl === undefined) {
    if (alertFrom !== undefined) faults.push('ALERT_FROM: is of no use without SMTP_URL.')
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
    faults.push('SMTP_URL: must be smtp://user:password@host:port or smtps://…, and nothing more.')
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

/** An address that means one mailbox, whoever reads it. */
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

export type TracingConfig = {
  /** Where spans are posted to. */
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** Share of the traces begun here that are recorded, 0 to 1. */
  ratio: number
}

type Values = {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string
  OTEL_EXPORTER_OTLP_HEADERS?: string
  OTEL_SERVICE_NAME: string
  OTEL_TRACES_SAMPLER_ARG: number
}

/** Null without an endpoint: nothing is traced then. Faults repeat no header's value. */
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
