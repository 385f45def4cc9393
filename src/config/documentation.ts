import type { TSchema } from 'typebox'
import { ProviderSettings } from '#src/provider-schema.ts'
import { Settings } from './settings.ts'

export type DocumentedSetting = {
  name: string
  /** What is used when it is not set; null when it must be set in production. */
  fallback: string | null
  /** What stands in outside production. */
  demo: string | null
  description: string
}

type Property = TSchema & { default?: unknown; description?: string; demo?: string }

/** Every setting, from the schemas that read them. */
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
    description: property.description ?? '',
  }))
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
  const rows = settings.map(({ name, fallback, demo, description }) => {
    const missing = demo === null ? '–' : `– (demo: ${demo})`
    const value = fallback === null ? missing : code(fallback)
    return `| \`${name}\` | ${value} | ${description.replaceAll('|', '\\|')} |`
  })
  return `| Setting | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`
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
