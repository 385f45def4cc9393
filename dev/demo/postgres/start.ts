import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { copyCluster, createCluster, readPassword, superuser } from './cluster.ts'
import {
  findBinaries,
  type Place,
  prepareDataDirectory,
  removeDataDirectory,
} from './data-directory.ts'
import { findFreePort } from './free-port.ts'
import { awaitVacancy } from './lock-file.ts'
import { chooseAccount } from './os-account.ts'
import { runServer, type ServerProcess } from './process.ts'

export type EmbeddedPostgres = {
  host: '127.0.0.1'
  port: number
  superuser: string
  password: string
  pid: number
  /** A connection URL, by default for the superuser. */
  url(database: string, user?: { name: string; password: string }): string
  /** Fast shutdown; resolves when the server has stopped. Can be called repeatedly. */
  stop(): Promise<void>
}

export type StartOptions = {
  dataDir: string
  /** PostgreSQL configuration parameters by name. */
  settings?: Record<string, string>
  /** Environment variables of the server, besides its own. */
  environment?: Record<string, string>
  /** The `dataDir` of a stopped server, whose data a new one begins with. */
  copyOf?: string | undefined
  /** Gets each line of the server's log. */
  onLog?: (line: string) => void
}

const host = '127.0.0.1'
const vacancyDeadlineMs = 5_000 // the server of a killed predecessor stops sooner
const portAttempts = 3

/**
 * Starts a PostgreSQL from npm's binaries on 127.0.0.1 and a free port. Its data is in `dataDir`,
 * which the first start creates. Also works as root. The server stops with `stop()` and when this
 * process ends for any reason.
 *
 * @throws with one line that names a remedy or ends with the server's log
 */
export async function startPostgres(options: StartOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir)
  const binaries = await findBinaries()
  const place = await prepareDataDirectory(dataDir, binaries, await chooseAccount(dataDir))
  const cluster = join(place.folder, 'cluster')
  if (!existsSync(cluster)) {
    await (options.copyOf === undefined ? createCluster(place) : copyCluster(options.copyOf, place))
  }
  await awaitVacancy(cluster, vacancyDeadlineMs)
  const password = await readPassword(place)
  const { port, pid, stop } = await listen(cluster, place, options)
  const url = (database: string, user = { name: superuser, password }) => {
    const credentials = `${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}`
    return `postgres://${credentials}@${host}:${port}/${encodeURIComponent(database)}`
  }
  return { host, port, superuser, password, pid, url, stop }
}

/** Removes a stopped cluster, also behind a link. */
export async function removePostgres(dataDir: string): Promise<void> {
  await removeDataDirectory(resolve(dataDir))
}

/** Retries if another process takes the port first. */
async function listen(
  cluster: string,
  { binaries, account }: Place,
  { settings, environment, onLog }: StartOptions,
): Promise<ServerProcess & { port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort()
    const all = { ...settings, listen_addresses: host, port, unix_socket_directories: '' }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const file = join(binaries, 'bin/postgres')
    try {
      return {
        port,
        ...(await runServer({
          file,
          args: ['-D', cluster, ...flags],
          cwd: cluster,
          account,
          environment,
          onLog,
        })),
      }
    } catch (error) {
      const isTaken = error instanceof Error && error.message.includes('could not bind')
      if (!isTaken || attempt === portAttempts) throw error
    }
  }
}
