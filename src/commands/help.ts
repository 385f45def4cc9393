import { closest } from 'fastest-levenshtein'
import { ConfigError } from '#src/config/config.ts'
import { isDatabaseUnavailable } from '#src/http/problems.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { type Command, UsageError } from './command.ts'

const seeHelp = 'Help: gatehouse help'

type Commands = Readonly<Record<string, Command>>

/**
 * The command that the first words name (`doctor`, or `keys status`), and what stands behind them.
 * @throws UsageError, which names the nearest command
 */
export function findCommand(commands: Commands, args: readonly string[]) {
  for (const length of [2, 1]) {
    const name = args.slice(0, length).join(' ')
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command !== undefined) return { name, command, rest: args.slice(length) }
  }
  const [first = '', second] = args
  if (first === '') throw new UsageError(`A command is missing.\n${seeHelp}`)
  const group = groupOf(commands, first).map(([name]) => name)
  if (group.length === 0) {
    const nearest = closest(first, Object.keys(commands))
    throw new UsageError(`Unknown command “${first}”; did you mean ${nearest}?\n${seeHelp}`)
  }
  const choice = `Say: ${group.join(', or ')}.\nHelp: gatehouse ${first} --help`
  if (second === undefined) throw new UsageError(`A second word is missing. ${choice}`)
  throw new UsageError(`Unknown command “${first} ${second}”. ${choice}`)
}

/**
 * Help for the commands that the words name: for one, for all that begin with one word (`keys`), or,
 * without words, for all.
 * @throws UsageError, which names the nearest command
 */
export function helpFor(commands: Commands, words: readonly string[]): string {
  const [first] = words
  if (first === undefined) return overview(commands)
  const group = groupOf(commands, first)
  if (group.length === 0) findCommand(commands, words)
  const named = group.filter(([name]) => name === first || name === words.slice(0, 2).join(' '))
  const chosen = named.length > 0 ? named : group
  const texts = chosen.map(([name, command]) => helpOf(name, command))
  const seconds = group.map(([name]) => name.slice(first.length + 1))
  const head = named.length > 0 ? [] : [`gatehouse ${first}: ${seconds.join(', ')}`]
  return [...head, ...texts].join('\n\n')
}

/** How a command is called, on one line. */
export function usageOf(name: string, { words, options }: Command): string {
  const flags = Object.entries(options).map(([option, one]) => `[${spell(option, one)}]`)
  return ['gatehouse', name, words.usage, ...flags].filter((part) => part !== '').join(' ')
}

function overview(commands: Commands): string {
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(15)} ${summary}`,
  )
  return `Usage: gatehouse COMMAND [--help]

${lines.join('\n')}

gatehouse help COMMAND and gatehouse COMMAND --help explain one, gatehouse --version names this one.
Settings come from the environment and from .env; .env.example explains each.
Results go to standard output, everything else to standard error.
Exit status: 0 done, 1 failed, 2 called wrongly.`
}

function helpOf(name: string, command: Command): string {
  const { summary, details, failure, options } = command
  const spelled = Object.entries(options).map(
    ([option, one]) => [spell(option, one), one.summary, one.default] as const,
  )
  const width = Math.max(...spelled.map(([text]) => text.length), 0)
  const lines = spelled.map(
    ([text, meaning, preset]) =>
      `  ${text.padEnd(width)}  ${meaning}${preset === undefined ? '' : ` (${preset})`}\n`,
  )
  return `gatehouse ${name}: ${summary}

Usage: ${usageOf(name, command)}

${details}
${lines.length > 0 ? `\n${lines.join('')}` : ''}
Exit status: 0 done, 1 ${failure}, 2 called wrongly.`
}

function spell(option: string, { value }: { value?: string }): string {
  return value === undefined ? `--${option}` : `--${option} ${value}`
}

/** Commands that are that word, or begin with it. */
function groupOf(commands: Commands, first: string): [string, Command][] {
  return Object.entries(commands).filter(([name]) => name.split(' ', 1)[0] === first)
}

const connection =
  'Check DATABASE_URL, DATABASE_WORKER_URL and DATABASE_OWNER_URL, and that PostgreSQL is running.'
const migrate = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'

/** A mistake of the caller or an operator, with its remedy; anything else with its stack. */
export function explain(error: unknown): string {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message
  if (error instanceof OperatorError) return `${error.message} ${error.remedy}`
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const reason = error.message || code
  if (isDatabaseUnavailable(error) || isRefusedLogin(code)) {
    return `The database cannot be reached: ${reason}. ${connection}`
  }
  if (isForeignSchema(code)) return `The database is not as it has to be: ${reason}. ${migrate}`
  return error.stack ?? error.message
}

/** Class 28 of PostgreSQL, or a database that does not exist. */
function isRefusedLogin(code: string): boolean {
  return /^28[0-9A-Z]{3}$/.test(code) || code === '3D000'
}

/** A missing table, column, function or schema, or rights that were not given. */
function isForeignSchema(code: string): boolean {
  return ['42P01', '42703', '42883', '3F000', '42501'].includes(code)
}
