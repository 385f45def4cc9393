type Options = {
  everyMs: number
  /** Whether the first call is made at once; otherwise it is made after `everyMs`. */
  atOnce?: boolean
  /** Called with the error of a call; the next call is made nevertheless. Default: it is thrown. */
  onError?: (error: unknown) => void
}

export type Repeated = {
  /** Makes no more calls. Resolves when none is running; never rejects. */
  stop(): Promise<void>
}

/** Calls `work` repeatedly until stopped. */
export type Repeat = (
  work: (stopping: AbortSignal) => Promise<unknown>,
  options: Options,
) => Repeated

/**
 * Calls `work` every `everyMs`, except while the last call is running. If it resolves with `more`,
 * it is called again at once. The timer does not keep the process running.
 */
export const repeat: Repeat = (work, { everyMs, atOnce = false, onError = throwAgain }) => {
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  const timer = setInterval(start, everyMs).unref()
  if (atOnce) start()

  function start(): void {
    running ??= run().finally(() => {
      running = null
    })
  }

  async function run(): Promise<void> {
    try {
      while (!stopping.signal.aborted && (await work(stopping.signal)) === 'more');
    } catch (error) {
      onError(error)
    }
  }

  return {
    async stop() {
      stopping.abort()
      clearInterval(timer)
      await running
    },
  }
}

function throwAgain(error: unknown): never {
  throw error
}
