import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findProgram } from '#test/support/processes/find-program.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/** Where the machine has Caddy; null where it has none, for npm does not bring one along. */
export const caddy = findProgram('caddy')

/** A real Caddy with this configuration; gone with the test. Resolves when it serves. */
export async function startCaddy(t: Test, caddyfile: string): Promise<void> {
  if (caddy === null) throw new Error('There is no caddy on this machine.')
  const folder = await temporaryFolder(t)
  const file = join(folder, 'Caddyfile')
  await writeFile(file, `{\n  admin off\n  auto_https off\n}\n${caddyfile}`)
  const state = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const args = ['run', '--adapter', 'caddyfile', '--config', file]
  const program = await runProgram(t, args, state, { program: caddy })
  await program.says(/serving initial configuration/)
}
