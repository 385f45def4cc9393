import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { logins, type Urls, urlsOf } from '#dev/testing/logins.ts'
import { migrate } from '#src/schema/migrate.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { calmSuperuser } from '#test/support/database/hostile-settings.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { untilTrue } from '#test/support/database/until.ts'

const name = 'pair'
const run = promisify(execFile)

/**
 * A primary and a synchronous standby, behind one address that leads to the current primary. `admin`
 * connects to it.
 * @param settings of both servers
 */
export async function startPair(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestDatabase & { standby: Urls; failOver(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-pair-'))
  await chmod(folder, 0o711) // for the account the servers run under when this is root
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  t.teardown(async () => {
    for (const dataDir of [first, second]) await removePostgres(dataDir)
    await rm(folder, { recursive: true, force: true })
  })

  const seed = await startPostgres({ dataDir: first })
  await createOwnerAndDatabase(seed.url('postgres'), logins.owner, name)
  await calmSuperuser(seed.url('postgres'))
  await seed.stop()
  await run('cp', ['-a', first, second])
  await makeStandby(join(second, 'cluster'))

  const primary = await startPostgres({ dataDir: first, settings })
  t.teardown(() => primary.stop())
  const { host, port, superuser, password } = primary
  const source = `host=${host} port=${port} user=${superuser} password=${password}`
  const standby = await startPostgres({
    dataDir: second,
    settings: { ...settings, primary_conninfo: source },
  })
  t.teardown(() => standby.stop())
  await migrate(urlsOf(primary.url('postgres'), name))
  await onServer(primary.url('postgres'), async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
    await client.query('SELECT pg_reload_conf()')
    const isSynchronous = `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`
    await untilTrue(async () => (await client.query(isSynchronous)).rowCount !== 0)
  })

  const proxy = await startProxy(t, primary.url(name))
  const urls = urlsOf(proxy.through(primary.url('postgres')), name)
  const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
  admin.on('error', () => {}) // the server is killed under it
  t.teardown(() => admin.end())
  return {
    ...urls,
    admin,
    standby: urlsOf(standby.url('postgres'), name),
    /** `kill -9` of the primary; resolves once the standby is promoted. */
    async failOver() {
      process.kill(primary.pid, 'SIGKILL')
      proxy.pause()
      await onServer(standby.url('postgres'), async (client) => {
        // A copy of the primary, so it has the same password, but no standby to wait for.
        await client.query('SELECT pg_promote()')
      })
      proxy.leadTo(standby.url(name))
      proxy.resume()
    },
  }
}

/** An empty `standby.signal` makes the server a standby. */
async function makeStandby(cluster: string): Promise<void> {
  const signal = join(cluster, 'standby.signal')
  await copyFile('/dev/null', signal)
  const { uid, gid } = await stat(cluster)
  await chown(signal, uid, gid)
}

async function onServer(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await work(client).finally(() => client.end())
}
