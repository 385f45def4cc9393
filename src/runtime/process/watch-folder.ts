import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'

/** Written by programs, or read by no process that serves. */
const ignored = ['node_modules', 'generated', 'test', 'dist']

const settleMs = 50 // an editor writes a file in several steps

/**
 * Calls `onChange` after a file of the folder has changed, but for those in folders that no process reads: hidden
 * ones, packages, tests and what is generated. Each top folder is watched for itself, so that packages cost nothing.
 * @returns what ends it
 */
export function watchFolder(folder: string, onChange: () => void): () => void {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const changed = (name: string | null) => {
    if (name !== null && !isWatched(name)) return
    clearTimeout(timer)
    timer = setTimeout(onChange, settleMs)
  }
  const scan = () => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const { name } = entry
      if (!entry.isDirectory() || !isWatched(name) || watchers.has(name)) continue
      const one = watch(join(folder, name), { recursive: true }, () => changed(null))
      one.on('error', () => forget(name))
      watchers.set(name, one)
    }
  }
  const forget = (name: string) => {
    watchers.get(name)?.close()
    watchers.delete(name)
  }
  const top = watch(folder, (_event, name) => {
    scan()
    changed(name)
  })
  scan()
  return () => {
    clearTimeout(timer)
    top.close()
    for (const name of watchers.keys()) forget(name)
  }
}

function isWatched(name: string): boolean {
  return name === '.env' || !(name.startsWith('.') || ignored.includes(name))
}
