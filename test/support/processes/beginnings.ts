import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { Test } from 'tap'
import { temporaryFolder } from './program.ts'

/** How a process began: with which of Node's options, and which arguments. */
export type Begun = { pid: number; flags: string[]; args: string[] }

/**
 * Runs a program that refuses to start, because in production nothing is started without settings.
 * @param command the program and its arguments
 * @param options `ipc`: as the child of another Node
 * @returns every beginning of it until it ends, and what it wrote about itself
 */
export async function beginningsOf(
  t: Test,
  command: readonly [program: string, ...args: string[]],
  options: { NODE_OPTIONS?: string; ipc?: true } = {},
) {
  const cwd = await temporaryFolder(t)
  const report = `${cwd}/report.cjs`
  await writeFile(
    report,
    `const { pid, execArgv: flags, argv } = process
    process.stderr.write('begun ' + JSON.stringify({ pid, flags, args: argv.slice(2) }) + '\\n')`,
  )
  const { NODE_OPTIONS = '', ipc = false } = options
  const [program, ...args] = command
  const child = spawn(program, args, {
    cwd,
    env: { NODE_ENV: 'production', NODE_OPTIONS: `--require=${report} ${NODE_OPTIONS}` },
    stdio: ['ignore', 'ignore', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
  })
  let messages = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    messages += text
  })
  const [status] = await once(child, 'close')
  const begun = [...messages.matchAll(/^begun (.*)$/gm)].map(
    ([, line = '']): Begun => JSON.parse(line),
  )
  return { pid: child.pid, status, begun, messages }
}
