import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

/** The variable by which a process belongs to this run, also one with a group of its own. */
export const ownRun = { TEST_RUN: randomUUID() } as const

const stopMs = 15_000 // a program under test stops within ten seconds
const lookMs = 100

/**
 * Ends the processes of an interrupted run: the members of the process group, which have received the
 * signal already, and on Linux also those elsewhere with the environment of the run, such as a database
 * that has become a daemon. Kills those that do not end in time.
 * @returns what had to be killed, by name
 */
export async function endLeftovers(group: number): Promise<string[]> {
  for (const { pid } of await leftovers()) signalTo(pid, 'SIGTERM')
  const end = performance.now() + stopMs
  while (performance.now() < end) {
    if ((await leftovers()).length === 0 && !signalTo(-group, 0)) return []
    await pause(lookMs)
  }
  const left = await leftovers()
  for (const { pid } of left) signalTo(pid, 'SIGKILL')
  const isGroupAlive = signalTo(-group, 'SIGKILL')
  return [...left.map(({ name }) => name), ...(isGroupAlive ? ['programs of tests'] : [])]
}

/** @returns whether there was anything to send it to */
function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

async function leftovers(): Promise<{ pid: number; name: string }[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const found = await Promise.all(
    pids.map(async (pid) => {
      // Empty for one that has ended; unreadable for another account's.
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      if (!environment.split('\0').includes(`TEST_RUN=${ownRun.TEST_RUN}`)) return []
      const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'a process')
      return [{ pid: Number(pid), name: command.trim() }]
    }),
  )
  return found.flat()
}
