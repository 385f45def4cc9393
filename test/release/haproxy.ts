import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { untilTrue } from '#test/support/database/until.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { type Program, runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/** Where the machine has HAProxy; null where it has none, for npm does not bring one along. */
export const haproxy = findProgram('haproxy')

type Server = { host: string; port: number; checkPort: number }

/**
 * docs/deployment/haproxy.cfg with other addresses: without TLS on `port`, in front of the given web
 * processes, and on `postgres.port` in front of the database servers.
 */
export async function haproxySettings(
  port: number,
  webs: readonly Server[],
  postgres: { port: number; servers: readonly Server[] },
): Promise<string> {
  const file = new URL('../../docs/deployment/haproxy.cfg', import.meta.url)
  const replaced: [string, string][] = [
    ['bind :443 ssl crt /etc/haproxy/front.pem', `bind 127.0.0.1:${port}`],
    ['bind 127.0.0.1:5400', `bind 127.0.0.1:${postgres.port}`],
    ...['10.0.0.11:3000 check port 9464', '10.0.0.12:3000 check port 9464'].map(
      (text, index) => [text, addressOf(webs[index])] as [string, string],
    ),
    ...['10.0.0.21:5432', '10.0.0.22:5432'].map(
      (text, index) =>
        [
          `${text} maxconn 150 check port 8008`,
          addressOf(postgres.servers[index]).replace(' check', ' maxconn 150 check'),
        ] as [string, string],
    ),
  ]
  let settings = await readFile(file, 'utf8')
  for (const [text, instead] of replaced) {
    if (!settings.includes(text)) throw new Error(`haproxy.cfg has no “${text}”`)
    settings = settings.replace(text, instead)
  }
  return settings
}

function addressOf(server: Server | undefined): string {
  // Nothing listens on this port.
  const { host, port, checkPort } = server ?? { host: '127.0.0.1', port: 9, checkPort: 9 }
  return `${host}:${port} check port ${checkPort}`
}

/** A real HAProxy with these settings; gone with the test. Resolves when it listens on the port. */
export async function startHaproxy(
  t: Pick<Test, 'teardown'>,
  settings: string,
  port: number,
): Promise<Program> {
  if (haproxy === null) throw new Error('There is no haproxy on this machine.')
  const file = join(await temporaryFolder(t), 'haproxy.cfg')
  await writeFile(file, settings)
  const program = await runProgram(t, ['-db', '-f', file], {}, { program: haproxy })
  await Promise.race([
    untilListening(port),
    program.ended.then(() => {
      throw new Error(`haproxy has ended:\n${program.output()}`)
    }),
  ])
  return program
}

async function untilListening(port: number): Promise<void> {
  await untilTrue(async () => {
    const socket = connect(port, '127.0.0.1')
    const listens = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    return listens
  })
}
