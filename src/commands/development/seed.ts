import type { Environment } from '#src/config/parse.ts'
import { readDatabaseUrls } from '../database/migrate.ts'
import { withDatabaseOwner } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'
import { seed } from './sample/seed.ts'

type Options = { readonly json?: true }

/** `gatehouse seed`: the demo's people and their data. */
export default async function seedCommand(env: Environment, { json }: Options): Promise<void> {
  await withDatabaseOwner(env, async (whole) => {
    const seeded = await seed(readDatabaseUrls(whole).ownerUrl, whole.OIDC_DEMO_ISSUER ?? 'demo')
    if (json) printJson({ seeded })
    else print(seeded ? 'Seeded.' : 'The data exists already.')
  })
}
