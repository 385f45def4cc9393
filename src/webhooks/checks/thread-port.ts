import { extname } from 'node:path'
import { isSea } from 'node:sea'
import { Worker } from 'node:worker_threads'
import { readTextAssetSync } from '#src/runtime/assets.ts'
import type { Reply, Request } from './messages.ts'

/** The thread in the single binary (dev/release/bundle.ts). */
const bundled = 'dist/check-thread.js'

// It needs nothing of the process: no settings, no flags. Schemas that need more memory end it.
const options = {
  name: 'schema-checks',
  env: {},
  execArgv: [],
  resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
}

export type Thread = {
  send(requests: readonly Request[]): void
  /** Whether the process waits for it. */
  setBusy(isBusy: boolean): void
  end(): Promise<void>
}

type Listeners = { reply(reply: Reply): void; ended(error: unknown): void }

/** Starts a thread, which is busy until it is told otherwise. `ended` is called once, unless `end` was. */
export function startThread({ reply, ended }: Listeners): Thread {
  const worker = isSea()
    ? new Worker(readTextAssetSync(bundled), { ...options, eval: true })
    : new Worker(new URL(`thread${extname(import.meta.url)}`, import.meta.url), options)
  let reason: unknown = null
  let isExpected = false
  worker.on('message', reply)
  worker.on('error', (error) => {
    reason = error
  })
  worker.on('exit', () => {
    if (!isExpected) ended(reason)
  })
  return {
    send: (requests) => worker.postMessage(requests),
    setBusy: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
    async end() {
      isExpected = true
      await worker.terminate()
    },
  }
}
