import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { type App, bare } from './define-app.ts'

export type LoadedApp = {
  readonly app: App
  /** The folder of the app, which contains `migrations`; null without an app. */
  readonly folder: string | null
}

/** What the single binary calls the folder of its app. */
export const containedFolder = 'app'

let contained: LoadedApp | null = null

/** The single binary contains its app, or runs none: it says so before anything asks for the app. */
export function containApp(app: App | null): void {
  contained =
    app === null
      ? { app: bare, folder: null }
      : { app: checked(app, 'The app'), folder: containedFolder }
}

const fileNames = ['gatehouse.config.ts', 'gatehouse.config.js', 'gatehouse.config.mjs']

/**
 * Loads the app that this process runs: the one that `--app FOLDER` names, that of the current folder, or the one
 * that the program's own package.json names. None of them, or `--app none`, is an installation without an app.
 * @throws OperatorError if there is no app in the named folder, or its file cannot be loaded
 */
export async function loadApp(
  argv: readonly string[] = process.argv.slice(2),
  folder: string = process.cwd(),
): Promise<LoadedApp> {
  if (contained !== null) return contained
  const named = folderIn(argv)
  if (named === bare.name) return { app: bare, folder: null }
  const file =
    named === null
      ? (fileIn(folder) ?? fileIn(ownAppFolder()))
      : findConfig(resolve(folder, named), named)
  if (file === null) return { app: bare, folder: null }
  return { app: await importApp(file), folder: dirname(file) }
}

/** The value of `--app`; null if it is not given. */
function folderIn(argv: readonly string[]): string | null {
  const end = argv.indexOf('--')
  const given = end < 0 ? argv : argv.slice(0, end)
  const index = given.findLastIndex((one) => one === '--app' || one.startsWith('--app='))
  const option = given[index] ?? null
  if (option?.startsWith('--app=')) return option.slice('--app='.length)
  return option && (given[index + 1] ?? null)
}

function fileIn(folder: string | null): string | null {
  if (folder === null) return null
  return fileNames.map((name) => resolve(folder, name)).find((file) => existsSync(file)) ?? null
}

/** The folder that package.json of this program names: in its repository the sample. */
function ownAppFolder(): string | null {
  const top = fileURLToPath(new URL('../..', import.meta.url))
  const { gatehouse } = JSON.parse(readFileSync(resolve(top, 'package.json'), 'utf8'))
  return typeof gatehouse?.app === 'string' ? resolve(top, gatehouse.app) : null
}

/**
 * The file of the app of a folder.
 * @param named how the folder is called in the message
 * @throws OperatorError if there is none
 */
export function findConfig(folder: string, named = folder): string {
  const file = fileIn(folder)
  if (file !== null) return file
  throw new OperatorError(
    `The folder ${named} has no gatehouse.config.ts.`,
    'Name the folder of an app with --app, or none for an installation without an app.',
  )
}

/** The file of an app, with the line, that has something in quotes; its configuration if none has. */
export function placeIn(folder: string | null, text: string): string {
  const config = fileIn(folder)
  if (folder === null || config === null) return 'gatehouse.config.ts'
  for (const file of [config, ...sourcesIn(folder)]) {
    const line = lineWith(file, (one) => one.includes(`'${text}'`) || one.includes(`"${text}"`))
    if (line !== null) return `${file}:${line}`
  }
  return config
}

/** The modules of an app. Read only to name a place in a message. */
function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((one) => {
    const path = join(folder, one.name)
    if (one.isDirectory()) return /^(\.|node_modules$)/.test(one.name) ? [] : sourcesIn(path)
    return /\.[cm]?[jt]s$/.test(one.name) ? [path] : []
  })
}

/** The number of the first line that is wanted, from another one on; null if there is none. */
function lineWith(file: string, isWanted: (line: string) => boolean, from = 1): number | null {
  const lines = readFileSync(file, 'utf8').split('\n')
  const index = lines.findIndex((line, index) => index + 1 >= from && isWanted(line))
  return index < 0 ? null : index + 1
}

