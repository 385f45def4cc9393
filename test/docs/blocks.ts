import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A code block of a page and its file: a `diff` changes the file, any other block creates it. */
export type Block = { path: string; language: string; text: string }

/** The blocks below a line that begins with a path. */
export function blocksOf(page: string): Block[] {
  const labelled = /^`([^`\n]+)`[^\n]*\n\n```(\w+)\n([\s\S]*?)^```$/gm
  return [...page.matchAll(labelled)].map(([, path = '', language = '', text = '']) => ({
    path,
    language,
    text,
  }))
}

/** The messages of the page's last table, by the forgotten step. */
export function messagesOf(page: string): Map<string, string> {
  const rows = page.matchAll(/^\| ([^|\n]+) \| [^|\n]+ \| `([^`|\n]+)` \|$/gm)
  return new Map([...rows].map(([, leftOut = '', message = '']) => [leftOut, message]))
}

/** Applies the block to the tree in `folder`. */
export async function applyBlock(folder: string, { path, language, text }: Block): Promise<void> {
  const file = join(folder, path)
  if (language === 'diff') {
    const patched = patch(await readFile(file, 'utf8'), text, path)
    return writeFile(file, patched)
  }
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text, { flag: 'wx' })
}

/** Applies each hunk at its context lines, which must occur exactly once. */
function patch(original: string, diff: string, path: string): string {
  return diff.split(/^@@.*\n/m).reduce((text, hunk) => {
    const lines = hunk.replace(/\n$/, '').split('\n')
    const side = (mark: '+' | '-') =>
      lines.flatMap((line) => (line.startsWith(mark) ? [] : [`${line.slice(1)}\n`])).join('')
    const [before, after] = [side('+'), side('-')]
    const places = text.split(before)
    if (places.length !== 2) {
      throw new Error(`${path} has ${places.length - 1} places for this block:\n${hunk}`)
    }
    return places.join(after)
  }, original)
}
