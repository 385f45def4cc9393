import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const prefix = 'gatehouse-test-'
const neededBytes = 4 * 2 ** 30 // generous, so that other processes keep enough memory

/**
 * A folder for the temporary data of a run: in memory if there is room, because a run copies a
 * database for most of its tests; otherwise in the folder for temporary files.
 */
export async function makeRunFolder(): Promise<string> {
  const inMemory = await hasRoom()
  if (inMemory) await removeOrphaned()
  const parent = inMemory ? memory : tmpdir()
  const folder = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  // If this process is root, PostgreSQL runs under another account, which must reach its data.
  await chmod(folder, 0o711)
  return folder
}

async function hasRoom(): Promise<boolean> {
  const stats = await statfs(memory).catch(() => undefined)
  if (stats === undefined || stats.bavail * stats.bsize < neededBytes) return false
  // PostgreSQL's binaries are copied next to the data if its account cannot reach them.
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '')
  const options = mounts.split('\n').find((line) => line.split(' ')[1] === memory)
  return options !== undefined && !/\bnoexec\b/.test(options)
}

/** Removes folders in memory of runs that were killed with `kill -9`. */
async function removeOrphaned(): Promise<void> {
  for (const name of await readdir(memory)) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    // Its server may still be stopping, or it is another user's: a later run removes the rest.
    await rm(join(memory, name), { recursive: true, force: true }).catch(() => undefined)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH'
  }
}
