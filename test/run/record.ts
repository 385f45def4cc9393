import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * What a long command has done on several occasions: a file with a line of JSON for each result, so that
 * an interrupted command loses nothing, and the table of docs/testing.md that shows it.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))

export type Recording<Entry> = { entries: Entry[]; add(entry: Entry): Promise<void> }

/** @param resume continues with what the file has; otherwise it begins empty */
export async function openRecord<Entry>(
  file: string,
  { resume }: { resume: boolean },
): Promise<Recording<Entry>> {
  await mkdir(dirname(file), { recursive: true })
  if (!resume) await rm(file, { force: true })
  const text = await readFile(file, 'utf8').catch(() => '')
  // A process that was killed may have written half a line, which ends without a line feed.
  const lines = text.split('\n').slice(0, -1)
  if (!text.endsWith('\n') && text !== '')
    await writeFile(file, lines.map((l) => `${l}\n`).join(''))
  const entries = lines.map((line): Entry => JSON.parse(line))
  return {
    entries,
    async add(entry) {
      entries.push(entry)
      await appendFile(file, `${JSON.stringify(entry)}\n`)
    },
  }
}

/** What these commands themselves write. */
const records = ['docs/testing.md', 'test/mutation/fates.jsonl', 'test/run/repeated-lanes.jsonl']

/** The commit that is tried, marked if the checkout differs from it in more than records. */
export function revision(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  const rest = ['--', '.', ...records.map((file) => `:!${file}`)]
  const status = git('status', '--porcelain', '--untracked-files=no', ...rest)
  const changed = status === '' ? '' : ' with changes'
  return `${git('rev-parse', '--short', 'HEAD').trim()}${changed}`
}

export type Row = readonly (string | number)[]

/** Replaces a table between its marks; `page` is the text of the document. */
export function withTable(page: string, name: string, rows: readonly Row[]): string {
  const marks = new RegExp(`(<!-- ${name}: measured -->\\n)[\\s\\S]*(<!-- ${name}: end -->)`)
  if (!marks.test(page)) throw new Error(`the page has no marks for ${name}`)
  const [head = [], ...body] = rows
  const lines = [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`)
  return page.replace(marks, (_all, begin, end) => `${begin}\n${lines.join('\n')}\n\n${end}`)
}

/** Writes a table into docs/testing.md. */
export async function writeTable(name: string, rows: readonly Row[]): Promise<void> {
  const page = join(root, 'docs/testing.md')
  await writeFile(page, withTable(await readFile(page, 'utf8'), name, rows))
}
