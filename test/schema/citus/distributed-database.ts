import pg from 'pg'
import type { Test } from 'tap'
import { migrate } from '#src/schema/migrate.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { type Cluster, createClusterDatabase, startCluster } from './cluster.ts'

export type DistributedDatabase = {
  cluster: Cluster
  database: TestDatabase
  /** A superuser's connections to each server: the coordinator, then the nodes. */
  servers: readonly Pick<TestDatabase, 'admin'>[]
}

/** A cluster with a migrated, distributed database; gone with the test. */
export async function createDistributedDatabase(t: Test): Promise<DistributedDatabase> {
  const cluster = await startCluster(t)
  const own = await createClusterDatabase(t, cluster)
  await migrate(own, undefined, { distribute: true })
  const servers = cluster.servers.map(({ url }) => {
    const admin = new pg.Pool({ connectionString: url(own.name), max: 4 })
    admin.on('error', () => {}) // when the server crashes
    t.teardown(() => admin.end())
    return { admin }
  })
  const superuserUrl = cluster.servers[0]?.url(own.name) ?? ''
  const nodes = servers.slice(1).map(({ admin }) => admin)
  return { cluster, database: { ...own, superuserUrl, nodes }, servers }
}
