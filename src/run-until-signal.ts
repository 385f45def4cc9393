type Stop = {
  /** False when something had to be cut. */
  stop(signal: NodeJS.Signals): Promise<boolean>
  /** How long a stop takes at most, in milliseconds. */
  stopLimitMs: number
}

/**
 * Waits for SIGINT or SIGTERM and then stops in order. A second signal, or a stop that takes too
 * long, ends the process at once; so does one that had to cut something, with exit status 1.
 */
export async function runUntilSignal({ stop, stopLimitMs }: Stop): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  const force = () => process.exit(1)
  process.on('SIGINT', force)
  process.on('SIGTERM', force)
  const deadline = setTimeout(force, stopLimitMs)
  try {
    // What was cut may hold the process for ever.
    if (!(await stop(signal))) force()
    process.exitCode = signal === 'SIGINT' ? 130 : 0
  } finally {
    clearTimeout(deadline)
  }
}
