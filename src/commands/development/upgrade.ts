import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { findUnknownSettings } from '#src/config/documentation.ts'
import type { Environment } from '#src/config/parse.ts'
import { readTextAsset, version } from '#src/runtime/assets.ts'
import { isTooOld, neededNode } from '#src/runtime/needed-node.ts'
import { findPending } from '#src/schema/migrate.ts'
import { requireAppFolder } from '../kit/app-folder.ts'
import { withOwnerFile } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'
import generate, { findOutdated } from './generate.ts'

type Options = { readonly check?: true; readonly json?: true }

/** One thing that was looked at. `action` says what somebody has to do; null if nothing. */
type Look = { readonly what: string; readonly found: string; readonly action: string | null }

/**
 * `gatehouse upgrade`: writes what is generated, and says what else this version changes in the app; with `check` it
 * only says so.
 * @throws OperatorError without an app
 */
export default async function upgradeCommand(env: Environment, options: Options): Promise<void> {
  const folder = requireAppFolder()
  if (!options.check) await generate({})
  const looks = [
    lookAtNode(process.versions.node),
    ...(await lookAtImports(folder)),
    await lookAtGenerated(folder),
    await lookAtMigrations(env),
    ...lookAtSettings(env),
  ]
  if (looks.some(({ action }) => action !== null)) process.exitCode = 1
  if (options.json) return printJson({ version, looks })
  print(`gatehouse ${version}`)
  for (const { what, found, action } of looks) {
    print(
      `${action === null ? 'ok    ' : 'ACTION'}  ${what}: ${found}${action ? ` ${action}` : ''}`,
    )
  }
}

function lookAtNode(running: string): Look {
  const action = isTooOld(running) ? `Install Node ${neededNode} or newer.` : null
  return { what: 'node', found: `${running}, needed is ${neededNode}.`, action }
}

/** The names that the app imports and docs/exports.md does not have: types, and those of modules that are loaded late. */
async function lookAtImports(folder: string): Promise<Look[]> {
  const exported = exportsIn(await readTextAsset('docs/exports.md'))
  const gone: Look[] = []
  for (const file of await sourcesIn(folder)) {
    for (const [entry, names] of importsIn(await readFile(file, 'utf8'))) {
      const known = exported.get(entry)
      for (const name of names.filter((one) => known?.has(one) !== true)) {
        const found = `${relative(folder, file)} imports ${name} from ${entry}, which does not export it.`
        gone.push({ what: 'imports', found, action: 'CHANGELOG.md says what takes its place.' })
      }
    }
  }
  if (gone.length > 0) return gone
  return [{ what: 'imports', found: 'everything that the app imports is there.', action: null }]
}

/** The exported names by entry, as the page lists them. */
function exportsIn(page: string): Map<string, Set<string>> {
  const sections = page.split(/^## `/m).slice(1)
  return new Map(
    sections.map((section) => {
      const names = [...section.matchAll(/^\| `([^`\n]+)` \|/gm)].map(([, name = '']) => name)
      return [section.slice(0, section.indexOf('`')), new Set(names)]
    }),
  )
}

/** The names in the import statements of each entry of the package. */
function importsIn(text: string): [entry: string, names: string[]][] {
  const statements = text.matchAll(
    /\bimport (?:type )?\{([^}]*)\} from ['"](gatehouse[^'"\n]*)['"]/g,
  )
  return [...statements].map(([, names = '', entry = '']) => [
    entry,
    names
      .split(',')
      .map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? '',
      )
      .filter((name) => name !== ''),
  ])
}

const skipped = /^(node_modules|dist|generated|\..*)$/

async function sourcesIn(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && !skipped.test(entry.name)) found.push(...(await sourcesIn(path)))
    if (entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name)) found.push(path)
  }
  return found
}

async function lookAtGenerated(folder: string): Promise<Look> {
  const outdated = await findOutdated()
  const what = 'generated'
  if (outdated.length === 0)
    return { what, found: 'the files are as this version writes them.', action: null }
  const names = outdated.map(({ file }) => relative(folder, file)).join(', ')
  const action = 'Run gatehouse generate, read the difference and commit it.'
  return { what, found: `${names} would differ.`, action }
}

/** Needs the connection of the owner, which alone may read the history. */
async function lookAtMigrations(env: Environment): Promise<Look> {
  const what = 'migrations'
  const { DATABASE_OWNER_URL: url } = withOwnerFile(env)
  if (!url)
    return {
      what,
      found: 'DATABASE_OWNER_URL is not set, so no database was looked at.',
      action: null,
    }
  const pending = await findPending(url)
  if (pending.length === 0) return { what, found: 'the database has all of them.', action: null }
  return {
    what,
    found: `${pending.join(', ')} are missing.`,
    action: 'Run gatehouse migrate before the new processes start.',
  }
}

function lookAtSettings(env: Environment): Look[] {
  const unknown = findUnknownSettings(env)
  const what = 'settings'
  if (unknown.length === 0) return [{ what, found: 'each is known.', action: null }]
  return unknown.map(({ name, nearest }) => ({
    what,
    found: `${name} is unknown.`,
    action: `Is ${nearest} meant? CHANGELOG.md says what takes the place of one that is gone.`,
  }))
}
