import type { Command } from '@commander-js/extra-typings'
import { details, json } from '../kit/arguments.ts'
import { readEnvironment } from '../kit/environment.ts'

/** `serve`, `worker` and `health`. */
export function addServeCommands(program: Command): void {
  const failure = 'failed to start, or to stop in time'
  program
    .command('serve')
    .description('Serve requests; with ROLE=all (the default) also process jobs')
    .addHelpText(
      ...details(
        failure,
        `Listens on HOST:PORT, and on ADMIN_HOST:ADMIN_PORT for health and metrics.
Never migrates: it refuses to start on a database that lacks migrations, or with
a role that can bypass row-level security. Outside production it starts the
missing parts of the demo: PostgreSQL in .data/, a sign-in provider.
SIGTERM, SIGINT (Ctrl-C) and SIGHUP (the terminal was closed) stop it
gracefully, a second SIGTERM or SIGINT at once. After SIGINT the exit status is
130, after SIGHUP 129. Under npm start it also stops when npm is killed.`,
      ),
    )
    .action(async () => (await import('./serve.ts')).default(readEnvironment()))
  program
    .command('worker')
    .description('Process jobs only')
    .addHelpText(
      ...details(failure, 'The same as serve with ROLE=worker. Opens only the admin listener.'),
    )
    .action(async () =>
      (await import('./serve.ts')).default({ ...readEnvironment(), ROLE: 'worker' }),
    )
  program
    .command('health')
    .description('Check whether the process on this machine is ready')
    .option(...json)
    .addHelpText(
      ...details(
        'it is not ready',
        'Requests ADMIN_HOST:ADMIN_PORT/readyz, for the health check of a container.',
      ),
    )
    .action(async (options) => (await import('./health.ts')).default(readEnvironment(), options))
}

/** `version`. */
export function addVersionCommand(program: Command): void {
  program
    .command('version')
    .description('Show the release, its schema, and the release of the database')
    .option(...json)
    .addHelpText(
      ...details(
        'the database cannot be asked',
        `The database is asked if DATABASE_WORKER_URL or DATABASE_URL is set: which
release last ran migrate on it. /readyz of a running process says the same.`,
      ),
    )
    .action(async (options) => (await import('./version.ts')).default(readEnvironment(), options))
}

/** `init`. */
export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('Ask for what a production installation needs, and write its .env')
    .option('--out <file>', 'File to write; it must not exist', '.env')
    .addHelpText(
      ...details(
        'nothing was written',
        `Asks for addresses, the sign-in provider and the database, and makes new secrets
and passwords. Each answer is checked. Without a terminal it reads one answer
per line. The file is readable by this user only.`,
      ),
    )
    .action(async (options) => (await import('./init.ts')).default(options))
}

/** `providers`. */
export function addProviderCommands(program: Command): void {
  const providers = program.command('providers').description('Sign-in providers: check')
  providers
    .command('check')
    .description('Check the metadata and keys of the providers, and say what to register there')
    .argument('[name]', 'One of OIDC_PROVIDERS; without it, all')
    .option(...json)
    .addHelpText(
      ...details(
        'a provider cannot be used',
        `Fetches metadata and keys. Prints the addresses to register there, what
its preset sets and what it supports. Sends no secret. Of a provider without
OpenID Connect only the settings are checked.`,
      ),
    )
    .action(async (name, options) =>
      (await import('./providers.ts')).default(readEnvironment(), name, options),
    )
}

/** `doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Check settings, database, queue, providers, Redis and mail server')
    .option(...json)
    .addHelpText(
      ...details('something is wrong', 'Reports what is wrong and how to fix it. Changes nothing.'),
    )
    .action(async (options) => (await import('./doctor.ts')).default(readEnvironment(), options))
}
