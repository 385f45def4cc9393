import { parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig } from './config.ts'
import type { Demo } from './demo/demo.ts'
import { createLogger } from './logger.ts'
import { OperatorError } from './operator-error.ts'
import { runUntilSignal } from './run-until-signal.ts'
import { start } from './server.ts'

const usage = `Usage: gatehouse COMMAND

  serve     Serve requests; with ROLE=all (the default) also work on jobs
  worker    Work on jobs only
  migrate   Bring the database up and give the application role its rights
  seed      Add the demo's people and their data
  doctor    Check every setting, the database, the providers and the queue

Settings come from the environment; .env.example explains each.
Outside production, whatever is not set is embedded: a database in .data/, a local provider.
`

type Command = (env: Environment) => Promise<void>
type Environment = Readonly<Record<string, string | undefined>>

const commands: Readonly<Record<string, Command>> = {
  serve: (env) => run(env),
  worker: (env) => run({ ...env, ROLE: 'worker' }),
  migrate: async (env) => (await import('./commands/migrate.ts')).default(env),
  seed: async (env) => (await import('./commands/seed.ts')).default(env),
  doctor: async (env) => (await import('./commands/doctor.ts')).default(env),
}

await main()

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    strict: false,
    options: { help: { type: 'boolean', short: 'h' } },
  })
  const [name = ''] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (values.help || command === undefined) {
    const asked = values.help || name === 'help'
    ;(asked ? process.stdout : process.stderr).write(
      asked ? usage : `Unknown command “${name}”.\n\n${usage}`,
    )
    process.exitCode = asked ? 0 : 1
    return
  }
  try {
    await command(process.env)
  } catch (error) {
    process.stderr.write(`gatehouse: ${explain(error)}\n`)
    process.exitCode = 1
  }
}

/** Serves until a signal comes; outside production the missing parts are embedded. */
async function run(env: Environment): Promise<void> {
  const demo = env.NODE_ENV === 'production' ? null : await embedMissing(env)
  try {
    const config = readConfig(demo?.env ?? env)
    const running = await start(config, createLogger(config.logLevel))
    if (demo !== null) await greet(demo, config)
    await runUntilSignal(() => running.stop())
  } finally {
    await demo?.stop()
  }
}

async function embedMissing(env: Environment): Promise<Demo> {
  const { startDemo } = await import('./demo/demo.ts')
  return startDemo(env)
}

async function greet(demo: Demo, config: Config): Promise<void> {
  if (!demo.embedded.database || !demo.embedded.provider || config.role !== 'all') return
  const { greeting } = await import('./demo/greeting.ts')
  process.stdout.write(greeting(config))
}

/** An operator's mistake in one line with its remedy; anything else with its stack. */
function explain(error: unknown): string {
  if (error instanceof OperatorError) return `${error.message} ${error.remedy}`
  if (error instanceof ConfigError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
