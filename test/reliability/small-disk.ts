import { execFile } from 'node:child_process'
import { mkdtemp, rmdir, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'

const run = promisify(execFile)
const roomyMiB = 1024
const mebibyte = 1_048_576

export type SmallDisk = {
  folder: string
  /** Makes it as small as what is on it, so that the next mebibyte does not fit. */
  fill(): Promise<void>
  /** Makes it large again. */
  enlarge(): Promise<void>
}

/** A file system of its own in memory, whose size can be changed while it is in use. */
export async function mountSmallDisk(t: Test): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-small-disk-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${roomyMiB}m`, 'gatehouse-test', folder])
  t.teardown(async () => {
    // Lazily: the shell that supervised a server there may end a moment after it.
    await run('umount', ['--lazy', folder])
    await rmdir(folder)
  })
  const resize = (size: string) => run('mount', ['-o', `remount,size=${size}`, folder])
  return {
    folder,
    async fill() {
      const { blocks, bfree, bsize } = await statfs(folder)
      await resize(`${(Math.ceil(((blocks - bfree) * bsize) / mebibyte) + 1) * 1024}k`)
    },
    async enlarge() {
      await resize(`${roomyMiB}m`)
    },
  }
}
