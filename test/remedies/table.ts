/*
 * Every remedy of the program by the file that has it, and the beginning of its text as the source has
 * it. `tried` names the test file that causes the fault, does what the remedy says and shows that the fault
 * is gone, with a text of that file. `not` is the reason why no test does.
 */

type Row = { tried: readonly [file: string, text: string] } | { not: string }

const database = 'test/remedies/database.test.ts'
const commands = 'test/remedies/commands.test.ts'
const start = 'test/remedies/start.test.ts'
const migrateTest = 'test/schema/migrate.test.ts'
const changes = 'test/docs/migrations.test.ts'
const tables = 'test/schema/app-tables.test.ts'
const loadTest = 'test/resources/load-app.test.ts'
const routesTest = 'test/resources/app-routes.test.ts'
const defineTest = 'test/schema/define.test.ts'
const services = 'test/commands/setup/doctor-services.test.ts'
const certificate = { tried: [services, 'NODE_EXTRA_CA_CERTS: join('] } as const

/** Names what to give or look up; another call with it is every other test of the command. */
const input = { not: 'it asks for another input, which the tests of the command give' }
/** Its fault is of another machine or program. */
const elsewhere = { not: 'the fault is outside this program, and named alone' }
const cluster = { not: 'the fault of a cluster is named by the tests of test/schema/citus/*' }

