import { parseArgs } from 'node:util'
import { closest } from 'fastest-levenshtein'
import type { Environment } from '#src/config/parse.ts'

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
