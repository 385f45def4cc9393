import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { affectedBy, type Imports, reachedFrom, readImports } from '#test/run/imports.ts'
import { filesOf, type Lane } from '#test/run/lanes.ts'

/*
 * Which files a run has: those named, those of a lane, those that a change affects, or those of the quick
 * run.
 */

export type Choice = {
  lane: Lane
  /** Paths, patterns and folders; empty for the whole lane. */
  named: readonly string[]
  isQuick: boolean
  /** The revision since which something has changed, with `--changed`. */
  changedSince?: string | undefined
  onCluster?: boolean
}

/** The files of a run, in the order in which they should run. */
export function chooseFiles(root: string, choice: Choice): string[] {
  const { lane, named, isQuick, changedSince, onCluster = false } = choice
  if (named.length > 0) return filesNamed(root, named)
  const files = filesOf(lane, root, { onCluster })
  if (changedSince !== undefined) return affectedFiles(root, files, changedSince)
  return isQuick ? quickFiles(files, readImports(root)) : files
}

/** Of these files the ones that a change affects, the nearest first. */
function affectedFiles(root: string, files: readonly string[], revision: string): string[] {
  const changed = changedFiles(root, revision)
  const imports = readImports(root)
  const distances = affectedBy(imports, changed)
  const distanceOf = (file: string) => distances.get(file) ?? Number.POSITIVE_INFINITY
  const affected = files.filter((file) => distances.has(file))
  const unknown = changed.filter((file) => !imports.has(file))
  if (unknown.length > 0) {
    console.log(`Changed, but imported by no file, so nothing is chosen for: ${unknown.join(', ')}`)
  }
  return affected.sort((one, other) => distanceOf(one) - distanceOf(other))
}

/** What differs from the revision, with new files. */
export function changedFiles(root: string, revision: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
  return [
    ...git('diff', '--name-only', '--no-renames', '-z', '--relative', revision, '--'),
    ...git('ls-files', '--others', '--exclude-standard', '-z'),
  ]
}

/**
 * Files of the quick run that need a database, the most important first. Each takes a few seconds and
 * shows a promise of the product as a whole.
 */
export const quickWithDatabase = [
  'test/access/matrix.test.ts', // two resources, one caller of each kind
  'test/db/credential-scope.test.ts', // a credential sees its own tenant
  'test/db/forged-scope.test.ts', // no statement sets another scope
  'test/schema/row-level-security.test.ts', // nor does a statement of the program's roles
  'test/routes/webhooks/billing.test.ts', // an inbound event is recorded once
  'test/routes/auth/login.test.ts', // somebody signs in
  'test/architecture.test.ts', // what may import what
] as const

/** Files that start a server, a database or a program take seconds each. */
const slowToStart = [
  'test/support/database/template.ts',
  'dev/demo/postgres/start.ts',
  'test/support/processes/program.ts',
  'test/run/run.ts',
]

/**
 * First those named above. Then every file of the lane that starts neither a database nor a program: most
 * of these take a few milliseconds. They are found by what they import, so a new one is among them.
 */
export function quickFiles(lane: readonly string[], imports: Imports): string[] {
  const withDatabase: readonly string[] = quickWithDatabase
  const light = lane.filter((file) => {
    const reached = reachedFrom(imports, file)
    return !slowToStart.some((one) => reached.has(one)) && !withDatabase.includes(file)
  })
  return [...withDatabase, ...light]
}

/** The test files of paths, patterns and folders. */
function filesNamed(root: string, named: readonly string[]): string[] {
  const found = named.map((name) =>
    globSync(name, { cwd: root }).flatMap((path) =>
      path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.test.ts`, { cwd: root }),
    ),
  )
  // Without a file tap would run every test, each in a process of its own.
  const missing = named.filter((_name, index) => found[index]?.length === 0)
  if (missing.length > 0) throw new Error(`no test at ${missing.join(', ')}`)
  return [...new Set(found.flat())].sort()
}
