import { parseArgs } from 'node:util'
import { closest } from 'fastest-levenshtein'
import type { Environment } from '#src/config/parse.ts'
import type { Demo } from '#src/demo/demo.ts'

export type Option = {
  type: 'boolean' | 'string'
  summary: string
  /** What stands for its value in the help. */
  value?: string
  default?: string
}
type Options = Readonly<Record<string, Option>>

/** What may stand behind the command's name beside options. */
type Words = { usage: string; least: number; most: number }

type ValueOf<One extends Option> = One extends { type: 'boolean' }
  ? boolean
  : One extends { default: string }
    ? string
    : string | undefined

export type Given<Chosen extends Options> = {
  options: { readonly [Name in keyof Chosen]: ValueOf<Chosen[Name]> }
  words: readonly string[]
}

type Declaration<Chosen extends Options> = {
  summary: string
  details: string
  /** What an exit status of 1 means. */
  failure: string
  words?: Words
  options?: Chosen
  run(env: Environment, given: Given<Chosen>): Promise<void>
}

export type Command = Pick<Declaration<Options>, 'summary' | 'details' | 'failure'> & {
  words: Words
  options: Options
  /** @param args what stands behind the command's name */
  run(env: Environment, args: readonly string[]): Promise<void>
}

/** The command was called wrongly: exit status 2, with its usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** One declaration is what is parsed, what is refused and what the help says. */
export function declare<const Chosen extends Options = Record<never, Option>>(
  declaration: Declaration<Chosen>,
): Command {
  const { summary, details, failure } = declaration
  const words = declaration.words ?? { usage: '', least: 0, most: 0 }
  const options = declaration.options ?? {}
  return {
    summary,
    details,
    failure,
    words,
    options,
    async run(env, args) {
      const given = parse(options, words, args)
      // The cast stands behind the parser, which knows the same declaration.
      await declaration.run(env, given as Given<Chosen>)
    },
  }
}

function parse(options: Options, words: Words, args: readonly string[]) {
  const config: Config = { args: [...args], options: { ...options }, allowPositionals: true }
  refuseUnknown(options, config)
  const { values, positionals } = parseStrictly(config)
  const surplus = positionals.slice(words.most)
  if (surplus.length > 0) throw new UsageError(`“${surplus.join(' ')}” is too much.`)
  if (positionals.length < words.least) throw new UsageError(`${words.usage} is missing.`)
  const absent = Object.entries(options)
    .filter(([, { type }]) => type === 'boolean')
    .map(([name]) => [name, false])
  return { options: { ...Object.fromEntries(absent), ...values }, words: positionals }
}

type Config = { args: string[]; options: Record<string, Option>; allowPositionals: true }

function refuseUnknown(options: Options, config: Config): void {
  const { tokens } = parseArgs({ ...config, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind !== 'option' || Object.hasOwn(options, token.name)) continue
    const known = Object.keys(options)
    const nearest = known.length > 0 ? `did you mean --${closest(token.name, known)}?` : ''
    throw new UsageError(`Unknown option ${token.rawName}; ${nearest || 'there is none here.'}`)
  }
}

function parseStrictly(config: Config) {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message.split('\n', 1)[0] : error}.`)
  }
}

/** What was asked for; everything else is said by `tell`. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** The same for a script (`--json`). */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** To the person who waits, on standard error, so that no script takes it for a result. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`)
}

export type Progress = { label: string; done: number; total: number }

type Output = { isTTY?: boolean; write(text: string): unknown }

const width = 30

/**
 * Shows how far a long command is: one bar that is drawn over itself on a terminal, else a line
 * for each step.
 */
export function createProgress(output: Output): (progress: Progress) => void {
  return ({ label, done, total }) => {
    const isDone = done >= total
    if (output.isTTY !== true) {
      output.write(`${label}: ${done} of ${total}\n`)
      return
    }
    const filled = total === 0 ? width : Math.round((done / total) * width)
    const bar = '#'.repeat(filled).padEnd(width, '.')
    output.write(`\r${label} [${bar}] ${done}/${total}\u001b[K${isDone ? '\n' : ''}`)
  }
}

/** As withEnvironment; whoever names the owner of a database means that one and nothing embedded. */
export function withDatabaseOwner<T>(
  env: Environment,
  work: (env: Environment) => Promise<T>,
): Promise<T> {
  return env.DATABASE_OWNER_URL ? work(env) : withEnvironment(env, work)
}

/**
 * Runs a short command with a whole environment: in production the given one; else that of the
 * demo running in this checkout, or of one started for as long as the command takes.
 */
export async function withEnvironment<T>(
  env: Environment,
  work: (env: Environment) => Promise<T>,
): Promise<T> {
  if (env.NODE_ENV === 'production') return work(env)
  const { findRunningDemo } = await import('#src/demo/running-demo.ts')
  const running = await findRunningDemo()
  if (running !== null) return work({ ...running.env, ...env })
  const { startDemo } = await import('#src/demo/demo.ts')
  const demo: Demo = await startDemo(env)
  return work(demo.env).finally(() => demo.stop())
}
