import { existsSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { Environment } from '#src/config/parse.ts'
import { readSecretFiles } from '#src/config/secret-files.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readTextFile } from '#src/runtime/text-file.ts'
import { loadDevelopment } from './development.ts'

/**
 * The environment, with what `.env` adds to it, and with the content of the files that hold secrets.
 * @throws OperatorError, ConfigError if a file cannot be read
 */
export function readEnvironment(): Environment {
  if (existsSync(dotEnv)) addToEnvironment(readEnvFile(dotEnv))
  return readSecretFiles(process.env)
}

const dotEnv = '.env'
/** What `init` adds to the name of the file of the programs, for the file of their owner. */
export const ownerFileEnding = '.migrate'

/** The environment, with what `.env.migrate` adds to it: settings of the owner, which no running program reads. */
export function withOwnerFile(env: Environment): Environment {
  const file = `${dotEnv}${ownerFileEnding}`
  return existsSync(file) ? { ...readSecretFiles(parseEnv(readEnvFile(file))), ...env } : env
}

/** The settings of the environment alone, and with those that `.env` adds. */
export type Sources = { shell: Environment; env: Environment }

/** As readEnvironment, for a command that must know where a setting comes from. */
export function readSources(): Sources {
  const shell = { ...process.env }
  return { shell, env: readEnvironment() }
}

/** What the environment says goes before what the file says, as `node --env-file` does it. */
function addToEnvironment(text: string): void {
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value
}

function readEnvFile(file: string): string {
  try {
    return readTextFile(file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EISDIR') {
      throw new OperatorError(
        `${file} is a folder.`,
        'Remove it, and make a file with NAME=value in each line. A container makes a folder of a mount whose file is missing.',
      )
    }
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `${file} cannot be read: ${reason}.`,
      'Make it a file that this user may read, with NAME=value in each line.',
    )
  }
}

/** As withEnvironment, but an explicit DATABASE_OWNER_URL means that database and starts no demo. */
export async function withDatabaseOwner<T>(
  given: Environment,
  work: (env: Environment) => Promise<T>,
): Promise<T> {
  const env = withOwnerFile(given)
  return env.DATABASE_OWNER_URL ? work(env) : withEnvironment(env, work)
}

/**
 * Runs a short command with a complete environment: in production the given one, otherwise that of
 * the demo running in this checkout, or of a demo started for the duration of the command.
 */
export async function withEnvironment<T>(
  env: Environment,
  work: (env: Environment) => Promise<T>,
): Promise<T> {
  if (env.NODE_ENV === 'production') return work(env)
  const { findRunningDemo, startDemo, withDemoSettings } = await loadDevelopment()
  const running = await findRunningDemo()
  if (running !== null) return work(withDemoSettings(env, running))
  const demo = await startDemo(env)
  return work(demo.env).finally(() => demo.stop())
}
