import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import { migrate } from '#src/schema/migrate.ts'
import { createDistributedDatabase } from '#test/schema/citus/distributed-database.ts'
import { endPreparedSoon } from '#test/schema/citus/sql.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import { untilTrue } from '#test/support/database/until.ts'

const name = 'durable'

/** A database on its own server, or cluster, with synchronous commits, as in production. */
export async function startDurableDatabase(t: Test): Promise<TestDatabase> {
  return isOnCluster() ? startDurableCluster(t) : startDurableServer(t)
}

async function startDurableCluster(t: Test): Promise<TestDatabase> {
  const { database } = await createDistributedDatabase(t)
  // What a crash has left is ended at once; the default is a minute.
  await database.admin.query(endPreparedSoon)
  await database.admin.query('SELECT pg_reload_conf()')
  return database
}

async function startDurableServer(t: Test): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-durable-'))
  await chmod(folder, 0o711) // for the account the server runs under when this is root
  const dataDir = join(folder, 'data')
  const postgres = await startPostgres({ dataDir, settings: { max_connections: '50' } })
  const clusterUrl = postgres.url('postgres')
  const urls = urlsOf(clusterUrl, name)
  const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
  admin.on('error', () => {}) // the server is killed under it
  t.teardown(async () => {
    await admin.end()
    await postgres.stop()
    await removePostgres(dataDir)
    await rm(folder, { recursive: true })
  })
  await createOwnerAndDatabase(clusterUrl, logins.owner, name)
  await migrate(urls)
  return { ...urls, admin }
}

/**
 * `kill -9` of one process of the server, which then ends all the others and recovers from its WAL.
 * Resolves after the recovery.
 */
export async function crashServer(admin: pg.Pool): Promise<void> {
  const killed = await checkpointerOf(admin)
  process.kill(killed, 'SIGKILL')
  await untilTrue(async () => (await checkpointerOf(admin).catch(() => killed)) !== killed)
}

async function checkpointerOf(admin: pg.Pool): Promise<number> {
  const { rows } = await admin.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the server is still recovering')
  return row.pid
}
