import { join } from 'node:path'
import pg from 'pg'
import { type EmbeddedPostgres, removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { forgetful } from '#dev/testing/forgetful.ts'
import { logins } from '#dev/testing/logins.ts'
import { startClusterOfRun } from '#test/schema/citus/cluster-run.ts'
import { prepareTemplate } from '#test/support/database/template.ts'

const settings = { ...forgetful, max_connections: '300' }

/** The database server of a run, and the variables by which tests find it. */
export type RunServer = { env: { TEST_POSTGRES_URL: string }; stop(): Promise<void> }

/**
 * Starts one PostgreSQL with the template of the test databases, or with TEST_CLUSTER a cluster.
 * @param folder for its data
 */
export async function startRunServer(folder: string): Promise<RunServer> {
  if (process.env.TEST_CLUSTER !== undefined) return startClusterOfRun()
  const dataDir = join(folder, 'postgres')
  const database = await startPostgres({ dataDir, settings })
  const stop = async () => {
    await database.stop()
    await removePostgres(dataDir)
  }
  try {
    await prepareTemplate(database.url('postgres'))
    await hashPasswordsOnce(database)
    return { env: { TEST_POSTGRES_URL: database.url('postgres') }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Stores the passwords of the tests' roles with one iteration of SCRAM instead of 4,096: a run opens
 * thousands of connections, and its client computes them for each.
 */
async function hashPasswordsOnce({ url, superuser, password }: EmbeddedPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: url('postgres') })
  await client.connect()
  try {
    for (const login of [{ name: superuser, password }, ...Object.values(logins)]) {
      const secret = pg.escapeLiteral(login.password)
      await client.query(`ALTER ROLE ${pg.escapeIdentifier(login.name)} PASSWORD ${secret}`)
    }
  } finally {
    await client.end()
  }
}