export const remedies: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'src/commands/app/app-tokens.ts': { 'listRemedy = ': input },
  'src/billing/hooks.ts': {
    'Name the event as the provider does': {
      tried: ['test/resources/hooks.ts', 'the corrected type'],
    },
  },
  'src/billing/customers.ts': { 'Give the id of a user': input },
  'src/commands/billing/link.ts': { 'Give the id of a tenant': input },
  'src/commands/billing/reconcile.ts': {
    'Check BILLING_API_URL and BILLING_API_KEY': input,
    'The run is stored and goes on': {
      tried: ['test/billing/reconciliation.test.ts', 'an interrupted run goes on where it was'],
    },
  },
  'src/commands/billing/replay.ts': {
    'Nothing was replayed. Check the ids': input,
    'It is stored and starts with the next worker': {
      tried: ['test/commands/billing/billing.test.ts', 'finished_at IS NOT NULL AND total = 1'],
    },
  },
  'src/commands/database/ledger.ts': {
    'gets a job': { tried: ['test/commands/database/ledger.test.ts', 'ledger repair'] },
    'cannot be repaired; see': { not: 'it names what no command repairs' },
  },
  'src/commands/database/trace.ts': { 'It may be wrong, older': input },
  'src/commands/development/dev.ts': { 'Run gatehouse serve': { not: 'it names another command' } },
  'src/commands/development/migrate-dev.ts': {
    'Run gatehouse migrate, which applies': { not: 'it names another command' },
    'Run gatehouse migrate dev, read the migration': { tried: [changes, 'In CI'] },
  },
  'src/commands/development/trigger.ts': {
    'Is the service running there?': elsewhere,
  },
  'src/commands/kit/databases.ts': { 'DATABASE_OWNER_URL names the role': input },
  'src/commands/kit/environment.ts': {
    'Make it a file that this user may read': {
      tried: [commands, 'and a .env that is no readable'],
    },
    'Remove it, and make a file': { tried: [commands, '.env that is a folder'] },
  },
  'src/commands/kit/error-message.ts': {
    'Restore it: `git status`': { tried: [start, 'provider.css'] },
    'Run `npm ci`, or restore': { tried: [start, 'provider-pages.ts'] },
    "EACCES: 'Give this user access": { not: 'tests may run as root, which may read everything' },
    "EPERM: 'Give this user access": { not: 'tests may run as root, which may read everything' },
    'Free space on its disk': { not: 'a test would fill a disk' },
    'Check DATABASE_URL, DATABASE_WORKER_URL': { tried: [database, 'proxy.resume()'] },
    'Run `gatehouse migrate` with': { tried: [defineTest, 'migrate restores it'] },
    'Is GATEHOUSE_TOKEN a token': input,
    'Use a token of a person': input,
    'Is the id right': input,
    "429: 'Try again later": { tried: [commands, 'is asked again later'] },
    "503: 'Try again later": { tried: [commands, 'is asked again later'] },
  },
  'src/commands/setup/doctor.ts': {
    'Run `gatehouse migrate`': { tried: [database, 'Its queues are missing'] },
  },
  'src/commands/setup/providers.ts': { 'Check OIDC_': elsewhere },
  'src/commands/serve/health.ts': { 'See the log of the process': elsewhere },
  'src/commands/setup/init.ts': {
    'Move it away, or choose another': { tried: [commands, 'exists already'] },
    'Choose another one': input,
    "'The answers ended too early.'": input,
    '`${text}: ${wrong}`': input,
  },
  'src/commands/tenants/erasure.ts': {
    'Give the id of a tenant': input,
    'describeBlock(outcome)': {
      tried: ['test/commands/tenants/erasure.test.ts', 'unblocked.status, 0'],
    },
    'Give its exact name with --name': input,
  },
  'src/commands/tenants/usage.ts': { '`gatehouse usage list` shows': input },
  'src/commands/api/api-client.ts': {
    'Run `gatehouse login` with the other address': {
      tried: [commands, 'a login for another address'],
    },
    'Ask for less at once': input,
    'Is it running there?': elsewhere,
  },
  'src/commands/webhooks/app-events.ts': {
    'Give one, or @FILE': input,
    'It has the types by their names': input,
    'Give the path of a JSON file': input,
  },
  'src/commands/webhooks/listen.ts': {
    'cannot be read: ': input,
    'is no state of this command': input,
    'belongs to ': input,
  },
  'src/commands/api/login-file.ts': {
    'Run `gatehouse login` again': { tried: [commands, 'one that is damaged'] },
    'chmod 600 ': { tried: [commands, 'a login that others can read'] },
  },
  'src/commands/api/login.ts': { 'Run it again': { not: 'a test would wait ten minutes' } },
  'src/config/billing.ts': {
    'It must be one of': { tried: [commands, 'an unknown billing provider'] },
  },
  'dev/demo/demo.ts': {
    'Stop it first, or set DATABASE_URL': { tried: ['test/demo/demo.test.ts', 'const beside'] },
    'Set it to 0 to 65535': { tried: ['test/demo/running-demo.test.ts', '65536'] },
  },
  'dev/release/create.ts': {
    'Name a new one, or an empty one': input,
    'Run npm run build:package in the checkout': input,
  },
  'src/schema/member-roles.ts': {
    'Run gatehouse migrate with this app': {
      tried: ['test/schema/app-migrations.test.ts', 'does not allow the roles clerk, boss'],
    },
    'Declare it again in roles, give them': {
      tried: ['test/schema/app-migrations.test.ts', "UPDATE memberships SET role = 'boss'"],
    },
  },
  'src/commands/development/create.ts': { 'Name a folder of lower-case words': input },
  'dev/release/build-app.ts': {
    'Run gatehouse build with Node': { not: 'the tests run with one Node, which can do it' },
  },
  'src/commands/kit/app-folder.ts': {
    'Run it in the folder of an app': {
      tried: ['test/commands/development/generate.test.ts', "'--app', 'shop'"],
    },
  },
  'src/commands/development/generate.ts': {
    'Run gatehouse generate, read': {
      tried: [
        'test/commands/development/generate.test.ts',
        "run('--check', '--app', 'shop')).status, 0",
      ],
    },
  },
  'src/commands/kit/development.ts': {
    'Run `npm start` in a checkout': {
      not: 'only the binary says it; the tests of the demo and of init do both in a checkout',
    },
    'Run `npx gatehouse create`, which npm': {
      not: 'only src/cli.ts says it, which no package starts; test/release/package.test.ts runs it',
    },
    'Run `npx gatehouse migrate dev`': {
      not: 'only src/cli.ts says it, which no package starts',
    },
    'Run `npx gatehouse build` in the folder': {
      not: 'only src/cli.ts says it, which no package starts; test/release/package.test.ts runs it',
    },
  },
  'dev/demo/packages.ts': {
    'Run npm install --save-dev': {
      not: 'npm would install them beside the packages of the tests, which have them; test/demo/packages.test.ts compares the names',
    },
  },
  'dev/demo/postgres/cluster.ts': {
    'and with it the data of the demo': { tried: [start, 'password of the'] },
  },
  'dev/demo/postgres/data-directory.ts': {
    'Move it away, or delete it': { tried: [commands, 'cannot enter is moved away'] },
    'Run `npm ci`, or set DATABASE_URL': {
      not: 'a test would take the packages away from all others, or needs another platform',
    },
  },
  'dev/demo/postgres/lock-file.ts': {
    'Stop the program that started it': { tried: [commands, 'stopped with the printed command'] },
  },
  'dev/demo/running-demo.ts': {
    'Start it with `npm start`': { tried: ['test/demo/demo.test.ts', 'printed printed'] },
    'Delete the folder .data': { tried: [start, 'is damaged'] },
  },
  'src/ledger/repair.ts': {
    "return 'job'": { tried: ['test/commands/database/ledger.test.ts', 'ledger repair'] },
  },
  'src/queue/supervisor.ts': {
    'If this installation is the one': {
      tried: ['test/commands/database/quarantine.test.ts', "run('adopt')"],
    },
  },
  'src/runtime/certificate-errors.ts': {
    'If an authority of your own signed it': certificate,
  },
  'src/runtime/process/ports.ts': {
    'Stop the process that uses it': { tried: ['test/runtime/ports.test.ts', 'busy.close()'] },
    'Cannot listen on': elsewhere,
  },
  'src/schema/citus/nodes.ts': {
    'Create the extension': cluster,
    'Revoke it from PUBLIC': cluster,
    'Start it and check': cluster,
    'Connect to the coordinator': cluster,
    'Upgrade all nodes': cluster,
    'Set it to 0 or to max_connections': cluster,
    'As a superuser on that node': cluster,
  },
  'src/schema/citus/placed.ts': {
    'Run `gatehouse migrate --distribute`': cluster,
    'As its owner: SELECT undistribute_table': cluster,
  },
  'src/schema/citus/verify.ts': {
    'Run `gatehouse migrate --distribute`': cluster,
    'As the owner of the table': cluster,
    'As a superuser on the coordinator': cluster,
    'Undo the change there': cluster,
    'There, as a superuser': cluster,
  },
  'src/schema/define.ts': {
    'Rename it or move it': { tried: [defineTest, 'RENAME TO extra_own'] },
  },
  'src/schema/differences.ts': {
    'As a superuser: ALTER': { tried: [database, 'ticket_hash(bytea) OWNER TO postgres'] },
  },
  'src/schema/finding.ts': {
    'Run `gatehouse migrate` with': { tried: [defineTest, 'migrate restores it'] },
    'Add what is missing to its migration': {
      not: 'it names a page, whose steps test/docs/new-resource.test.ts carries out without the fault',
    },
    'The database is of release': { not: 'it needs the program of a newer release' },
  },
  'src/schema/migrate.ts': {
    'None of them was changed. Fix the cause': { tried: [defineTest, 'fails as a whole'] },
    'Let DATABASE_OWNER_URL lead to PostgreSQL': { tried: [services, 'direct.ended, 0'] },
    'Use another role in DATABASE_URL': { tried: [database, 'both log in as'] },
  },
  'src/schema/migrations/apply.ts': { 'Fix the cause and run': { tried: [migrateTest, 'mended'] } },
  'src/schema/migrations/applied.ts': {
    'Use an empty database; for the demo': { tried: [database, 'an empty database is used'] },
    'Use an empty database (for the demo': { tried: [start, '29990102000000_second'] },
    'Start it with --app and the folder of': {
      tried: ['test/schema/app-migrations.test.ts', 'its own app serves it'],
    },
  },
  'src/resources/kit/distinct.ts': {
    'Give the declared resource another name': { tried: [routesTest, "'another name'"] },
  },
  'src/resources/kit/derived.ts': {
    'Let create of': { tried: [tables, "'nothing that creates a task'"] },
  },
  'src/resources/load-app.ts': {
    'Create the file, or correct': { tried: [routesTest, 'await writeFile(file, text)'] },
    'Correct it there': { tried: [routesTest, 'await writeFile(file, text)'] },
    'Name the folder of an app with --app': { tried: [loadTest, 'none is an installation'] },
    'Correct the file; its declarations': { tried: [loadTest, 'the corrected file'] },
    'Let it end with export default': { tried: [loadTest, 'the corrected file'] },
    'Rename it: the name of the app': { tried: [loadTest, 'the renamed setting'] },
    'Write five fields: minute': { tried: [loadTest, 'the corrected schedule'] },
  },
  'src/schema/lock-retry.ts': {
    'Find it (SELECT pid': { tried: [database, 'is found and ended'] },
  },
  'src/schema/resource-tables.ts': {
    'Run `gatehouse migrate dev` in': { tried: [database, 'migrate dev'] },
  },
  'src/schema/app-tables/columns.ts': {
    'Rows cannot change their scope': { not: 'it names a migration that the developer writes' },
    'Give them one with --fill': { tried: [changes, '--fill task\\.status=VALUE'] },
    'Give a text as it is': input,
    'is its new name, declare': { tried: [tables, 'renamed(line(200)'] },
    'Remove the field first, with --drop': {
      tried: [tables, 'Remove the field first, with --drop tasks.area'],
    },
  },
  'src/schema/app-tables/plan.ts': {
    'Change it in a migration of your own': {
      not: 'it names a migration that the developer writes',
    },
  },
  'src/schema/app-tables/words.ts': {
    'Rename it in a migration of your own': {
      not: 'it names a migration that the developer writes',
    },
  },
  'src/schema/migrations/next.ts': {
    'Write the migration by hand': { not: 'no declaration is known that needs it' },
    'Nothing was written. Write a migration': {
      not: 'it names a migration that the developer writes',
    },
  },
  'src/schema/roles.ts': {
    'Create an owner without both': { tried: ['test/docs/install.test.ts', 'is a superuser'] },
    'Create it as an administrator': { tried: [migrateTest, 'CREATEROLE is needed for nothing'] },
  },
  'src/schema/unreachable.ts': {
    certificateRemedy: certificate,
    'Add ?pgbouncer=true': {
      tried: ['test/db/pgbouncer.test.ts', 'without pgbouncer=true the connection is refused'],
    },
    'and that PostgreSQL is running': elsewhere,
    'Check that PostgreSQL behind it': elsewhere,
    'and that PgBouncer is running': elsewhere,
    'Let the connection URL lead': { tried: [services, 'the URL leads to the primary'] },
    'Once writes may go on, take it back': { tried: [database, 'default_transaction_read_only'] },
  },
  'src/schema/verification/verify-functions.ts': {
    'has it through another role: as an administrator': {
      tried: ['test/schema/newer-release.test.ts', 'REVOKE :role_bypass FROM :role'],
    },
    'No release made it. As its owner': { tried: [database, 'through peek'] },
  },
  'src/schema/verification/verify-roles.ts': {
    'As a superuser, take it back where it was set': {
      tried: [database, 'session_replication_role'],
    },
    'Name another role in the connection URL': { tried: [database, 'another role is named'] },
  },
  'src/schema/verification/verify-tables.ts': {
    'No release made it. Drop it': { tried: [database, "notes: 'DROP TABLE"] },
    'No release made it: drop it': { tried: [database, "all_posts: 'DROP VIEW"] },
  },
}
