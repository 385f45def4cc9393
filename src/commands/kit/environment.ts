import { existsSync } from 'node:fs'
import type { Environment } from '#src/config/parse.ts'
import { readSecretFiles } from '#src/config/secret-files.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { loadDevelopment } from './development.ts'

/**
 * The environment, with what `.env` adds to it, and with the content of the files that hold secrets.
 * @throws OperatorError, ConfigError if a file cannot be read
 */
export function readEnvironment(): Environment {
  if (existsSync('.env')) loadDotEnv()
  return readSecretFiles(process.env)
}

/** The settings of the environment alone, and with those that `.env` adds. */
export type Sources = { shell: Environment; env: Environment }

/** As readEnvironment, for a command that must know where a setting comes from. */
export function readSources(): Sources {
  const shell = { ...process.env }
  return { shell, env: readEnvironment() }
}

function loadDotEnv(): void {
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `.env cannot be read: ${reason}.`,
      'Make it a file that this user may read, with NAME=value in each line.',
    )
  }
}

/** As withEnvironment, but an explicit DATABASE_OWNER_URL means that database and starts no demo. */
export async function withDatabaseOwner<T>(
  env: Environment,
  work: (env: Environment) => Promise<T>,
): Promise<T> {
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
