import { existsSync, globSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { blocksOf } from './blocks.ts'
import { listPages, readPage, root } from './page.ts'

/** Build results, which are not in the repository. */
const built =
  /^(dist\/(gatehouse|THIRD-PARTY-NOTICES|tests\.tap$|[\w-]+\.jsonl$)|docs\/database\.md$)/

const pages = new Map<string, string>()
for (const path of listPages()) pages.set(path, await readPage(path))

t.test('every relative link has a file, every anchor a heading', async (t) => {
  for (const [path, text] of pages) {
    for (const link of linksOf(text)) {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : normalize(join(dirname(path), file))
      t.ok(built.test(target) || existsSync(join(root, target)), `${path}: ${link}`)
      if (anchor === undefined) continue
      const headings = headingsOf(pages.get(target) ?? '')
      t.ok(headings.includes(anchor), `${path}: ${link} is not one of ${headings.join(', ')}`)
    }
  }
})

t.test('every page is reachable from the README', async (t) => {
  const reached = new Set(['README.md'])
  for (const path of reached) {
    for (const link of linksOf(pages.get(path) ?? '')) {
      const target = normalize(join(dirname(path), link.split('#')[0] || path))
      if (pages.has(target)) reached.add(target)
    }
  }
  t.strictSame([...pages.keys()].sort(), [...reached].sort())
})

t.test('every file name on a page exists, or the page creates it', async (t) => {
  for (const [path, text] of pages) {
    const made = blocksOf(text).map((block) => block.path)
    for (const name of filesNamed(text)) {
      const known = built.test(name) || made.includes(name)
      t.ok(known || globSync(name, { cwd: root }).length > 0, `${path}: ${name}`)
    }
  }
})

t.test('every npm script on a page exists', async (t) => {
  const { scripts } = JSON.parse(await readPage('package.json'))
  for (const [path, text] of pages) {
    for (const [, name = ''] of text.matchAll(/\bnpm run ([\w:-]+)/g)) {
      t.ok(Object.hasOwn(scripts, name), `${path}: npm run ${name}`)
    }
  }
})

/** The links and images of a page that point into the repository. */
function linksOf(text: string): string[] {
  const links = withoutCode(text).matchAll(/\]\(([^)\s]+)\)|(?:href|src)="([^"]+)"/g)
  return [...links]
    .map(([, link, attribute]) => link ?? attribute ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
}

/** The anchors GitHub gives the headings of a page. */
function headingsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The names in backticks that look like files or folders of the repository. */
function filesNamed(text: string): string[] {
  const folders = 'src|plugins|routes|prisma|test|bench|docs|dist|\\.ci|\\.config'
  const file = new RegExp(
    `^(?:(?:${folders})/[\\w./*-]*|[\\w.-]+\\.(?:ts|json|md|yaml)|Dockerfile)$`,
  )
  const named = [...withoutCode(text).matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name)
  return named.filter(
    (name) => file.test(name) && !existsSync(join(root, 'docs/verifying-webhooks', name)),
  )
}

function withoutCode(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```$/gm, '')
}
