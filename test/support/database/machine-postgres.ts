import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { chooseAccount } from '#dev/demo/postgres/os-account.ts'
import { findProgram } from '#test/support/processes/find-program.ts'

const run = promisify(execFile)

/**
 * The folder of a complete PostgreSQL of this machine, with its clients (pg_dump, psql); null if there
 * is none. The one that npm installs has no clients.
 */
export const postgresPrograms = findPrograms()

function findPrograms(): string | null {
  // Debian keeps them out of PATH. Server and clients are of one version.
  const folders = globSync('/usr/lib/postgresql/*/bin').sort().reverse()
  const inPath = findProgram('initdb')
  const all = inPath === null ? folders : [dirname(inPath), ...folders]
  const needed = ['initdb', 'pg_ctl', 'pg_dump', 'pg_dumpall', 'pg_restore', 'psql']
  return all.find((folder) => needed.every((name) => findIn(folder, name))) ?? null
}

function findIn(folder: string, name: string): boolean {
  return globSync(join(folder, name)).length > 0
}

/**
 * Starts an empty server of this machine's PostgreSQL; gone with the test.
 * @returns the superuser's URL of a database
 */
export async function startMachinePostgres(t: Test): Promise<(database: string) => string> {
  if (postgresPrograms === null) throw new Error('There is no PostgreSQL on this machine.')
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-machine-postgres-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o777) // PostgreSQL refuses to run as root
  const account = await chooseAccount(folder)
  const options = { cwd: folder, ...(account && { uid: account.uid, gid: account.gid }) }
  const password = crypto.randomUUID()
  await writeFile(join(folder, 'password'), password, { mode: 0o644 })
  const data = join(folder, 'data')
  await run(
    join(postgresPrograms, 'initdb'),
    [
      ...['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`],
      ...['--encoding=UTF8', '--locale=C', '--no-sync', `--pgdata=${data}`],
    ],
    options,
  )
  const port = await findFreePort()
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`
  const control = (...args: string[]) =>
    run(join(postgresPrograms ?? '', 'pg_ctl'), [...args, '-w', '-D', data], options)
  await control('start', '-o', settings, '-l', join(folder, 'log'))
  t.teardown(() => control('stop', '-m', 'immediate'))
  return (database) => `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`
}
