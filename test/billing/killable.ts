import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A half of the program as a child process that is killed and started again. */
export type Killable = {
  /** Of the web half; where it listens now. */
  url(): string
  /** `kill -9`, and a new process once that is gone. */
  kill(): Promise<void>
  /** `kill -9` for good. */
  end(): Promise<void>
}

const { PATH, NODE_COMPILE_CACHE } = process.env
const half = fileURLToPath(new URL('./half.ts', import.meta.url))

export async function startKillable(
  role: 'web' | 'worker',
  env: Record<string, string>,
): Promise<Killable> {
  let [child, url] = await start()

  async function start(): Promise<[ChildProcess, string]> {
    const process_ = fork(half, [role], {
      env: { PATH, NODE_COMPILE_CACHE, ...env },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const [message] = await Promise.race([
      once(process_, 'message'),
      once(process_, 'exit').then(() =>
        Promise.reject(new Error(`the ${role} ended at its start`)),
      ),
    ])
    return [process_, String(message)]
  }

  async function end(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  return {
    url: () => url,
    async kill() {
      await end()
      ;[child, url] = await start()
    },
    end,
  }
}
