import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { type Config, ConfigError, readConfig } from './config.ts'
import type { Demo } from './demo/demo.ts'
import { createLogger } from './logger.ts'
import { OperatorError } from './operator-error.ts'
import { runUntilSignal } from './run-until-signal.ts'
import { start } from './server.ts'
import type { Environment } from './setting-readers.ts'

type Command = {
  summary: string
  details: string
  /** @param args what stands behind the command's name */
  run(env: Environment, args: readonly string[]): Promise<void>
}

const commands: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'Serve requests; with ROLE=all (the default) also work on jobs',
    details: `Listens on HOST:PORT, and on ADMIN_HOST:ADMIN_PORT for health. Never migrates: it refuses a
database that is behind, or a role that could get around row-level security.
Outside production whatever is not set is embedded: a database in .data/, a local provider.`,
    run: (env) => run(env),
  },
  worker: {
    summary: 'Work on jobs only',
    details: 'The same as `serve` with ROLE=worker; only the admin listener is opened.',
    run: (env) => run({ ...env, ROLE: 'worker' }),
  },
  migrate: {
    summary: 'Bring the database up and give the application roles their rights',
    details: `Needs DATABASE_OWNER_URL and DATABASE_URL (and DATABASE_WORKER_URL, if jobs have a role of
their own). Creates a missing role with its URL's password. Run it again as often as you like.`,
    run: async (env) => (await import('./commands/migrate.ts')).default(env),
  },
  seed: {
    summary: "Add the demo's people and their data",
    details: 'Needs DATABASE_OWNER_URL. Data that is there already is left alone.',
    run: async (env) => (await import('./commands/seed.ts')).default(env),
  },
  keys: {
    summary: 'Say which encryption keys are in use (status), or re-encrypt (rotate)',
    details: `gatehouse keys status   What is encrypted under which key; --json for a script. Exit status 1 when a
                        key is missing.
gatehouse keys rotate   Re-encrypts everything under the first of ENCRYPTION_KEYS, in batches. It can be
                        broken off, run again, and run beside a running server.
To rotate: put the new key first in ENCRYPTION_KEYS, restart every process, run keys rotate, and
drop the old key when keys status says that it is no longer needed.
Needs ENCRYPTION_KEYS and DATABASE_WORKER_URL (or DATABASE_URL).`,
    run: async (env, args) => (await import('./commands/keys.ts')).default(env, args),
  },
  doctor: {
    summary: 'Check every setting, the database, the providers and the queue',
    details:
      'Says what is wrong and what mends it, with --json for a script. Exit status 1 when anything is.',
    run: async (env, args) => (await import('./commands/doctor.ts')).default(env, args),
  },
  health: {
    summary: 'Ask the process that runs here whether it is ready',
    details: `Asks ADMIN_HOST:ADMIN_PORT/readyz and nothing else. Exit status 1 unless it is; made for the
health check of a container.`,
    run: async (env) => (await import('./commands/health.ts')).default(env),
  },
  trigger: {
    summary: 'Sign a sample billing event and post it to a running instance',
    details: `gatehouse trigger TYPE [--customer ID] [--amount N] [--currency CODE] [--status STATE]
                       [--id EVENT_ID] [--url URL]

TYPE is for instance charge.succeeded, subscription.created or subscription.updated. Without --url
it goes to the demo running in this checkout, else to BASE_URL. Signed with the first of
BILLING_WEBHOOK_SECRETS. Post the same --id twice to see a duplicate.`,
    run: async (env, args) => (await import('./commands/trigger.ts')).default(env, args),
  },
  billing: {
    summary: 'Run received billing events again',
    details: `gatehouse billing replay [--status dead] [--from TIME] [--to TIME]
gatehouse billing replay EVENT_ID…

Times are RFC 3339 and mean the time of receipt, from inclusive, to exclusive. Shows how far it has
come; stopping the command does not stop the replay. Exit status 1 when an event failed again.`,
    run: async (env, args) => (await import('./commands/billing.ts')).default(env, args),
  },
  openapi: {
    summary: 'Print the description of the HTTP API (OpenAPI 3.1, JSON)',
    details: `The same as GET /openapi.json of a running server. Needs no database and no setting; BASE_URL is
named in it as the server's address.`,
    run: async (env) => (await import('./commands/openapi.ts')).default(env),
  },
}

// Whoever reads only the first lines (`| head`) closes the pipe; that is no fault.
process.stdout.on('error', () => process.exit())
if (existsSync('.env')) process.loadEnvFile('.env')
await main()

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    strict: false,
    options: { help: { type: 'boolean', short: 'h' } },
  })
  const [name = ''] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) return explainUsage(name, values.help === true)
  if (values.help) {
    process.stdout.write(`gatehouse ${name}: ${command.summary}\n\n${command.details}\n`)
    return
  }
  try {
    await command.run(process.env, process.argv.slice(3))
  } catch (error) {
    process.stderr.write(`gatehouse: ${explain(error)}\n`)
    process.exitCode = 1
  }
}

function explainUsage(name: string, asked: boolean): void {
  const lines = Object.entries(commands).map(
    ([command, { summary }]) => `  ${command.padEnd(9)} ${summary}`,
  )
  const usage = `Usage: gatehouse COMMAND [--help]

${lines.join('\n')}

Settings come from the environment; .env.example explains each.
`
  if (asked || name === 'help') {
    process.stdout.write(usage)
    return
  }
  const reason = name === '' ? 'A command is missing.' : `Unknown command “${name}”.`
  process.stderr.write(`${reason}\n\n${usage}`)
  process.exitCode = 1
}

/** Serves until a signal comes; outside production the missing parts are embedded. */
async function run(env: Environment): Promise<void> {
  const demo = env.NODE_ENV === 'production' ? null : await embedMissing(env)
  try {
    const config = readConfig(demo?.env ?? env)
    const running = await start(config, createLogger(config.logLevel))
    if (demo !== null) await greet(demo, config)
    await runUntilSignal(running)
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
  process.stdout.write(greeting(config, demo.customer))
}

/** An operator's mistake in one line with its remedy; anything else with its stack. */
function explain(error: unknown): string {
  if (error instanceof OperatorError) return `${error.message} ${error.remedy}`
  if (error instanceof ConfigError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
