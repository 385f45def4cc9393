import type { Environment } from '#src/config/parse.ts'
import { migrate } from '#src/schema/migrate.ts'
import { readDatabaseUrls } from './database-urls.ts'
import { withDatabaseOwner } from './environment.ts'
import { print, printJson } from './output.ts'

type Options = { readonly json: boolean }

/** `gatehouse migrate`: the schema, the queue's schema, the roles and their rights. */
export default async function migrateCommand(env: Environment, { json }: Options): Promise<void> {
  await withDatabaseOwner(env, async (whole) => {
    const { applied, createdRoles, ahead } = await migrate(readDatabaseUrls(whole))
    if (json) return printJson({ applied, createdRoles, ahead })
    for (const name of applied) print(`applied ${name}`)
    for (const name of createdRoles) print(`created role ${name}`)
    if (ahead.length > 0) {
      print(`A newer release has applied ${ahead.join(', ')}; nothing was changed.`)
    } else if (applied.length === 0) print('The database is up to date.')
  })
}
