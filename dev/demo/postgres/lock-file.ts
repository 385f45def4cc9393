import { spawnSync } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { OperatorError } from '#src/runtime/operator-error.ts'

const pollMs = 50

/** The process id of the server that runs on this cluster, if any. */
export async function findServer(cluster: string): Promise<number | undefined> {
  const pid = await readLock(cluster)
  return pid !== undefined && isAlive(pid) && (await isServer(pid)) ? pid : undefined
}

/** Whether a process with this id exists, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/**
 * Waits until the server of a killed predecessor has stopped.
 *
 * @throws if it still runs after `deadlineMs`
 */
export async function awaitVacancy(cluster: string, deadlineMs: number): Promise<void> {
  const end = performance.now() + deadlineMs
  for (;;) {
    const pid = await findServer(cluster)
    if (pid === undefined) return dropStaleLock(cluster)
    if (performance.now() > end) {
      throw new OperatorError(
        `The data in ${cluster} is in use by the server process ${pid}.`,
        `Stop the program that started it, or run: kill -INT ${pid}`,
      )
    }
    await wait(pollMs)
  }
}

/** Removes the lock if its process id now belongs to another program: PostgreSQL would refuse to start. */
async function dropStaleLock(cluster: string): Promise<void> {
  const pid = await readLock(cluster)
  if (pid !== undefined && isAlive(pid)) await rm(join(cluster, 'postmaster.pid'))
}

async function readLock(cluster: string): Promise<number | undefined> {
  const lock = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(lock, 10)
  return pid > 0 ? pid : undefined
}

/** Process ids are reused, after a reboot or in the next container. */
async function isServer(pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return command.includes('postgres')
  }
  const { stdout } = spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.includes('postgres')
}
