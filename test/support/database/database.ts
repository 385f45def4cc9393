import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Test } from 'tap'
import { logins, type Urls, urlsOf } from '#dev/testing/logins.ts'
import { OneAtATimePool } from './one-at-a-time.ts'
import { isOnCluster, serverUrls, templateName } from './template.ts'

export type TestDatabase = Urls & {
  /** A superuser's connection, to which row-level security does not apply. */
  admin: pg.Pool
  /** The same on each node of a cluster. */
  nodes?: readonly pg.Pool[]
}

/** A database for one test, copied from the migrated template and dropped when the test ends. */
export async function createDatabase(t: Test): Promise<TestDatabase> {
  const [clusterUrl, ...nodeUrls] = serverUrls()
  if (clusterUrl === undefined) throw new Error('Run tests with: npm test -- test/….test.ts')
  const servers = [clusterUrl, ...nodeUrls]
  const name = `test_${randomBytes(6).toString('hex')}`
  // FILE_COPY is faster than WAL_LOG; test databases need not survive a crash.
  const create = `CREATE DATABASE ${name} TEMPLATE ${templateName} STRATEGY FILE_COPY`
  await Promise.all(servers.map((url) => clusterOf(url).query(create)))
  const urls = urlsOf(clusterUrl, name)
  const [admin, ...nodes] = servers.map((url) => openAdmin(urlsOf(url, name).superuserUrl))
  if (admin === undefined) throw new Error('There is no server.')
  t.teardown(async () => {
    await Promise.all([admin, ...nodes].map((pool) => pool.end()))
    for (const url of servers) await dropDatabase(clusterOf(url), name)
  })
  return { ...urls, admin, nodes }
}

/** A database whose owner may create tables, on every server of a cluster, as `migrate` needs. */
export async function createOwnedDatabase(t: Test): Promise<TestDatabase> {
  const database = await createDatabase(t)
  const name = new URL(database.url).pathname.slice(1)
  for (const admin of [database.admin, ...(database.nodes ?? [])]) {
    await admin.query(`ALTER DATABASE ${name} OWNER TO ${logins.owner.name}`)
  }
  return database
}

/** A database that no `migrate` has seen. */
export async function createUnmigratedDatabase(t: Test): Promise<TestDatabase> {
  const database = await createOwnedDatabase(t)
  await database.admin.query(
    `DROP SCHEMA public CASCADE; DROP SCHEMA pgboss CASCADE; CREATE SCHEMA public;
     GRANT ALL ON SCHEMA public TO ${logins.owner.name}; GRANT USAGE ON SCHEMA public TO PUBLIC`,
  )
  return database
}

function openAdmin(connectionString: string): pg.Pool {
  const Pool = isOnCluster() ? OneAtATimePool : pg.Pool
  const admin = new Pool({ connectionString, max: 4 })
  // Some tests, and the DROP below, terminate backends.
  admin.on('error', () => {})
  return admin
}

const closingLooks = 20
const closingPauseMs = 10

/**
 * The driver's pools end before their connections have closed. Ending those by force would be an error
 * that nobody listens to any more, so they get a moment; what a test has left open is ended then.
 */
async function dropDatabase(cluster: pg.Pool, name: string): Promise<void> {
  for (let look = 0; look < closingLooks; look++) {
    const open = await cluster.query(
      `SELECT FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
      [name],
    )
    if (open.rowCount === 0) break
    await pause(closingPauseMs)
  }
  for (let drop = 1; ; drop++) {
    try {
      await cluster.query(`DROP DATABASE ${name} WITH (FORCE)`)
      return
    } catch (error) {
      if (drop === mostDrops || !(error instanceof Error && 'code' in error)) throw error
      if (error.code !== inUse) throw error
    }
  }
}

/** Each waits five seconds for the backends that it ends, which is too short on a busy machine. */
const mostDrops = 6
const inUse = '55006'

const clusters = new Map<string, pg.Pool>()

/**
 * The superuser's connections of this process to a server, with which it creates and drops databases:
 * opening two for each database takes longer than its copy. They end with the process.
 */
function clusterOf(url: string): pg.Pool {
  const known = clusters.get(url)
  if (known !== undefined) return known
  const cluster = new pg.Pool({
    connectionString: url,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
  cluster.on('error', () => {}) // the server of a run stops before the process has ended
  clusters.set(url, cluster)
  return cluster
}
