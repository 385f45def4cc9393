const stopDeadlineMs = 15_000

/**
 * Waits for SIGINT or SIGTERM and then stops in order; a second signal, or a stop that takes too
 * long, ends the process at once.
 */
export async function runUntilSignal(stop: () => Promise<void>): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  const force = () => process.exit(1)
  process.on('SIGINT', force)
  process.on('SIGTERM', force)
  const deadline = setTimeout(force, stopDeadlineMs)
  try {
    await stop()
    process.exitCode = signal === 'SIGINT' ? 130 : 0
  } finally {
    clearTimeout(deadline)
  }
}
