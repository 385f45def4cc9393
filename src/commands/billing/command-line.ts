import { type Command, Option } from '@commander-js/extra-typings'
import type { EventStatus } from '#src/billing/events.ts'
import { details, json, readCount, readTime } from '../kit/arguments.ts'
import { readEnvironment } from '../kit/environment.ts'

/** As in src/billing/events.ts, which takes longer to load than the help takes to print. */
export const eventStatuses = [
  'recorded',
  'processed',
  'ignored',
  'unlinked',
  'failed',
  'dead',
  'dismissed',
] as const satisfies readonly EventStatus[]

/** `billing`. */
export function addBillingCommands(program: Command): void {
  const billing = program
    .command('billing')
    .description('Billing: replay received events, find missed ones, link customers')
  billing
    .command('link')
    .description('Link a billing customer to a user or a tenant')
    .argument('<customer>', 'Id of the customer at the billing provider')
    .argument('<user>', 'Id of the user or tenant, or the verified email address of a user')
    .option(...json)
    .addHelpText(
      ...details(
        'the customer was not linked',
        `Its charges create invoices in the user's own tenant from now on, and its
subscription sets the user's plan. With the id of a tenant the invoices are for
the tenant, and the plan is that of its members. The customer is taken from who
had it; a user or tenant has at most one.
Needs DATABASE_WORKER_URL (or DATABASE_URL).`,
      ),
    )
    .action(async (customer, user, options) =>
      (await import('./link.ts')).default(readEnvironment(), customer, user, options),
    )
  billing
    .command('replay')
    .description('Process received billing events again')
    .argument('[ids...]', 'Ids of events; without ids, the options select the events')
    .addOption(
      new Option('--status <status>', 'Status of the events (default: "dead")').choices(
        eventStatuses,
      ),
    )
    .option('--from <time>', 'Received at or after this RFC 3339 time', readTime)
    .option('--to <time>', 'Received before this RFC 3339 time', readTime)
    .option(...json)
    .addHelpText(
      ...details(
        'an event failed again',
        `Shows the progress. Stopping this command does not stop the replay, which runs
in the workers. Fails if an id is unknown, or if no worker takes the replay up
within ten seconds; it is stored then and starts with the next worker.
Needs DATABASE_URL.`,
      ),
    )
    .action(async (ids, options, command) => {
      const { status, from, to } = options
      if (ids.length > 0 && (status ?? from ?? to) !== undefined) {
        command.error('error: event ids cannot be combined with --status, --from or --to.')
      }
      await (await import('./replay.ts')).default(readEnvironment(), ids, options)
    })
  addReconcileCommand(billing)
  addBackfillCommand(billing)
}

function addReconcileCommand(billing: Command): void {
  billing
    .command('reconcile')
    .description('Find events of the provider whose webhook never arrived, and record them')
    .option('--from <time>', 'Created at or after this RFC 3339 time', readTime)
    .option('--to <time>', 'Created before this RFC 3339 time', readTime)
    .option('--dry-run', 'Only count what is missing')
    .option(...json)
    .addHelpText(
      ...details(
        'the list of the provider could not be read',
        `Without times it covers the last day, except for the last ten minutes, whose
webhooks may still arrive. The workers do the same every 15 minutes by themselves.
Stopping this command does not stop the run, which runs in the workers.
Needs DATABASE_URL, and a worker with BILLING_API_KEY.`,
      ),
    )
    .action(async (options) => (await import('./reconcile.ts')).default(readEnvironment(), options))
}

const dayMs = 86_400_000

function addBackfillCommand(billing: Command): void {
  billing
    .command('backfill')
    .description('Record what happened before the provider was connected')
    .addOption(
      new Option('--days <days>', 'How far back; providers keep about 30 days')
        .default(30)
        .argParser(readCount),
    )
    .option(...json)
    .addHelpText(
      ...details(
        'the list of the provider could not be read',
        `Reads the list of events of the provider, as reconcile does, once and for more
days. Running it again changes nothing.
Needs DATABASE_URL, and a worker with BILLING_API_KEY.`,
      ),
    )
    .action(async ({ days, ...options }) => {
      const from = new Date(Date.now() - days * dayMs).toISOString()
      await (await import('./reconcile.ts')).default(readEnvironment(), { ...options, from })
    })
}
