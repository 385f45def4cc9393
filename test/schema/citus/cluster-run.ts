import { logins, urlsOf } from '#dev/testing/logins.ts'
import { migrate } from '#src/schema/migrate.ts'
import { oneOfEachKind } from '#test/access/matrix/one-of-each-kind.ts'
import { query } from '#test/support/database/raw-sql.ts'
import { templateName } from '#test/support/database/template.ts'
import { createOnServers, prepareDatabase, startCluster } from './cluster.ts'

/** What a run, or a test file, with its own cluster needs. */
export type ClusterOfRun = {
  /** Variables from which `createDatabase` knows the servers. */
  env: { TEST_POSTGRES_URL: string; TEST_NODES: string; MATRIX_ACTORS: string }
  stop(): Promise<void>
}

/** The data is thrown away. Each database in use has a maintenance daemon of Citus. */
const settings = `
  max_connections = 500
  max_prepared_transactions = 500
  max_worker_processes = 200
  shared_buffers = 128MB
  max_wal_size = 256MB
  fsync = off
  synchronous_commit = off
  full_page_writes = off
  # What a killed process leaves prepared is ended soon. The default is a minute.
  citus.recover_2pc_interval = '1s'
`

/**
 * A Citus cluster with the migrated, distributed, empty database that all test databases are copied
 * from: a copy on every server under the same name is a distributed database again, because Citus knows
 * its nodes by host and port, and connects to the database of the same name there.
 */
export async function startClusterOfRun(): Promise<ClusterOfRun> {
  const ends: (() => unknown)[] = []
  const stop = async () => {
    for (const end of ends.toReversed()) await end()
  }
  try {
    const cluster = await startCluster({ teardown: (end) => ends.push(end) }, settings)
    await createOnServers(cluster, templateName)
    await prepareDatabase(cluster, { name: templateName })
    const [coordinator = '', ...nodes] = cluster.servers.map(({ url }) => url('postgres'))
    await migrate(urlsOf(coordinator, templateName), undefined, { distribute: true })
    // As `build` says to the coordinator: tests hold locks for longer than a request waits for them.
    await query(coordinator, `ALTER ROLE ${logins.app.name} SET lock_timeout = '2s'`)
    await Promise.all(nodes.map(hideStatements))
    await Promise.all([coordinator, ...nodes].map(closeTemplate))
    const { MATRIX_ACTORS = oneOfEachKind } = process.env
    const servers = { TEST_POSTGRES_URL: coordinator, TEST_NODES: nodes.join(' ') }
    return { env: { ...servers, MATRIX_ACTORS }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** For the whole server, because settings of a database are not copied with it. */
async function hideStatements(url: string): Promise<void> {
  await query(url, 'ALTER SYSTEM SET track_activities = off')
  await query(url, 'SELECT pg_reload_conf()')
}

/** A database that is connected to cannot be copied, and Citus's daemon connects to it. */
async function closeTemplate(url: string): Promise<void> {
  await query(url, `ALTER DATABASE ${templateName} ALLOW_CONNECTIONS false`)
  await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${templateName}'`,
  )
}
