import { existsSync, globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

/*
 * docs/evidence.md: each rule that the service claims to follow, with the tests that show it. The
 * rules are the files below; a test is named by its file and its title.
 */

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const files = ['specification', 'sign-in', 'standard-webhooks', 'asvs']

/** A body of rules: a specification or a standard. */
type Source = { source: string; about: string; sections: Section[] }
type Section = { title: string; rules: Rule[] }

/**
 * A rule, in short. `tests` are `file › title` below `test/`; `untested` says what of the rule no
 * test shows; `notApplicable` says why the rule does not concern this service.
 */
type Rule = {
  id: string
  rule: string
  tests?: string[]
  untested?: string
  notApplicable?: string
}

/** A title as its test states it: its text, and the expression for its names filled in. */
type Title = { text: string; filled: RegExp }
type TestFile = { titles: Title[]; texts: string }

/**
 * The text of docs/evidence.md.
 * @throws Error with every reference that has no test, and every rule that says nothing
 */
export async function evidenceDocument(root = checkout): Promise<string> {
  const sources = await readSources(root)
  const faults = await findFaults(sources, (path) => readTestFile(root, path))
  if (faults.length > 0) throw new Error(`docs/evidence/:\n${faults.join('\n')}`)
  return write(sources)
}

async function readSources(root: string): Promise<Source[]> {
  const read = files.map(async (name): Promise<Source[]> => {
    const found = parse(await readFile(join(root, `docs/evidence/${name}.yaml`), 'utf8'))
    return Array.isArray(found) ? found : [found]
  })
  return (await Promise.all(read)).flat()
}

/** @param open the test file at a path below `test/`, null if there is none */
export async function findFaults(
  sources: readonly Source[],
  open: (path: string) => Promise<TestFile | null>,
): Promise<string[]> {
  const faults: string[] = []
  const ids = new Set<string>()
  for (const rule of rulesOf(sources)) {
    if (ids.has(rule.id)) faults.push(`${rule.id}: the id is used twice`)
    ids.add(rule.id)
    const { tests = [], untested, notApplicable } = rule
    if (tests.length === 0 && untested === undefined && notApplicable === undefined) {
      faults.push(`${rule.id}: neither a test nor a reason`)
    }
    for (const reference of tests) {
      const [path = '', title = ''] = splitReference(reference)
      const file = await open(path)
      if (file === null) faults.push(`${rule.id}: no file test/${path}`)
      else if (!hasTest(file, title)) faults.push(`${rule.id}: no test “${title}” in test/${path}`)
    }
  }
  return faults
}

function splitReference(reference: string): string[] {
  const end = reference.indexOf(' › ')
  return end === -1 ? [reference] : [reference.slice(0, end), reference.slice(end + 3)]
}

/**
 * Whether the file has the test. A title with names in it (`${name}`) is referred to as it is
 * written, or filled in with strings that stand in the file or in one that it imports.
 */
function hasTest({ titles, texts }: TestFile, title: string): boolean {
  return titles.some(({ text, filled }) => {
    if (text === title) return true
    const names = filled.exec(title)?.slice(1)
    return names?.every((name) => texts.includes(`'${name}'`)) ?? false
  })
}

async function readTestFile(root: string, path: string): Promise<TestFile | null> {
  const [found] = globSync(`test/${path}`, { cwd: root })
  if (found === undefined) return null
  const text = await readFile(join(root, found), 'utf8')
  const imported = [...text.matchAll(/from '(?:#test|(\.\.?))\/([^']+)'/g)].map(
    ([, relative, name = '']) =>
      relative === undefined ? `test/${name}` : join(dirname(found), relative, name),
  )
  const support = imported.filter((name) => existsSync(join(root, name)))
  const texts = await Promise.all(support.map((name) => readFile(join(root, name), 'utf8')))
  return { titles: titlesOf(text), texts: [text, ...texts].join('\n') }
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

function rulesOf(sources: readonly Source[]): Rule[] {
  return sources.flatMap(({ sections }) => sections.flatMap(({ rules }) => rules))
}

const introduction = `# Evidence

Generated from [\`docs/evidence/\`](evidence/) by \`npm run generate\`, which fails if a test that is named here does not exist. Each rule is put in our own words, with the tests that show it. A test named here shows the rule in the cases it plays, no more; rules that no test shows, or not wholly, are listed [at the end](#not-shown-by-a-test). No external body has reviewed this page.
`

function write(sources: readonly Source[]): string {
  const overview = sources.map(({ source, sections }) => {
    const rules = sections.flatMap((section) => section.rules)
    const count = (kind: Standing) => rules.filter((rule) => standingOf(rule) === kind).length
    const counts = [count('shown'), count('in part'), count('not shown'), count('not applicable')]
    return `| [${source}](#${anchorOf(source)}) | ${counts.join(' | ')} |`
  })
  const open = rulesOf(sources).filter((rule) => rule.untested !== undefined)
  return `${[
    introduction,
    '| Rules of | shown by tests | in part | by none | not applicable |',
    '|---|---|---|---|---|',
    ...overview,
    ...sources.flatMap(writeSource),
    '',
    '## Not shown by a test',
    '',
    '| Rule | What it says | What is not shown |',
    '|---|---|---|',
    ...open.map(({ id, rule, untested = '' }) => row([id, rule, untested])),
  ].join('\n')}\n`
}

type Standing = 'shown' | 'in part' | 'not shown' | 'not applicable'

function standingOf({ tests = [], untested, notApplicable }: Rule): Standing {
  if (notApplicable !== undefined) return 'not applicable'
  if (tests.length === 0) return 'not shown'
  return untested === undefined ? 'shown' : 'in part'
}

function writeSource({ source, about, sections }: Source): string[] {
  return ['', `## ${source}`, '', about, ...sections.flatMap(writeSection)]
}

function writeSection({ title, rules }: Section): string[] {
  const table = rules.map((rule) => row([rule.id, rule.rule, shownBy(rule)]))
  return ['', `**${title}**`, '', '| Rule | What it says | Tests |', '|---|---|---|', ...table]
}

function shownBy({ tests = [], untested, notApplicable }: Rule): string {
  const named = tests.map((reference) => {
    const [path = '', title = ''] = splitReference(reference)
    return `[${path.replace(/\.test\.ts$/, '')}](../test/${path}): ${title.replace(/\$\{[^}]*\}/g, '…')}`
  })
  const notes = [
    ...(untested === undefined ? [] : [`*Not shown:* ${untested}`]),
    ...(notApplicable === undefined ? [] : [`*Not applicable:* ${notApplicable}`]),
  ]
  return [...named, ...notes].join('<br>')
}

function row(cells: readonly string[]): string {
  const escaped = cells.map((cell) => cell.replaceAll('|', '\\|').replace(/<(?!br>)/g, '&lt;'))
  return `| ${escaped.join(' | ')} |`
}

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
