import { closest, distance } from 'fastest-levenshtein'
import { type Environment, list } from '#src/config/parse.ts'
import { Settings } from '#src/config/settings.ts'
import { ProviderSettings } from './provider-schema.ts'

/** A variable that looks as if it was meant for this program, and the setting it may have meant. */
export type UnknownSetting = { name: string; nearest: string }

const families =
  /^(OIDC|BILLING|OUTBOUND|RATE_LIMIT|SESSION|ENCRYPTION|SMTP|ALERT|ADMIN|DATABASE|GATEHOUSE)_/
const largestSlip = 2 // letters; and only of names so long that nothing else is that near by chance
const shortestSlip = 8

/**
 * Names of the environment that are no setting and probably should be: of a family of ours, or a
 * letter or two away from a setting. Whatever else is in an environment is none of our business.
 */
export function findUnknownSettings(env: Environment): UnknownSetting[] {
  const known = knownNames(env)
  return Object.keys(env)
    .filter((name) => !known.has(name))
    .map((name) => ({ name, nearest: closest(name, [...known]) }))
    .filter(({ name, nearest }) => families.test(name) || isSlip(name, nearest))
}

function isSlip(name: string, nearest: string): boolean {
  return name.length >= shortestSlip && distance(name.toUpperCase(), nearest) <= largestSlip
}

function knownNames(env: Environment): Set<string> {
  const ofProviders = list(env.OIDC_PROVIDERS ?? '').flatMap((provider) =>
    Object.keys(ProviderSettings.properties).map(
      (name) => `OIDC_${provider.toUpperCase()}_${name}`,
    ),
  )
  return new Set([...Object.keys(Settings.properties), ...ofProviders])
}
