import { migrate } from '#src/db/migrate.ts'
import type { Environment } from '#src/setting-readers.ts'
import { readDatabaseUrls } from './database-urls.ts'
import { withDatabaseOwner } from './environment.ts'

/** `gatehouse migrate`: the schema, the queue's schema, the roles and their rights. */
export default async function migrateCommand(env: Environment): Promise<void> {
  await withDatabaseOwner(env, async (whole) => {
    const { applied, createdRoles, ahead } = await migrate(readDatabaseUrls(whole))
    for (const name of applied) process.stdout.write(`applied ${name}\n`)
    for (const name of createdRoles) process.stdout.write(`created role ${name}\n`)
    if (ahead.length > 0) {
      process.stdout.write(
        `A newer release has applied ${ahead.join(', ')}; nothing was changed.\n`,
      )
    } else if (applied.length === 0) process.stdout.write('The database is up to date.\n')
  })
}
