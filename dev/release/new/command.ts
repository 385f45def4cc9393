import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { policy } from '#src/access/policy.ts'
import { tablePrivileges } from '#src/schema/tables.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { withEdit, withoutEdit } from './edit.ts'
import { type Command, InputFault, readCommand, type Taken } from './input.ts'
import { app, editsOf } from './resource.ts'

/*
 * `npm run new`: writes a resource from templates, in a checkout. What it wrote is noted in `.data`, so that it
 * can be taken back while it is not committed.
 */

const root = fileURLToPath(new URL('../../..', import.meta.url))

export async function run(args: readonly string[]): Promise<number> {
  try {
    await carryOut(readCommand(args, await readTaken()))
    return 0
  } catch (error) {
    if (!(error instanceof InputFault)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  }
}

async function carryOut(command: Command): Promise<void> {
  if (command.kind === 'remove') return remove(command.name)
  const { resource } = command
  const stamp = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const edits = await editsOf(resource, stamp)
  // Everything is refused before anything is written.
  const texts = new Map<string, string>()
  const undone: Undo[] = []
  for (const edit of edits) {
    const { path, text } = edit
    const before = texts.get(path) ?? (await readOrNull(path))
    texts.set(path, withEdit(before, edit))
    undone.push(before === null ? { path, text: '', isNew: true } : { path, text, isNew: false })
  }
  await mkdir(dirname(noteOf(resource.name)), { recursive: true })
  await writeFile(noteOf(resource.name), JSON.stringify(undone))
  await writeAll(texts)
  const written = [...texts.keys()]
  const sources = written.filter((path) => path.endsWith('.ts'))
  format(sources)
  say(`Written:\n${written.map((path) => `  ${path}`).join('\n')}

Read them; delete the mark “review me” in ${app}/test/${resource.name}.ts when it says
what you want. Then:
  npm run generate                                        # the generated documents
  npm test -- --snapshot test/app.test.ts                 # the guards of the new routes: read the difference
  npm run check
  npm test -- test/resources/resources.test.ts test/access/*.test.ts test/schema/*.test.ts test/auth/erasure/*.test.ts
Take it back with: npm run new -- --remove ${resource.name}`)
}

type Undo = { readonly path: string; readonly text: string; readonly isNew: boolean }

async function readOrNull(path: string): Promise<string | null> {
  const file = join(root, path)
  return existsSync(file) ? readFile(file, 'utf8') : null
}

async function writeAll(texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of texts) {
    const file = join(root, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** @throws InputFault if it was committed or changed since */
async function remove(name: string): Promise<void> {
  const note = noteOf(name)
  if (!existsSync(note)) throw new InputFault(`${name}: this checkout has no note of writing it.`)
  const undone: Undo[] = JSON.parse(await readFile(note, 'utf8'))
  const files = undone.filter(({ isNew }) => isNew).map(({ path }) => path)
  if (committedOf(files) !== '')
    throw new InputFault(`${name} is committed. Revert the commit instead.`)
  const texts = new Map<string, string>()
  for (const { path, text, isNew } of undone.toReversed()) {
    if (isNew) continue
    const whole = texts.get(path) ?? (await readFile(join(root, path), 'utf8'))
    texts.set(path, withoutEdit(whole, { path, text }))
  }
  await writeAll(texts)
  for (const path of files) await rm(join(root, path), { force: true })
  for (const { path } of undone.filter(({ path }) => path.endsWith('migration.sql'))) {
    await rm(dirname(join(root, path)), { recursive: true, force: true })
  }
  await rm(note)
  format(undone.filter(({ path, isNew }) => !isNew && path.endsWith('.ts')).map(({ path }) => path))
  say(`Removed ${name}. Then: npm run generate\n`)
}

function noteOf(name: string): string {
  return join(root, '.data/new', `${name}.json`)
}

async function readTaken(): Promise<Taken> {
  const contract = await readFile(join(root, 'docs/contract.txt'), 'utf8')
  const segments = [...contract.matchAll(/^[A-Z]+ \/([^/ ]+)/gm)].map(([, first = '']) => first)
  const layout = await readFile(join(root, 'src/pages/kit/layout.ts'), 'utf8')
  const pages = [...layout.matchAll(/href: '\/app\/([\w-]+)'/g)].map(([, page = '']) => page)
  return {
    rules: policy.map(({ resource }) => resource),
    tables: Object.keys(tablePrivileges),
    schemas: [...contract.matchAll(/^([A-Z]\w+): /gm)].map(([, title = '']) => title),
    paths: [...segments, ...pages, 'app', 'docs', 'assets', 'auth', 'webhooks', 'openapi'],
    events: eventTypes,
  }
}

function format(paths: readonly string[]): void {
  execFileSync(
    process.execPath,
    ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '--vcs-enabled=false', ...paths],
    {
      cwd: root,
      stdio: 'ignore',
    },
  )
}

/** Those of the files that git has; none in a tree without it. */
function committedOf(files: readonly string[]): string {
  if (!existsSync(join(root, '.git'))) return ''
  return execFileSync('git', ['ls-files', '--', ...files], { cwd: root, encoding: 'utf8' }).trim()
}

function say(text: string): void {
  process.stdout.write(text)
}
