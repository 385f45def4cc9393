import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const maxBuffer = 16_777_216

export type Server = { url: string; stop(): Promise<void> }

/** Starts a server of this folder; its first line of output is its address. */
export async function startServer(file: string, env: Record<string, string>): Promise<Server> {
  const child = spawn(process.execPath, [path(file)], {
    env: { PATH: process.env.PATH ?? '', NODE_ENV: 'development', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended at its start`))),
  ])
  return { url: String(url), stop: () => stop(child) }
}

/** Runs a script of this folder to its end; resolves to its output. */
export async function runScript(file: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [path(file), ...args], { maxBuffer })
  return stdout
}

/** Runs an installed program; null when there is none of that name. */
export async function runProgram(file: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await run(file, [...args], { maxBuffer })
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
