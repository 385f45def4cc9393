import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { runNode } from './processes.ts'

const binary = fileURLToPath(new URL('../dist/gatehouse', import.meta.url))
const buildScript = fileURLToPath(new URL('../dev/release/binary.ts', import.meta.url))
const patienceMs = 20_000
const askAgainMs = 5

/** A started binary that has answered its first request. */
export type Running = {
  url: string
  /** From the start of the process to its first complete response. */
  seconds: number
  /** @returns megabytes; NaN except on Linux */
  memory(): Promise<Memory>
  stop(): Promise<void>
}

/** Resident memory; the highest so far; and what of it is not a part of the file. */
export type Memory = { resident: number; peak: number; own: number }

/** Builds the single binary and runs `work` with a copy of it, like an installed one. */
export async function withBinary<Result>(
  work: (installed: string) => Promise<Result>,
): Promise<Result> {
  await runNode(buildScript, ['--app', 'examples/shop'])
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-binary-'))
  try {
    const installed = join(folder, 'gatehouse')
    await copyFile(binary, installed)
    return await work(installed)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Runs `serve` with these settings, on a free port. */
export async function startBinary(
  installed: string,
  settings: Readonly<Record<string, string>>,
): Promise<Running> {
  const port = String(await findFreePort())
  const env = { ...settings, HOST: '127.0.0.1', PORT: port, ADMIN_PORT: '0' }
  const begun = performance.now()
  const child = spawn(installed, ['serve'], { env, stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  try {
    await answered(`${url}/`, begun)
  } catch (error) {
    await stop(child)
    throw error
  }
  const seconds = (performance.now() - begun) / 1_000
  return { url, seconds, memory: () => memoryOf(child), stop: () => stop(child) }
}

async function answered(url: string, begun: number): Promise<void> {
  while (performance.now() - begun < patienceMs) {
    const answer = await fetch(url).catch(() => null)
    if (answer !== null) return void (await answer.text())
    await setTimeout(askAgainMs)
  }
  throw new Error('The binary does not respond.')
}

async function memoryOf({ pid }: ChildProcess): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const read = (name: string) => {
    const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
    return (Number(kilobytes ?? Number.NaN) * 1024) / 1e6
  }
  return { resident: read('VmRSS'), peak: read('VmHWM'), own: read('RssAnon') }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
}
