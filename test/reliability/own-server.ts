import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { isAlive } from '#dev/demo/postgres/lock-file.ts'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import { migrate } from '#src/schema/migrate.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'

const name = 'own'
const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

export type OwnServer = TestDatabase & {
  /** Stops the server as `pg_ctl stop -m` does, unless it has ended by itself. */
  stop(mode: keyof typeof signals): Promise<void>
  isRunning(): boolean
  /** Starts it again; its address stays the same. */
  start(): Promise<void>
}

/**
 * A database on a server of its own with synchronous commits, which can be stopped and started.
 * @param folder where its data is kept, for instance a small file system; temporary by default
 */
export async function startOwnServer(
  t: Pick<Test, 'teardown'>,
  options: {
    folder?: string
    settings?: Record<string, string>
    environment?: Record<string, string>
  } = {},
): Promise<OwnServer> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'gatehouse-own-server-')))
  await chmod(folder, 0o711) // for the account the server runs under when this is root
  const dataDir = join(folder, 'data')
  // Two programs of 83 connections each, and those of a program whose network was cut.
  const settings = { max_connections: '300', ...options.settings }
  const { environment = {} } = options
  let postgres = await startPostgres({ dataDir, settings, environment })
  t.teardown(async () => {
    await postgres.stop()
    await removePostgres(dataDir)
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
  })
  await createOwnerAndDatabase(postgres.url('postgres'), logins.owner, name)
  await migrate(urlsOf(postgres.url('postgres'), name))

  const proxy = await startProxy(t, postgres.url(name))
  const urls = urlsOf(proxy.through(postgres.url('postgres')), name)
  const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
  admin.on('error', () => {}) // the server is stopped under it
  t.teardown(() => admin.end())
  return {
    ...urls,
    admin,
    async stop(mode) {
      if (isAlive(postgres.pid)) process.kill(postgres.pid, signals[mode])
      await postgres.stop()
    },
    isRunning: () => isAlive(postgres.pid),
    async start() {
      postgres = await startPostgres({ dataDir, settings, environment })
      proxy.leadTo(postgres.url(name))
    },
  }
}
