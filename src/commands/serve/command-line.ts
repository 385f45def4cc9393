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
