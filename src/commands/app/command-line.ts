import { type Command, Option } from '@commander-js/extra-typings'
import { details, json, readDays, readName, readUuid } from '../kit/arguments.ts'
import { readEnvironment } from '../kit/environment.ts'

/** As in src/access/policy.ts, which takes longer to load than the help takes to print. */
export const offeredPermissions = [
  'webhook-endpoint:read',
  'webhook-endpoint:create',
  'webhook-endpoint:delete',
  'event:publish',
  'portal-link:create',
  'portal-link:delete',
  'member:read',
  'event-type:read',
  'event-type:update',
]

const owner = 'Needs DATABASE_OWNER_URL.'

/** `app-tokens`. */
export function addAppTokenCommands(program: Command): void {
  const tokens = program
    .command('app-tokens')
    .description('Tokens of your app: list, create, rotate, revoke')
  tokens
    .command('list')
    .description('List the app tokens, newest first')
    .option(...json)
    .addHelpText(...details('failed', `Expired tokens are listed for another 30 days.\n${owner}`))
    .action(async (options) => (await import('./app-tokens.ts')).list(readEnvironment(), options))
  tokens
    .command('create')
    .description('Create an app token and print its secret')
    .argument('<name>', 'What will use it', readName)
    .addOption(
      new Option('--permissions <permissions...>', 'What it may do, and nothing else')
        .choices(offeredPermissions)
        .makeOptionMandatory(),
    )
    .option('--days <n>', 'Days until it expires', readDays, 90)
    .option(...json)
    .addHelpText(
      ...details(
        'the token was not created',
        `The token is for your own backend. It belongs to no tenant: each call names one.
${owner}`,
      ),
    )
    .action(async (name, options) =>
      (await import('./app-tokens.ts')).create(readEnvironment(), name, options),
    )
  tokens
    .command('rotate')
    .description('Replace the secret of an app token and print the new one')
    .argument('<id>', 'Id of the token', readUuid)
    .option(...json)
    .addHelpText(
      ...details(
        'the secret was not replaced',
        `The previous secret ends at once. To change over without a gap, create a second
token and revoke the first.
${owner}`,
      ),
    )
    .action(async (id, options) =>
      (await import('./app-tokens.ts')).rotate(readEnvironment(), id, options),
    )
  tokens
    .command('revoke')
    .description('Delete an app token; its next request is refused')
    .argument('<id>', 'Id of the token', readUuid)
    .option(...json)
    .addHelpText(...details('there is no such token', owner))
    .action(async (id, options) =>
      (await import('./app-tokens.ts')).revoke(readEnvironment(), id, options),
    )
}