async function importApp(file: string): Promise<App> {
  const { default: app } = await import(pathToFileURL(file).href).catch((error) => {
    throw new OperatorError(
      `The app in ${file} cannot be loaded: ${sentenceOf(error, dirname(file))}`,
      'Correct the file; its declarations are documented in docs/new-resource.md.',
    )
  })
  await checkSchedules(app, file)
  await checkSettings(app, file)
  return checked(app, file)
}

/** @throws OperatorError naming the first setting of the app that Gatehouse has */
async function checkSettings(app: Partial<App> | undefined, file: string): Promise<void> {
  if (app?.settings === undefined) return
  const { ownNameFaultOf } = await import('#src/config/documentation.ts')
  for (const name of Object.keys(app.settings.schema.properties)) {
    const fault = ownNameFaultOf(name)
    if (fault === null) continue
    throw new OperatorError(
      `The setting ${name} of the app in ${file} has a name that ${fault}.`,
      'Rename it: the name of the app and an underscore before it are enough.',
    )
  }
}

/** @throws OperatorError naming the first job whose schedule is no cron expression */
async function checkSchedules(app: Partial<App> | undefined, file: string): Promise<void> {
  for (const { name, schedule } of app?.jobs ?? []) {
    if (schedule === undefined) continue
    // Only an app with a schedule pays for loading the parser.
    const { scheduleFaultOf } = await import('./schedule.ts')
    const fault = scheduleFaultOf(schedule)
    if (fault === null) continue
    throw new OperatorError(
      `The job ${name} of the app has the schedule ${schedule}, which is no cron expression: ${fault}. See ${placeIn(dirname(file), schedule)}.`,
      'Write five fields: minute, hour, day of the month, month, day of the week, such as 0 7 * * 1-5.',
    )
  }
}

function checked(app: App | undefined, file: string): App {
  if (app !== undefined && Array.isArray(app.resources)) return app
  throw new OperatorError(
    `${file} exports no app.`,
    'Let it end with export default defineApp({ … }).',
  )
}

/** The error of a part of the app that is loaded at start, with the file and the line of the mistake. */
export function faultOfPart(part: string, error: unknown, folder: string): OperatorError {
  const problem = `${part} cannot be loaded: ${sentenceOf(error, folder)}`
  if (error instanceof OperatorError) return new OperatorError(problem, error.remedy)
  const isMissing = Object(error).code === 'ERR_MODULE_NOT_FOUND'
  return new OperatorError(
    problem,
    isMissing ? 'Create the file, or correct its import.' : 'Correct it there.',
  )
}

/** What is wrong, and where in the folder of the app. */
function sentenceOf(error: unknown, folder: string): string {
  if (!(error instanceof Error)) return `${error}.`
  // Of a fault of syntax, Node writes the file and the line before the stack, and nowhere else.
  const [place = ''] = error.stack?.split('\n') ?? []
  const isSyntax = /^(file:\/\/)?\/.*:\d+$/.test(place)
  const text = isSyntax ? `${error.message}, at ${place}` : error.message
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`
  const at = isSyntax ? null : declaredAt(error, folder)
  return at === null ? sentence : `${sentence} See ${at}.`
}

/**
 * The file and line of the call of the app that threw the error, or of the option that is the error's cause; null if
 * it is none of the app's.
 */
export function declaredAt({ stack = '', cause }: Error, folder: string): string | null {
  const top = `${pathToFileURL(folder).href}/`
  for (const line of stack.split('\n')) {
    const from = line.indexOf(top)
    if (from < 0 || line.includes('/node_modules/')) continue
    const [, file, called] = /^([^\s):]+):(\d+)/.exec(line.slice(from + top.length)) ?? []
    if (file === undefined) return null
    const names = (one: string) => typeof cause === 'string' && namesOption(one, cause)
    return `${file}:${lineWith(join(folder, decodeURI(file)), names, Number(called)) ?? called}`
  }
  return null
}

function namesOption(line: string, option: string): boolean {
  return new RegExp(`(^|[\\s{,'"])${RegExp.escape(option)}['"]?\\s*[:,(]`).test(line)
}
