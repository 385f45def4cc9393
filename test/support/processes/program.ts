import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { removePostgres } from '#dev/demo/postgres/start.ts'
import { withinMs } from '#test/support/database/until.ts'

const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
const cli = fileURLToPath(new URL('../../../dev/cli.ts', import.meta.url))

export type Program = {
  child: ChildProcess
  /** Standard output and standard error so far, combined and separately. */
  output(): string
  results(): string
  messages(): string
  /** Resolves with the first match in the output; rejects if the program ends before, or takes too long. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with the exit status once the program has ended. */
  ended: Promise<number | null>
}

/**
 * Runs the command line as a child process, in an empty folder unless `cwd` is given. The
 * environment is `env` and the variables needed to start programs. The child ends with the test.
 * @param options `entry`: the command line of another tree; `program`: the binary; `before`: a command
 *   that turns itself into the program, such as nsenter
 */
export async function runProgram(
  t: Pick<Test, 'teardown'>,
  args: readonly string[],
  env: Record<string, string>,
  options: {
    cwd?: string
    entry?: string
    program?: string
    before?: readonly [string, ...string[]]
  } = {},
): Promise<Program> {
  const cwd = options.cwd ?? (await temporaryFolder(t))
  const program = options.program ? [options.program] : [process.execPath, options.entry ?? cli]
  const [command = '', ...rest] = [...(options.before ?? []), ...program, ...args]
  const child = spawn(command, rest, {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const parts = { stdout: '', stderr: '' }
  const ended = once(child, 'close').then(([status]) => status as number | null)
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output += text
      parts[name] += text
      for (const listener of listeners) listener()
    })
  }
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const says = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`${what} ${pattern}:\n${output}`))
      const timer = setTimeout(fail, withinMs, 'did not print in time')
      const look = () => {
        const match = pattern.exec(output)
        if (match === null) return
        clearTimeout(timer)
        listeners.delete(look)
        resolve(match)
      }
      listeners.add(look)
      ended.then(() => {
        clearTimeout(timer)
        fail('ended without printing')
      })
      look()
    })
  const results = () => parts.stdout
  const messages = () => parts.stderr
  return { child, output: () => output, results, messages, says, ended }
}

/**
 * Runs a program that sends an event, and again while the server of a busy machine refuses it with 503, as
 * a provider sends again.
 * @returns the one that was not refused, once it has ended
 */
export async function sendEvent(run: () => Promise<Program>): Promise<Program> {
  for (const end = performance.now() + withinMs; ; ) {
    const program = await run()
    await program.ended
    if (!/: 503 |"status": ?503/.test(program.results()) || performance.now() > end) return program
  }
}

/** An empty folder, removed when the test ends, together with a database started from it. */
export async function temporaryFolder(t: Pick<Test, 'teardown'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-program-'))
  t.teardown(async () => {
    await removePostgres(join(folder, '.data/postgres')).catch(() => {})
    await rm(folder, { recursive: true, force: true })
  })
  return folder
}

/** Starts the demo in `cwd` on free ports; resolves to its address once it runs. */
export async function runDemo(
  t: Test,
  cwd?: string,
  settings: Record<string, string> = {},
): Promise<Program & { baseUrl: string }> {
  const env = { PORT: '0', ADMIN_PORT: '0', ...settings }
  const program = await runProgram(t, ['serve'], env, cwd === undefined ? {} : { cwd })
  const [, baseUrl = ''] = await program.says(/open (http:\S+) and sign in/)
  await program.says(/Ctrl-C stops everything/)
  return { ...program, baseUrl }
}

/** The addresses of the admin and the public listener, from the log. */
export async function addresses({ says }: Program): Promise<{ admin: string; address: string }> {
  const [, address = '', admin = ''] = await says(
    /"address":"(http:[^"]+)","adminAddress":"(http:[^"]+)","msg":"started"/,
  )
  return { admin, address }
}
