import pg from 'pg'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import { migrate } from '#src/schema/migrate.ts'
import {
  createClusterDatabase,
  startCluster,
  startWithoutCitus,
} from '#test/schema/citus/cluster.ts'
import { watchCpu } from '../cpu-time.ts'

/** A migrated database on one PostgreSQL, or distributed over a coordinator and nodes. */
export type Contender = {
  name: string
  url: string
  superuserUrl: string
  /** One PostgreSQL, or the coordinator and then the nodes. */
  servers: readonly WatchedServer[]
}

type WatchedServer = {
  /** A superuser's connection to the database on this server. */
  admin: pg.Client
  usage(): Promise<Usage>
}

/** What a server has used so far, or for something. */
export type Usage = { cpuSeconds: number; walBytes: number }

// Default durability, and memory for what is measured.
const settings = `
  shared_buffers = 128MB
  max_wal_size = 8GB
`
const singleDatabase = 'gatehouse'

export const singleName = 'one PostgreSQL'
export const citusName = 'Citus'

/** Runs `work` with one PostgreSQL and a coordinator with two nodes, of the same version and settings. */
export async function withContenders(
  work: (contenders: readonly Contender[]) => Promise<void>,
): Promise<void> {
  const ends: (() => unknown)[] = []
  const owner = {
    teardown(end: () => unknown) {
      ends.unshift(end)
    },
  }
  try {
    const server = await startWithoutCitus(owner, settings)
    await createOwnerAndDatabase(server.url('postgres'), logins.owner, singleDatabase)
    const own = urlsOf(server.url('postgres'), singleDatabase)
    const single = await prepare(owner, singleName, own, [own.superuserUrl], false)

    const cluster = await startCluster(owner, settings)
    const database = await createClusterDatabase(owner, cluster)
    const urls = cluster.servers.map(({ url }) => url(database.name))
    for (const url of urls) {
      const reset = `ALTER DATABASE ${database.name} RESET citus.shard_count` // 32
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(reset)
      await client.end()
    }
    const citus = await prepare(owner, citusName, database, urls, true)
    await work([single, citus])
  } finally {
    for (const end of ends) await end()
  }
}

async function prepare(
  owner: { teardown(end: () => unknown): void },
  name: string,
  { ownerUrl, url }: { ownerUrl: string; url: string },
  superuserUrls: readonly string[],
  citus: boolean,
): Promise<Contender> {
  await migrate({ ownerUrl, url, workerUrl: url }, undefined, { distribute: citus })
  const servers = await Promise.all(superuserUrls.map((each) => watch(owner, each)))
  return { name, url, superuserUrl: superuserUrls[0] ?? '', servers }
}

async function watch(
  owner: { teardown(end: () => unknown): void },
  superuserUrl: string,
): Promise<WatchedServer> {
  const cpu = await watchCpu(superuserUrl)
  const admin = new pg.Client({ connectionString: superuserUrl })
  await admin.connect()
  owner.teardown(() => admin.end())
  return {
    admin,
    async usage() {
      const { rows } = await admin.query<{ bytes: string }>(
        `SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes`,
      )
      return { cpuSeconds: await cpu(), walBytes: Number(rows[0]?.bytes) }
    },
  }
}
