import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { accessDocument, accessOverview } from '#src/access/overview.ts'
import { describeApi } from '#src/commands/development/openapi.ts'
import { documentedSettings, environmentExample, settingsTable } from '#src/config/documentation.ts'
import { metricsTable } from '#src/observability/metrics.ts'
import { migrate } from '#src/schema/migrate.ts'
import { contractDigest } from './contract.ts'
import { databaseDocument } from './database.ts'
import { exportsTable } from './exports.ts'

/*
 * `npm run generate`: writes what is generated from the code and reviewed in git, where a test fails if it
 * is out of date, and docs/database.md, which is not in git and needs a PostgreSQL.
 */

const settings = documentedSettings()
await writeFile(new URL('../../.env.example', import.meta.url), environmentExample(settings))

const access = new URL('../../docs/access.md', import.meta.url)
await mkdir(new URL('.', access), { recursive: true })
await writeFile(access, accessDocument(accessOverview()))

const contract = new URL('../../docs/contract.txt', import.meta.url)
await writeFile(contract, contractDigest(await describeApi({})))

await writeFile(
  new URL('../../docs/database.md', import.meta.url),
  await withMigratedDatabase(databaseDocument),
)

await writeTable('../../docs/exports.md', 'exports', await exportsTable())
await writeTable('../../docs/settings.md', 'settings', settingsTable(settings))
await writeTable('../../docs/observability.md', 'metrics', await metricsTable())

/** Replaces the text between the two marks of the document. */
async function writeTable(path: string, mark: string, table: string): Promise<void> {
  const document = new URL(path, import.meta.url)
  const marks = new RegExp(`(<!-- ${mark}: generated -->\\n)[\\s\\S]*(<!-- ${mark}: end -->)`)
  const text = await readFile(document, 'utf8')
  await writeFile(
    document,
    text.replace(marks, (_all, start, end) => `${start}${table}${end}`),
  )
}

/** Runs `describe` on a database that this program has migrated, and that is gone afterwards. */
async function withMigratedDatabase(describe: typeof databaseDocument): Promise<string> {
  const { createOwnerAndDatabase } = await import('#dev/demo/demo.ts')
  const { removePostgres, startPostgres } = await import('#dev/demo/postgres/start.ts')
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-generate-'))
  const postgres = await startPostgres({ dataDir, settings: { fsync: 'off' } })
  const roles = { web: 'web', worker: 'worker' }
  try {
    const owner = { name: 'owner', password: 'owner' }
    await createOwnerAndDatabase(postgres.url('postgres'), owner, 'gatehouse')
    const as = (name: string) => postgres.url('gatehouse', { name, password: name })
    const urls = { ownerUrl: as('owner'), url: as(roles.web), workerUrl: as(roles.worker) }
    await migrate(urls)
    const client = new pg.Client({ connectionString: urls.ownerUrl })
    await client.connect()
    return await describe(client, roles).finally(() => client.end())
  } finally {
    await postgres.stop()
    await removePostgres(dataDir)
  }
}
