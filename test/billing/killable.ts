import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The web or worker part of the program, as a child process that can be killed and restarted. */
export type Killable = {
  /** Where the web part listens now. */
  url(): string
  /** `kill -9`, then a new process. */
  kill(): Promise<void>
  /** `kill -9` without a restart. */
  end(): Promise<void>
}

const { PATH, NODE_COMPILE_CACHE } = process.env
/** This release's `half.ts`. */
export const ownHalf = fileURLToPath(new URL('./half.ts', import.meta.url))
const starts = 5

/** @param half the `half.ts` of the release that runs; this one by default */
export async function startKillable(
  role: 'web' | 'worker',
  env: Record<string, string>,
  half = ownHalf,
): Promise<Killable> {
  // The next process loads while this one runs, so that a restart is fast.
  let spare = load()
  let [child, url] = await begin()

  function load(): ChildProcess {
    return fork(half, [role], {
      env: { PATH, NODE_COMPILE_CACHE, ...env },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
  }

  /** A start may fail while the database is killed; like a supervisor, this tries again. */
  async function begin(): Promise<[ChildProcess, string]> {
    for (let start = 1; start <= starts; start++) {
      const next = spare
      spare = load()
      next.send('begin')
      const message = await Promise.race([
        once(next, 'message'),
        once(next, 'exit').then(() => null),
      ])
      if (message !== null) return [next, String(message[0])]
    }
    throw new Error(`the ${role} ended at each of ${starts} starts`)
  }

  return {
    url: () => url,
    async kill() {
      await end(child)
      ;[child, url] = await begin()
    },
    async end() {
      await Promise.all([end(child), end(spare)])
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
