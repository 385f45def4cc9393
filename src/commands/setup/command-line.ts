import type { Command } from '@commander-js/extra-typings'
import { details, json } from '../kit/arguments.ts'
import { readEnvironment } from '../kit/environment.ts'

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
per line. The owner's connection gets a file of its own, .env.migrate, which
migrate and the other commands of the owner read, and serve does not. Both are
readable by this user only.`,
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
