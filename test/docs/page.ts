import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The text of a page, by its path in the repository. */
export function readPage(path: string): Promise<string> {
  return readFile(`${root}/${path}`, 'utf8')
}

/** README.md, every page of docs/, those of the clients and of the examples. */
export function listPages(): string[] {
  return ['README.md', ...globSync('{docs/**,clients/*,examples/*}/*.md', { cwd: root }).sort()]
}

/** The blocks of a page in one language, without their fences. */
export function codeBlocks(page: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm')
  return [...page.matchAll(fenced)].map(([, code = '']) => code)
}
