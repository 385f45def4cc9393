import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { chooseAccount } from '#dev/demo/postgres/os-account.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import type { MigrateUrls } from '#src/schema/migrate.ts'
import { query } from '#test/support/database/raw-sql.ts'

const run = promisify(execFile)

/**
 * The programs of a PostgreSQL that has Citus: `CITUS_BIN`, or one of Debian's; null if there is none, and
 * then the tests that need it are skipped. npm does not bring one along.
 */
const programs = findPrograms()
export const skipWithoutCluster =
  programs === null &&
  'no PostgreSQL with Citus on this machine (CITUS_BIN): npm does not bring one along'

function findPrograms(): string | null {
  if (process.env.CITUS_BIN) return process.env.CITUS_BIN
  const libraries = globSync('/usr/lib/postgresql/*/lib/citus.so').sort().reverse()
  const folders = libraries.map((library) => join(library, '../../bin'))
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null
}

export type Cluster = {
  /** The coordinator first. */
  servers: readonly Server[]
}

type Server = {
  port: number
  /** The superuser's URL of a database. */
  url(database: string): string
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops it at once, as a crash does. */
  crash(): Promise<void>
}

/** What the servers are for, a test or a benchmark: they end with it. */
type Owner = Pick<Test, 'teardown'>

/** A coordinator and two nodes on free ports, in a folder that goes with the test. */
export async function startCluster(t: Owner, settings = fast): Promise<Cluster> {
  const names = ['coordinator', 'one', 'two']
  return { servers: await startServers(t, names, `${common}${citus}${settings}`) }
}

/** A server of the same PostgreSQL without Citus. */
export async function startWithoutCitus(t: Owner, settings = fast): Promise<Server> {
  const [server] = await startServers(t, ['single'], `${common}${settings}`)
  if (server === undefined) throw new Error('There is no server.')
  return server
}

const common = `
  listen_addresses = '127.0.0.1'
  unix_socket_directories = ''
  max_connections = 200
  max_prepared_transactions = 200
  wal_level = logical
  track_activities = on
`
const citus = `
  shared_preload_libraries = 'citus'
  citus.node_conninfo = 'sslmode=disable'
`
const fast = `
  shared_buffers = 32MB
  fsync = off
`

async function startServers(
  t: Owner,
  names: readonly string[],
  settings: string,
): Promise<readonly Server[]> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-citus-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o777) // PostgreSQL refuses to run as root
  return Promise.all(names.map((name) => startServer(t, folder, name, settings)))
}

async function startServer(
  t: Owner,
  folder: string,
  name: string,
  settings: string,
): Promise<Server> {
  if (programs === null) throw new Error('There is no PostgreSQL with Citus on this machine.')
  const account = await chooseAccount(folder)
  const options = { cwd: folder, ...(account && { uid: account.uid, gid: account.gid }) }
  const data = join(folder, name)
  // The servers log in to each other; only loopback reaches them.
  const initdb = [
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  await run(join(programs, 'initdb'), [...initdb, `--pgdata=${data}`], options)
  const port = await findFreePort()
  await appendFile(join(data, 'postgresql.conf'), `${settings}\nport = ${port}\n`)
  const control = async (...args: string[]) => {
    await run(join(programs, 'pg_ctl'), [...args, '-w', '-D', data], options)
  }
  const start = () => control('start', '-l', join(folder, `${name}.log`))
  await start()
  t.teardown(() => control('stop', '-m', 'immediate').catch(() => {}))
  return {
    port,
    url: (database) => `postgresql://postgres@127.0.0.1:${port}/${database}`,
    start,
    stop: () => control('stop', '-m', 'fast'),
    crash: () => control('stop', '-m', 'immediate'),
  }
}

export type ClusterDatabase = MigrateUrls & {
  name: string
  /** A superuser's connections to the coordinator. */
  admin: pg.Pool
  /** The superuser's URLs of the same database on the nodes. */
  nodeUrls: readonly string[]
}

let databases = 0

/**
 * An empty database on every server, prepared as docs/growth.md says, without tables. The roles of
 * the programs are created by `migrate`; they belong to the whole cluster.
 */
export async function createClusterDatabase(
  t: Owner,
  cluster: Cluster,
  { prepared = true } = {},
): Promise<ClusterDatabase> {
  const name = `citus_${++databases}`
  const [coordinator, ...nodes] = cluster.servers
  if (coordinator === undefined) throw new Error('The cluster has no coordinator.')
  await createOnServers(cluster, name)
  const { ownerUrl, url, workerUrl } = urlsOf(coordinator.url('postgres'), name)
  const admin = new pg.Pool({ connectionString: coordinator.url(name), max: 2 })
  admin.on('error', () => {})
  t.teardown(() => admin.end())
  const database = {
    ...{ name, ownerUrl, url, workerUrl, admin },
    nodeUrls: nodes.map((node) => node.url(name)),
  }
  if (prepared) await prepareDatabase(cluster, database)
  return database
}

/** An empty database on every server, and its owner. */
export async function createOnServers({ servers }: Cluster, name: string): Promise<void> {
  for (const server of servers) {
    await query(
      server.url('postgres'),
      `DO $$ BEGIN CREATE ROLE ${logins.owner.name} LOGIN CREATEROLE;
       EXCEPTION WHEN duplicate_object THEN END $$`,
    )
    await query(server.url('postgres'), `CREATE DATABASE ${name} OWNER ${logins.owner.name}`)
  }
}

const assign = 'assign_distributed_transaction_id(integer, bigint, timestamptz)'
const reach = 'master_run_on_worker(text[], integer[], text[], boolean)'

/** What docs/growth.md asks an administrator to do. */
export async function prepareDatabase(
  { servers }: Cluster,
  { name }: Pick<ClusterDatabase, 'name'>,
): Promise<void> {
  const [coordinator, ...nodes] = servers
  if (coordinator === undefined) throw new Error('The cluster has no coordinator.')
  for (const server of servers) {
    await query(server.url('postgres'), `ALTER DATABASE ${name} SET citus.shard_count = 4`)
    await query(server.url(name), 'CREATE EXTENSION citus')
    await query(
      server.url(name),
      `SET citus.enable_ddl_propagation = off; REVOKE ALL ON FUNCTION ${reach} FROM PUBLIC`,
    )
  }
  for (const node of nodes) {
    await query(node.url('postgres'), `ALTER DATABASE ${name} SET track_activities = off`)
  }
  await query(
    coordinator.url(name),
    `SET citus.enable_ddl_propagation = off;
     REVOKE ALL ON FUNCTION ${assign} FROM PUBLIC;
     GRANT EXECUTE ON FUNCTION ${assign}, ${reach} TO ${logins.owner.name}`,
  )
  await query(
    coordinator.url(name),
    `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
  )
  for (const { port } of nodes) {
    await query(coordinator.url(name), `SELECT citus_add_node('127.0.0.1', ${port})`)
  }
}
