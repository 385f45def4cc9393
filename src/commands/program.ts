import tab from '@bomb.sh/tab/commander'
import { Command, Option } from '@commander-js/extra-typings'
import type { EventStatus } from '#src/billing/events.ts'
import { version } from '#src/runtime/assets.ts'
import { addApiCommands } from './api-program.ts'
import { details, json, readAmount, readCount, readTime, readUrl, readUuid } from './arguments.ts'
import { readEnvironment } from './environment.ts'

/** As in src/billing/events.ts, which takes longer to load than the help takes to print. */
export const eventStatuses = [
  'recorded',
  'processed',
  'ignored',
  'failed',
  'dead',
  'dismissed',
] as const satisfies readonly EventStatus[]

/** As in ./collect-trace.ts. */
export const traceKinds = ['request', 'billing-event', 'message', 'delivery'] as const

const name = 'gatehouse'

/**
 * The command line. Each command loads its code when it runs, so that help and the health check of
 * a container start quickly. Wrong usage throws commander's CommanderError after its message.
 */
export function createProgram(): Command {
  const program = new Command(name)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, `${name}: `)),
    })
    .showHelpAfterError('Add --help to see the usage.')
    .version(`${name} ${version} (Node ${process.version})`, '--version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    .addHelpText(
      'after',
      `
Settings come from the environment and from .env; see .env.example.
Results go to standard output, everything else to standard error.
Exit status: 0 success, 1 failure, 2 wrong usage.`,
    )
  addServerCommands(program)
  addSetupCommands(program)
  addKeyCommands(program)
  addQuarantineCommands(program)
  addBillingCommands(program)
  addLedgerCommands(program)
  addUsageCommands(program)
  addTraceCommand(program)
  addDataCommands(program)
  addApiCommands(program)
  // At run time this is commander's own class; only the types of options are stricter.
  tab(program as unknown as Parameters<typeof tab>[0])
  return program
}

function addServerCommands(program: Command): void {
  const failure = 'failed to start, or to stop in time'
  program
    .command('serve')
    .description('Serve requests; with ROLE=all (the default) also process jobs')
    .addHelpText(
      'after',
      details(
        failure,
        `Listens on HOST:PORT, and on ADMIN_HOST:ADMIN_PORT for health and metrics.
Never migrates: it refuses to start on a database that lacks migrations, or with
a role that can bypass row-level security. Outside production it starts the
missing parts of the demo: PostgreSQL in .data/, a sign-in provider.
SIGTERM and SIGINT (Ctrl-C) stop it gracefully, a second signal at once.
After SIGINT the exit status is 130.`,
      ),
    )
    .action(async () => (await import('./serve.ts')).default(readEnvironment()))
  program
    .command('worker')
    .description('Process jobs only')
    .addHelpText(
      'after',
      details(failure, 'The same as serve with ROLE=worker. Opens only the admin listener.'),
    )
    .action(async () =>
      (await import('./serve.ts')).default({ ...readEnvironment(), ROLE: 'worker' }),
    )
  program
    .command('health')
    .description('Check whether the process on this machine is ready')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'it is not ready',
        'Requests ADMIN_HOST:ADMIN_PORT/readyz, for the health check of a container.',
      ),
    )
    .action(async (options) => (await import('./health.ts')).default(readEnvironment(), options))
  program
    .command('openapi')
    .description('Print the OpenAPI 3.1 description of the HTTP API as JSON')
    .addHelpText(
      'after',
      details(
        'failed',
        `The same document as GET /openapi.json. Needs no database and no settings;
BASE_URL becomes the address of the server in it.`,
      ),
    )
    .action(async () => (await import('./openapi.ts')).default(readEnvironment()))
}

function addSetupCommands(program: Command): void {
  program
    .command('init')
    .description('Ask for what a production installation needs, and write its .env')
    .option('--out <file>', 'File to write; it must not exist', '.env')
    .addHelpText(
      'after',
      details(
        'nothing was written',
        `Asks for addresses, the sign-in provider and the database, and makes new secrets
and passwords. Each answer is checked. Without a terminal it reads one answer
per line. The file is readable by this user only.`,
      ),
    )
    .action(async (options) => (await import('./init.ts')).default(options))
  program
    .command('migrate')
    .description('Migrate the database and grant privileges to the application roles')
    .option('--repair', 'Restore row-level security and functions that were changed')
    .option('--citus', 'Distribute the tables over the nodes of a Citus cluster')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'failed',
        `Needs DATABASE_OWNER_URL and DATABASE_URL, and DATABASE_WORKER_URL if the worker
has a role of its own. Creates a missing role with the password in its URL. Can
be run again at any time; a second run waits for the first.
With --repair it then verifies the database as serve does at start, and runs the
statements that repair what it finds; policies that no migration makes are
dropped. Prints each of them, and what is still wrong.
With --citus it distributes the tables over the nodes of a Citus cluster, which
has to be prepared as docs/growth.md shows, and prints each step. Stop all
processes first. Later runs need no --citus.`,
      ),
    )
    .action(async (options) => (await import('./migrate.ts')).default(readEnvironment(), options))
  program
    .command('seed')
    .description("Add the demo's people and their data")
    .option(...json)
    .addHelpText(
      'after',
      details('failed', 'Needs DATABASE_OWNER_URL. Does nothing if the data exists already.'),
    )
    .action(async (options) => (await import('./seed.ts')).default(readEnvironment(), options))
  program
    .command('doctor')
    .description('Check the settings, the database, the providers and the queue')
    .option(...json)
    .addHelpText(
      'after',
      details('something is wrong', 'Reports what is wrong and how to fix it. Changes nothing.'),
    )
    .action(async (options) => (await import('./doctor.ts')).default(readEnvironment(), options))
}

