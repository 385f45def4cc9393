import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const top = fileURLToPath(new URL('../..', import.meta.url))

/** The entries of the package and the modules that they are. */
export const entryModules = {
  gatehouse: 'src/package/index.ts',
  'gatehouse/routes': 'src/package/routes.ts',
  'gatehouse/client': 'clients/typescript/src/client.ts',
  'gatehouse/testing': 'dev/testing/index.ts',
} as const

type Exported = {
  readonly name: string
  readonly kind: 'function' | 'type' | 'value'
  /** Its docstring as one paragraph, without tags; empty if it has none. */
  readonly words: string
}

/** What a module of an entry exports, by name. */
export async function exportedBy(path: string): Promise<Exported[]> {
  const text = await readFile(top + path, 'utf8')
  const found = ownExports(text)
  for (const [, names = '', from = ''] of text.matchAll(
    /^export (?:type )?\{([^}]*)\} from '([^']+)'/gm,
  )) {
    const module = await exportedBy(pathOf(from, path))
    for (const name of names.split(',').map((one) => one.trim().replace(/^type /, ''))) {
      const one = module.find((each) => each.name === name)
      if (one !== undefined) found.push(one)
      else if (name !== '') throw new Error(`${from} declares no ${name}.`)
    }
  }
  return found.toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
}

function pathOf(specifier: string, importer: string): string {
  if (specifier.startsWith('#')) return specifier.slice(1)
  return `${importer.slice(0, importer.lastIndexOf('/'))}/${specifier.replace('./', '')}`
}

const declaration =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^export (?:async )?(function|const|type|class) (\w+)(.*)$/gm

function ownExports(text: string): Exported[] {
  return [...text.matchAll(declaration)].map(
    ([, comment = '', word = '', name = '', rest = '']) => ({
      name,
      kind: kindOf(word, rest),
      words: wordsOf(comment),
    }),
  )
}

function kindOf(word: string, rest: string): Exported['kind'] {
  if (word === 'type') return 'type'
  return word === 'function' || /^\s*=\s*(?:async )?[<(]/.test(rest) ? 'function' : 'value'
}

function wordsOf(comment: string): string {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*\s?/, '').trim())
  const end = lines.findIndex((line) => line.startsWith('@'))
  return lines
    .slice(0, end < 0 ? undefined : end)
    .join(' ')
    .replace(/@returns.*$/, '')
    .trim()
}

/** The table of docs/exports.md. */
export async function exportsTable(): Promise<string> {
  const parts: string[] = []
  for (const [entry, path] of Object.entries(entryModules)) {
    const rows = (await exportedBy(path)).map(
      ({ name, kind, words }) => `| \`${name}\` | ${kind} | ${words.replaceAll('|', '\\|')} |`,
    )
    parts.push(`## \`${entry}\`\n\n| Name | What | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`)
  }
  return `${parts.join('\n')}`
}
