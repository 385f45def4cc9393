import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const prefix = 'gatehouse-test-'
const neededBytes = 4 * 2 ** 30 // ample, so that a run crowds nobody out

/**
 * A folder for what a run works on and throws away: in memory where there is room, since a run
 * copies a database for most of its tests; else where temporary files are.
 */
export async function makeRunFolder(): Promise<string> {
  const inMemory = await hasRoom()
  if (inMemory) await removeForsaken()
  const parent = inMemory ? memory : tmpdir()
  const folder = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  // So that the account the server runs under, when this is root, can reach its data directly.
  await chmod(folder, 0o711)
  return folder
}

async function hasRoom(): Promise<boolean> {
  const stats = await statfs(memory).catch(() => undefined)
  if (stats === undefined || stats.bavail * stats.bsize < neededBytes) return false
  // PostgreSQL's binaries are copied next to the data where its account cannot reach them.
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '')
  const options = mounts.split('\n').find((line) => line.split(' ')[1] === memory)
  return options !== undefined && !/\bnoexec\b/.test(options)
}

/** What a run left in memory that was killed with `kill -9`. */
async function removeForsaken(): Promise<void> {
  for (const name of await readdir(memory)) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    await rm(join(memory, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Somebody else's process lives too.
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH'
  }
}
