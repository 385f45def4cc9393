import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { logins } from '#dev/testing/logins.ts'
import { findProgram } from '#test/support/processes/find-program.ts'

/** Where the machine has PgBouncer; null where it has none, for npm does not bring one along. */
export const pgbouncer = findProgram('pgbouncer')

export type Pooler = {
  /** The given connection URL, led through the pooler; `marked` as the program wants it. */
  through(url: string, options?: { marked: boolean }): string
  /** `kill -9`, and a new process. */
  restart(): Promise<void>
}

/**
 * A real PgBouncer in transaction mode in front of PostgreSQL, as docs/deployment/pgbouncer.ini has it; gone
 * with the test.
 * @param serverConnections to PostgreSQL at most, for each database and role
 */
export async function startPgbouncer(
  t: Pick<Test, 'teardown'>,
  databaseUrl: string,
  serverConnections: number,
): Promise<Pooler> {
  if (pgbouncer === null) throw new Error('There is no pgbouncer on this machine.')
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-pgbouncer-'))
  // It does not run as root, and its own account has to reach the files.
  await chmod(folder, 0o755)
  const port = await findFreePort()
  const users = [logins.app, logins.worker].map(({ name, password }) => `"${name}" "${password}"\n`)
  await writeFile(join(folder, 'users.txt'), users.join(''))
  const { hostname, port: databasePort } = new URL(databaseUrl)
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${databasePort}`,
    '[pgbouncer]',
    'pool_mode = transaction',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(folder, 'users.txt')}`,
    `default_pool_size = ${serverConnections}`,
    'max_client_conn = 500',
    'server_login_retry = 1',
    'server_connect_timeout = 3',
  ]
  await writeFile(join(folder, 'pgbouncer.ini'), settings.join('\n'))
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const program = pgbouncer
  const start = async () => {
    const child = spawn(program, [...account, join(folder, 'pgbouncer.ini')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(child, 'close')
    await isUp(child.stderr)
    return async () => {
      child.kill('SIGKILL')
      await ended
    }
  }
  let kill = await start()
  t.teardown(async () => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    async restart() {
      await kill()
      kill = await start()
    },
    through(url, { marked } = { marked: true }) {
      const led = new URL(url)
      led.host = `127.0.0.1:${port}`
      if (marked) led.searchParams.set('pgbouncer', 'true')
      return led.href
    },
  }
}

async function isUp(log: NodeJS.ReadableStream): Promise<void> {
  const said: string[] = []
  const lines = createInterface({ input: log })
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      said.push(line)
      if (line.includes('process up')) resolve()
    })
    lines.on('close', () => reject(new Error(`pgbouncer did not start:\n${said.join('\n')}`)))
  })
}
