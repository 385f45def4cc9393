import type { Environment } from '#src/setting-readers.ts'
import { seed } from '../../prisma/seed.ts'
import { readDatabaseUrls } from './database-urls.ts'
import { withDatabaseOwner } from './environment.ts'

/** `gatehouse seed`: the demo's people and their data. */
export default async function seedCommand(env: Environment): Promise<void> {
  await withDatabaseOwner(env, async (whole) => {
    const seeded = await seed(readDatabaseUrls(whole).ownerUrl, whole.OIDC_DEMO_ISSUER ?? 'demo')
    process.stdout.write(seeded ? 'Seeded.\n' : 'The data is there already.\n')
  })
}
