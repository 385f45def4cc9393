import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Load } from './load.ts'
import type { Measured } from './measured.ts'

const run = promisify(execFile)
const maxBuffer = 16_777_216
const warmUp = { connections: 64, seconds: 2 }

export type Server = { url: string; pid: number; stop(): Promise<void> }

/** Starts a server script of this folder, which prints its address first. */
export async function startServer(
  file: string,
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<Server> {
  const child = spawn(process.execPath, [path(file), ...args], {
    env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended during its start`))),
  ])
  return { url: String(url), pid: Number(child.pid), stop: () => stop(child) }
}

/**
 * Runs the load against a new server and stops it.
 * @param around called with the load alone, without start, warm-up and stop
 */
export async function measureServer(
  server: Server,
  load: Omit<Load, 'url'>,
  around: (run: () => Promise<Measured>) => Promise<Measured> = (run) => run(),
): Promise<Measured> {
  const send = (changes: Partial<Load>) => runLoad({ ...load, url: server.url, ...changes })
  try {
    await send(warmUp) // compiles code, prepares statements, opens connections
    return await around(() => send({}))
  } finally {
    await server.stop()
  }
}

/** Runs the load in a process of its own. */
export async function runLoad(load: Load): Promise<Measured> {
  return JSON.parse(await runNode(path('./load.ts'), [JSON.stringify(load)]))
}

/** Runs a script; resolves to its output. */
export async function runNode(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { stdout } = await run(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    maxBuffer,
  })
  return stdout
}

/** Runs an installed program; null if it is not installed. */
export async function runProgram(
  file: string,
  args: readonly string[],
  cwd: string,
): Promise<string | null> {
  try {
    const { stdout } = await run(file, [...args], { maxBuffer, cwd })
    return stdout
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function path(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
