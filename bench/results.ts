import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { type Effort, ratioHead, type Section, sectionText, table } from './section.ts'

const resultsFile = new URL('./RESULTS.md', import.meta.url)
const readmeFile = new URL('../README.md', import.meta.url)
const readmePlace = /(<!-- performance: generated -->\n)[\s\S]*?(<!-- \/performance -->)/

/**
 * Writes the sections into bench/RESULTS.md, keeping those that were not measured this time, and the
 * ratios of all sections that have a goal into the README.
 */
export async function writeResults(sections: readonly Section[], effort: Effort): Promise<void> {
  const known = readSections(await readFile(resultsFile, 'utf8').catch(() => ''))
  for (const section of sections) {
    known.set(section.title, `${conditions(effort, section)}\n\n${sectionText(section)}`)
  }
  const whole = [...known].map(([title, text]) => `## ${title}\n\n${text.trim()}\n`)
  await writeFile(resultsFile, ['# Results\n', ...whole].join('\n'))

  const ratios = [...known.values()].flatMap(readRatios).filter((row) => row.at(-1) !== '–')
  const readme = await readFile(readmeFile, 'utf8')
  const shown = `\n${table([ratioHead, ...ratios])}\n`
  await writeFile(
    readmeFile,
    readme.replace(readmePlace, (_, begin, end) => `${begin}${shown}${end}`),
  )
}

/** The sections of the file by title. */
function readSections(text: string): Map<string, string> {
  const [, ...sections] = text.split(/^## /m)
  return new Map(
    sections.map((section) => {
      const [title = '', ...rest] = section.split('\n')
      return [title, rest.join('\n')]
    }),
  )
}

/** The rows of a section's table of ratios; empty without such a table. */
function readRatios(section: string): string[][] {
  const lines = section.split('\n')
  const head = lines.indexOf(`| ${ratioHead.join(' | ')} |`)
  if (head === -1) return []
  const rows = lines.slice(head + 2)
  const end = rows.findIndex((line) => !line.startsWith('|'))
  return rows.slice(0, end).map((line) => line.slice(2, -2).split(' | '))
}

function conditions({ runs, seconds }: Effort, section: Section): string {
  const { postgres = 'PostgreSQL 18', isOneRun = false } = section
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`
  const counted = isOneRun
    ? 'One run'
    : `Median of ${runs} runs of ${seconds} s each, the
contenders in turn`
  return `${machine}, ${postgres} with default durability. ${counted}; the load generator is a separate process on the same machine.`
}
