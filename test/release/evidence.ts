/** A title as its test states it: its text, and the expression for its names filled in. */
type Title = { text: string; filled: RegExp }
export type TestFile = { titles: Title[]; texts: string }

/**
 * What is wrong in docs/evidence.md: references that have no test, and rules that say nothing.
 * @param open the test file at a path below `test/`, null if there is none
 */
export async function findFaults(
  document: string,
  open: (path: string) => Promise<TestFile | null>,
): Promise<string[]> {
  const faults: string[] = []
  const ids = new Set<string>()
  for (const { id, proofs } of rulesOf(document)) {
    if (ids.has(id)) faults.push(`${id}: the id is used twice`)
    ids.add(id)
    if (proofs.length === 0) faults.push(`${id}: neither a test nor a reason`)
    for (const proof of proofs) {
      if (/^\*Not (shown|applicable):\* ./.test(proof)) continue
      const [, name, path = '', title = ''] =
        /^\[(.*?)\]\(\.\.\/test\/(.*?)\): (.*)$/.exec(proof) ?? []
      if (name === undefined || path !== `${name}.test.ts`) {
        faults.push(`${id}: “${proof}” is neither a test nor a reason`)
        continue
      }
      const file = await open(path)
      if (file === null) faults.push(`${id}: no file test/${path}`)
      else if (!hasTest(file, title)) faults.push(`${id}: no test “${title}” in test/${path}`)
    }
  }
  return faults
}

/** The rows of the tables. `proofs` are the tests and notes in their last cell. */
function rulesOf(document: string): { id: string; proofs: string[] }[] {
  return document.split('\n').flatMap((line) => {
    if (!line.startsWith('|') || line.startsWith('| Rule |') || line.startsWith('|---')) return []
    const [id = '', , proofs = ''] = line
      .slice(1, line.lastIndexOf('|'))
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|').replaceAll('&lt;', '<'))
    return { id, proofs: proofs === '' ? [] : proofs.split('<br>') }
  })
}

/**
 * Whether the file has the test. A title with names in it (`${name}`) is referred to with `…` for
 * each, or filled in with strings that stand in the file or in one that it imports.
 */
function hasTest({ titles, texts }: TestFile, title: string): boolean {
  return titles.some(({ text, filled }) => {
    if (text.replace(/\$\{[^}]*\}/g, '…') === title) return true
    const names = filled.exec(title)?.slice(1)
    return names?.every((name) => texts.includes(`'${name}'`)) ?? false
  })
}

/** The titles in a test file, in quotes or backticks. */
export function titlesOf(text: string): Title[] {
  const quoted = text.matchAll(/\btest\(\s*(?:'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g)
  return [...quoted].map(([, plain, template = '']) => {
    const title = (plain ?? template).replace(/\\(.)/g, '$1')
    const parts = plain === undefined ? title.split(/\$\{[^}]*\}/) : [title]
    const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('(.+?)')
    return { text: title, filled: new RegExp(`^${pattern}$`) }
  })
}
