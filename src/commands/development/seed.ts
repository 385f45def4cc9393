import type { Environment } from '#src/config/parse.ts'
import { readDatabaseUrls } from '../database/migrate.ts'
import { loadDevelopment } from '../kit/development.ts'
import { withDatabaseOwner } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'

type Options = { readonly json?: true }

/** `gatehouse seed`: the demo's people and their data. */
export default async function seedCommand(env: Environment, { json }: Options): Promise<void> {
  const { seed } = await loadDevelopment()
  await withDatabaseOwner(env, async (whole) => {
    const seeded = await seed(readDatabaseUrls(whole).ownerUrl, whole.OIDC_DEMO_ISSUER ?? 'demo')
    if (json) printJson({ seeded })
    else print(seeded ? 'Seeded.' : 'The data exists already.')
  })
}
