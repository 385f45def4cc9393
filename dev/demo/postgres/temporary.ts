import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, removePostgres, startPostgres } from './start.ts'

/**
 * A server in a temporary folder, both of which end with `stop`.
 * @param copyOf the data directory of a stopped server; by default the new one is empty
 */
export async function startTemporaryPostgres(
  settings: Record<string, string>,
  copyOf?: string,
): Promise<EmbeddedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-postgres-'))
  const dataDir = join(folder, 'postgres')
  const remove = async () => {
    await removePostgres(dataDir)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const postgres = await startPostgres({ dataDir, settings, copyOf })
    return { ...postgres, stop: () => postgres.stop().then(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}