function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('Keys in the database: status, rotate')
  keys
    .command('status')
    .description('Show what each key encrypts, and the next step of a rotation')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'a key is missing in some process',
        `Compares the keys of all running processes, and says which step of a rotation
comes next. Session secrets are shown as fingerprints.
Needs ENCRYPTION_KEYS and DATABASE_WORKER_URL (or DATABASE_URL).
Shows key ids, never keys.`,
      ),
    )
    .action(async (options) => (await import('./keys.ts')).showStatus(readEnvironment(), options))
  keys
    .command('rotate')
    .description('Re-encrypt everything with the first key, and renew the scope key')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'some rows could not be decrypted',
        `To rotate from a to b: restart every process with a,b, then every process with
b,a, run this command, then restart every process with b. keys status says which
step comes next. Works in batches beside running processes, and can be
interrupted and run again. Each run also creates a new key for the seal of
database scopes; nothing has to be restarted for it. Needs ENCRYPTION_KEYS and
DATABASE_WORKER_URL (or DATABASE_URL).`,
      ),
    )
    .action(async (options) => (await import('./keys.ts')).rotate(readEnvironment(), options))
}

function addQuarantineCommands(program: Command): void {
  program
    .command('quarantine')
    .description('Stop all workers of this database, before a restored copy starts')
    .option(...json)
    .addHelpText(
      'after',
      details(
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
      'after',
      details(
        'failed',
        `For a restored database that replaces its original for good. Make sure that no
worker of the original runs any more. Waiting workers begin within seconds.
Needs DATABASE_WORKER_URL.`,
      ),
    )
    .action(async (options) => (await import('./quarantine.ts')).adopt(readEnvironment(), options))
}

function addBillingCommands(program: Command): void {
  program
    .command('trigger')
    .description('Sign a sample billing event and send it to a running instance')
    .argument('[type]', 'For example charge.succeeded or subscription.updated')
    .option('--customer <id>', 'Billing customer', 'cus_ada')
    .option('--amount <n>', 'Amount in minor units', readAmount, 4900)
    .option('--currency <code>', 'Currency of the amount', 'eur')
    .option('--status <state>', 'State of a subscription', 'active')
    .option('--id <id>', 'Event id (default: random)')
    .option('--url <url>', 'Target; an origin gets the path of the webhook', readUrl)
    .option('--list', 'List the types that have an effect')
    .option('--no-wait', 'Do not wait until a worker has processed the event')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'the event was refused or not processed',
        `Signs with the first of BILLING_WEBHOOK_SECRETS. Without --url it sends to
BASE_URL, or to the demo that runs in this folder. Send the same --id twice to
see a duplicate. Then waits up to ten seconds for a worker and shows what came
of the event, if DATABASE_WORKER_URL or the demo's database is known.`,
      ),
    )
    .action(async (type, options, command) => {
      const { listTypes, trigger } = await import('./trigger.ts')
      if (options.list) return listTypes(options)
      if (type === undefined) return command.error("error: missing required argument 'type'")
      await trigger(readEnvironment(), type, options)
    })
  const billing = program
    .command('billing')
    .description('Billing: replay received events, find missed ones, link customers')
  billing
    .command('link')
    .description('Link a billing customer to a user')
    .argument('<customer>', 'Id of the customer at the billing provider')
    .argument('<user>', 'Id of the user, or their verified email address')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'the customer was not linked',
        `Its charges create invoices in the user's own tenant from now on, and its
subscription sets the user's plan. It is taken from the user who had it; a user
has at most one customer.
Needs DATABASE_WORKER_URL (or DATABASE_URL).`,
      ),
    )
    .action(async (customer, user, options) =>
      (await import('./billing-link.ts')).default(readEnvironment(), customer, user, options),
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
      'after',
      details(
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
      await (await import('./billing.ts')).default(readEnvironment(), ids, options)
    })
  addReconcileCommand(billing)
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
      'after',
      details(
        'the list of the provider could not be read',
        `Without times it covers the last day, except for the last ten minutes, whose
webhooks may still arrive. The workers do the same every 15 minutes by themselves.
Stopping this command does not stop the run, which runs in the workers.
Needs DATABASE_URL, and a worker with BILLING_API_URL.`,
      ),
    )
    .action(async (options) =>
      (await import('./billing-reconcile.ts')).default(readEnvironment(), options),
    )
}

