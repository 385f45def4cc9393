import type { Command } from '@commander-js/extra-typings'
import { details, json, readCount, readUuid } from '../kit/arguments.ts'
import { readEnvironment } from '../kit/environment.ts'

/** `usage`. */
export function addUsageCommands(program: Command): void {
  const usage = program.command('usage').description('What tenants store: list, check, limit')
  usage
    .command('list')
    .description('Show the tenants that store most, with their limits')
    .option('--limit <n>', 'Number of tenants', readCount, 20)
    .option(...json)
    .addHelpText(...details('failed', 'Needs DATABASE_WORKER_URL (or DATABASE_URL).'))
    .action(async (options) => (await import('./usage.ts')).list(readEnvironment(), options))
  usage
    .command('check')
    .description('Compare the counters of every tenant with its rows')
    .option('--repair', 'Correct wrong counters')
    .option(...json)
    .addHelpText(
      ...details(
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
    .option(...json)
    .addHelpText(
      ...details(
        'there is no such tenant',
        `Replaces the limits that the tenant had; takes effect at once.
Needs DATABASE_WORKER_URL (or DATABASE_URL).`,
      ),
    )
    .action(async (tenant, options) =>
      (await import('./usage.ts')).limit(readEnvironment(), tenant, options),
    )
}

/** `user` and `tenant`. */
export function addDataCommands(program: Command): void {
  const owner = 'Needs DATABASE_OWNER_URL.'
  const user = program.command('user').description('Data of a user: export, erase')
  user
    .command('export')
    .description('Print everything that is kept about a user as JSON')
    .argument('<user>', 'Id of the user, or their verified email address')
    .addHelpText(...details('failed', `Tokens and secrets are left out.\n${owner}`))
    .action(async (id) => (await import('./erasure.ts')).exportUser(readEnvironment(), id))
  user
    .command('erase')
    .description('Delete a user and what is kept about them')
    .argument('<user>', 'Id of the user, or their verified email address')
    .requiredOption('--yes', 'Confirm it: this cannot be undone')
    .option(...json)
    .addHelpText(
      ...details(
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
    .addHelpText(...details('failed', `Tokens and secrets are left out.\n${owner}`))
    .action(async (id) => (await import('./erasure.ts')).exportWholeTenant(readEnvironment(), id))
  tenant
    .command('delete')
    .description('Delete a tenant with everything in it')
    .argument('<id>', 'Id of the tenant', readUuid)
    .requiredOption('--name <name>', 'Confirm it with the exact name of the tenant')
    .option(...json)
    .addHelpText(
      ...details(
        'the tenant was not deleted',
        `Deletes members without another tenant too, with their accounts.\n${owner}`,
      ),
    )
    .action(async (id, { name: confirmed, ...options }) =>
      (await import('./erasure.ts')).deleteWholeTenant(readEnvironment(), id, confirmed, options),
    )
}
