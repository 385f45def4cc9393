import { closest, distance } from 'fastest-levenshtein'
import Type, { type TObject, type TSchema } from 'typebox'
import { type Environment, list } from './parse.ts'
import { ProviderSettings, Settings } from './settings.ts'

export type DocumentedSetting = {
  name: string
  /** The default; null if there is none. */
  fallback: string | null
  /** The value outside production. */
  demo: string | null
  /** May be in a file instead, named by the setting with `_FILE`. */
  secret: boolean
  /** Which processes read it. */
  process: string
  description: string
}

type Property = TSchema & {
  default?: unknown
  description?: string
  demo?: string
  secret?: boolean
  process?: string
}

/** The settings of an app. */
export function documentedOwn({ properties }: TObject): DocumentedSetting[] {
  return documented(properties, '')
}

/** Why an app cannot have a setting of this name; null if it can. */
export function ownNameFaultOf(name: string): string | null {
  const isTaken = Object.hasOwn(Settings.properties, name) || prefixes.test(name)
  return isTaken ? 'is that of a setting of Gatehouse, or begins as these do' : null
}

/** Every setting, from the schemas that validate them. */
export function documentedSettings(): DocumentedSetting[] {
  return [
    ...documented(Settings.properties, ''),
    ...documented(ProviderSettings.properties, 'OIDC_<NAME>_'),
  ]
}

function documented(
  properties: Readonly<Record<string, Property>>,
  prefix: string,
): DocumentedSetting[] {
  return Object.entries(properties).map(([name, property]) => ({
    name: prefix + name,
    fallback: property.default === undefined ? null : String(property.default),
    demo: property.demo ?? null,
    secret: property.secret ?? false,
    process: property.process ?? 'every',
    description: describe(prefix + name, property),
  }))
}

function describe(name: string, { description = '', secret }: Property): string {
  return secret
    ? `${description} Or ${name}_FILE: the path of a file that contains it.`
    : description
}

/** The settings as a commented environment file. */
export function environmentExample(settings: readonly DocumentedSetting[]): string {
  const entries = settings.map(({ name, fallback, demo, description }) => {
    const comment = wrap(description + (demo === null ? '' : ` In the demo: ${demo}.`))
    return `${comment}\n#${name}=${fallback ?? ''}\n`
  })
  return `# Every setting of Gatehouse, with its default. Generated: npm run generate\n\n${entries.join('\n')}`
}

/** The settings as a Markdown table. */
export function settingsTable(settings: readonly DocumentedSetting[]): string {
  const rows = settings.map(({ name, fallback, demo, process, description }) => {
    const missing = demo === null ? '–' : `– (demo: ${demo})`
    const value = fallback === null ? missing : code(fallback)
    return `| \`${name}\` | ${process} | ${value} | ${description.replaceAll('|', '\\|')} |`
  })
  return `| Setting | Process | Default | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

function code(value: string): string {
  return value === '' ? 'empty' : `\`${value}\``
}

const commentWidth = 98

function wrap(text: string): string {
  const lines: string[] = []
  let line = '#'
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > commentWidth) {
      lines.push(line)
      line = '#'
    }
    line += ` ${word}`
  }
  return [...lines, line].join('\n')
}

/** An environment variable that looks like a misspelled setting, and the most similar setting. */
export type UnknownSetting = { name: string; nearest: string }

const prefixes =
  /^(OIDC|BILLING|OUTBOUND|RATE_LIMIT|SESSION|ENCRYPTION|SMTP|ALERT|ADMIN|DATABASE|GATEHOUSE|BRAND|QUOTA)_/
/** Variables of the command line, not of a server. */
const commandVariables = ['GATEHOUSE_TOKEN', 'GATEHOUSE_LISTEN_SECRET']
const maxDistance = 2 // Levenshtein distance
const minLength = 8 // shorter names are too similar to unrelated ones

/**
 * Finds environment variables that are probably misspelled settings: those with a prefix of ours, or
 * at most two letters away from a setting, also of the app. All other variables are ignored.
 */
export function findUnknownSettings(
  env: Environment,
  own: TObject = Type.Object({}),
): UnknownSetting[] {
  const known = knownNames(env).union(new Set(Object.keys(own.properties)))
  return Object.keys(env)
    .filter((name) => !known.has(name))
    .map((name) => ({ name, nearest: closest(name, [...known]) }))
    .filter(({ name, nearest }) => prefixes.test(name) || isTypo(name, nearest))
}

function isTypo(name: string, nearest: string): boolean {
  return name.length >= minLength && distance(name.toUpperCase(), nearest) <= maxDistance
}

function knownNames(env: Environment): Set<string> {
  const ofProviders = list(env.OIDC_PROVIDERS ?? '').flatMap((provider) =>
    documented(ProviderSettings.properties, `OIDC_${provider.toUpperCase()}_`),
  )
  const settings = [...documented(Settings.properties, ''), ...ofProviders]
  return new Set([
    ...commandVariables,
    ...settings.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
  ])
}
