import type Type from 'typebox'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
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
