import { type Command, Option } from '@commander-js/extra-typings'
import { details, json } from '../kit/arguments.ts'
import { readEnvironment } from '../kit/environment.ts'

/** As in ./collect-trace.ts. */
export const traceKinds = ['request', 'billing-event', 'message', 'delivery'] as const

/** `migrate`. */
export function addMigrateCommand(program: Command) {
  return program
    .command('migrate')
    .description('Migrate the database and grant privileges to the application roles')
    .option('--distribute', 'Distribute the tables over the nodes of a cluster')
    .option(...json)
    .addHelpText(
      ...details(
        'failed',
        `Needs DATABASE_OWNER_URL and DATABASE_URL, and DATABASE_WORKER_URL if the worker
has a role of its own. Creates a missing role with the password in its URL. Can
be run again at any time; a second run waits for the first.
Runs the migrations, then replaces functions, policies, triggers and privileges
in one transaction if anything differs from the files of this release, also if
it was changed by hand. Policies and triggers of its tables that are in no file
are dropped.
With --distribute it distributes the tables over the nodes of a cluster, which
has to be prepared as docs/growth.md shows, and prints each step. Stop all
processes first. Later runs need no --distribute.`,
      ),
    )
    .action(async (options) => (await import('./migrate.ts')).default(readEnvironment(), options))
}

/** `quarantine` and `adopt`. */
export function addQuarantineCommands(program: Command): void {
  program
    .command('quarantine')
    .description('Stop all workers of this database, before a restored copy starts')
    .option(...json)
    .addHelpText(
      ...details(
        'failed',
        `A restored database contains jobs that the original has done since: its workers
would send those webhooks again. A loaded dump is recognised and needs no
command; a base backup or the snapshot of a disk is not, so run this first.
Workers that run stop within seconds. Needs DATABASE_WORKER_URL.`,
      ),
    )
    .action(async (options) =>
      (await import('./quarantine.ts')).quarantine(readEnvironment(), options),
    )
  program
    .command('adopt')
    .description('End the quarantine: this database is the one whose jobs are done')
    .option(...json)
    .addHelpText(
      ...details(
        'failed',
        `For a restored database that replaces its original for good. Make sure that no
worker of the original runs any more. Waiting workers begin within seconds.
Needs DATABASE_WORKER_URL.`,
      ),
    )
    .action(async (options) => (await import('./quarantine.ts')).adopt(readEnvironment(), options))
}

/** `ledger`. */
export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('Account for every event: verify, repair')
  const needs = 'Needs DATABASE_WORKER_URL (or DATABASE_URL).'
  ledger
    .command('verify')
    .description('Check that every event and delivery is accounted for')
    .option(...json)
    .addHelpText(
      ...details(
        'something is not accounted for',
        `Looks at all events and deliveries, except those of the last ten minutes. The
workers look every hour at the newest, and at each again after two hours and
after a day, so run this after a backup was restored or a failover.
${needs}`,
      ),
    )
    .action(async (options) => (await import('./ledger.ts')).verify(readEnvironment(), options))
  ledger
    .command('repair')
    .description('Show what is not accounted for, and with --apply repair it')
    .option('--apply', 'Give a job to what waits without one')
    .option(...json)
    .addHelpText(...details('something is not accounted for', needs))
    .action(async (options) => (await import('./ledger.ts')).repair(readEnvironment(), options))
}

/** `trace`. */
export function addTraceCommand(program: Command): void {
  program
    .command('trace')
    .description('Show what is known about a request, event, message or delivery')
    .argument('<id>', 'Id of a request, a billing event, a message (msg_…) or a delivery')
    .addOption(new Option('--as <kind>', 'What the id is, if it is several').choices(traceKinds))
    .option(...json)
    .addHelpText(
      ...details(
        'nothing is known about the id',
        `Prints a timeline from the request or billing event to the delivery attempts:
audit entries, events, deliveries, attempts and replays. Payloads, URLs,
addresses and responses are left out. The log has the same ids.
Needs DATABASE_WORKER_URL (or DATABASE_URL).`,
      ),
    )
    .action(async (id, options) =>
      (await import('./trace.ts')).default(readEnvironment(), id, options),
    )
}
