import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A block of a page and the file it belongs to: `diff` goes into it, anything else is all of it. */
export type Block = { path: string; language: string; text: string }

/** The blocks that stand under a line which begins with a path. */
export function blocksOf(page: string): Block[] {
  const labelled = /^`([^`\n]+)`[^\n]*\n\n```(\w+)\n([\s\S]*?)^```$/gm
  return [...page.matchAll(labelled)].map(([, path = '', language = '', text = '']) => ({
    path,
    language,
    text,
  }))
}

/** What is left out, and what the page has somebody say of it. */
export function messagesOf(page: string): Map<string, string> {
  const rows = page.matchAll(/^\| ([^|\n]+) \| [^|\n]+ \| `([^`|\n]+)` \|$/gm)
  return new Map([...rows].map(([, leftOut = '', message = '']) => [leftOut, message]))
}

/** Does to the tree in `folder` what the block says. */
export async function applyBlock(folder: string, { path, language, text }: Block): Promise<void> {
  const file = join(folder, path)
  if (language === 'diff') {
    const patched = patch(await readFile(file, 'utf8'), text, path)
    return writeFile(file, patched)
  }
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text, { flag: 'wx' })
}

/** Each hunk goes where the lines around it stand, which must be one place. */
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