function addTraceCommand(program: Command): void {
  program
    .command('trace')
    .description('Show what is known about a request, event, message or delivery')
    .argument('<id>', 'Id of a request, a billing event, a message (msg_…) or a delivery')
    .addOption(new Option('--as <kind>', 'What the id is, if it is several').choices(traceKinds))
    .option(...json)
    .addHelpText(
      'after',
      details(
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

function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('Account for every event: verify, repair')
  const needs = 'Needs DATABASE_WORKER_URL (or DATABASE_URL).'
  ledger
    .command('verify')
    .description('Check that every event and delivery is accounted for')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'something is not accounted for',
        `Compares all events and deliveries with the ledger and the queue, except those
of the last ten minutes, and checks the chain of the ledger. The workers check
the newest every five minutes and count those of three months again every four
weeks, so run this after a backup was restored or a failover.
${needs}`,
      ),
    )
    .action(async (options) => (await import('./ledger.ts')).verify(readEnvironment(), options))
  ledger
    .command('repair')
    .description('Show what is not accounted for, and with --apply repair it')
    .option('--apply', 'Give a job to what waits without one')
    .option('--accept', 'Also add changes of sealed windows to the ledger')
    .option(...json)
    .addHelpText('after', details('something is not accounted for', needs))
    .action(async (options) => (await import('./ledger.ts')).repair(readEnvironment(), options))
}

function addUsageCommands(program: Command): void {
  const usage = program.command('usage').description('What tenants store: list, check, limit')
  usage
    .command('list')
    .description('Show the tenants that store most, with their limits')
    .option('--limit <n>', 'Number of tenants', readCount, 20)
    .option(...json)
    .addHelpText('after', details('failed', 'Needs DATABASE_WORKER_URL (or DATABASE_URL).'))
    .action(async (options) => (await import('./usage.ts')).list(readEnvironment(), options))
  usage
    .command('check')
    .description('Compare the counters of every tenant with its rows')
    .option('--repair', 'Correct wrong counters')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'a counter is wrong',
        `Reads every row once, tenant by tenant, beside running processes.
Needs DATABASE_WORKER_URL (or DATABASE_URL).`,
      ),
    )
    .action(async (options) => (await import('./usage.ts')).check(readEnvironment(), options))
  usage
    .command('limit')
    .description('Give a tenant limits of its own')
    .argument('<tenant>', 'Id of the tenant')
    .option('--resources <rows/MiB>', 'As QUOTA_RESOURCES; without it that setting applies')
    .option('--events <rows/MiB>', 'As QUOTA_EVENTS; without it that setting applies')
    .addHelpText(
      'after',
      details(
        'there is no such tenant',
        `Replaces the limits that the tenant had; takes effect at once.
Needs DATABASE_WORKER_URL (or DATABASE_URL).`,
      ),
    )
    .action(async (tenant, options) =>
      (await import('./usage.ts')).limit(readEnvironment(), tenant, options),
    )
}

function addDataCommands(program: Command): void {
  const owner = 'Needs DATABASE_OWNER_URL.'
  const user = program.command('user').description('Data of a user: export, erase')
  user
    .command('export')
    .description('Print everything that is kept about a user as JSON')
    .argument('<user>', 'Id of the user, or their verified email address')
    .addHelpText('after', details('failed', `Tokens and secrets are left out.\n${owner}`))
    .action(async (id) => (await import('./erasure.ts')).exportUser(readEnvironment(), id))
  user
    .command('erase')
    .description('Delete a user and what is kept about them')
    .argument('<user>', 'Id of the user, or their verified email address')
    .requiredOption('--yes', 'Confirm it: this cannot be undone')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'the user was not deleted',
        `Refused for the last admin of a tenant with other members. docs/privacy.md says
what remains for how long. A running worker revokes the user's provider tokens.
${owner}`,
      ),
    )
    .action(async (id, options) =>
      (await import('./erasure.ts')).eraseUser(readEnvironment(), id, options),
    )
  const tenant = program.command('tenant').description('Data of a tenant: export, delete')
  tenant
    .command('export')
    .description('Print everything of a tenant as JSON')
    .argument('<id>', 'Id of the tenant', readUuid)
    .addHelpText('after', details('failed', `Tokens and secrets are left out.\n${owner}`))
    .action(async (id) => (await import('./erasure.ts')).exportWholeTenant(readEnvironment(), id))
  tenant
    .command('delete')
    .description('Delete a tenant with everything in it')
    .argument('<id>', 'Id of the tenant', readUuid)
    .requiredOption('--name <name>', 'Confirm it with the exact name of the tenant')
    .option(...json)
    .addHelpText(
      'after',
      details(
        'the tenant was not deleted',
        `Deletes members without another tenant too, with their accounts.\n${owner}`,
      ),
    )
    .action(async (id, { name: confirmed, ...options }) =>
      (await import('./erasure.ts')).deleteWholeTenant(readEnvironment(), id, confirmed, options),
    )
}
