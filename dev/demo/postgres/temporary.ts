import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, removePostgres, startPostgres } from './start.ts'

/** A server in a temporary folder, both of which end with `stop`. */
export async function startTemporaryPostgres(
  settings: Record<string, string>,
): Promise<EmbeddedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-postgres-'))
  const dataDir = join(folder, 'postgres')
  const remove = async () => {
    await removePostgres(dataDir)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const postgres = await startPostgres({ dataDir, settings })
    return { ...postgres, stop: () => postgres.stop().then(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}
