type Running = {
  /** Resolves to false if something had to be aborted. */
  stop(signal: NodeJS.Signals): Promise<boolean>
  /** The longest duration of a stop in milliseconds. */
  stopLimitMs: number
}

/**
 * Starts, waits for SIGINT or SIGTERM, and then shuts down gracefully. A second signal, a stop that
 * takes longer than its limit and a stop that aborted something exit at once with status 1. A
 * signal during the start exits after `release`.
 * @param release always runs at the end
 */
export async function runUntilSignal(
  start: () => Promise<Running>,
  release: () => Promise<void>,
): Promise<void> {
  // Register the handlers now: process 1 of a container ignores signals that it has no handler for.
  const signalled = nextSignal()
  let running: Running | null
  try {
    running = await Promise.race([start(), signalled.then(() => null)])
    if (running !== null) await stopGracefully(running, await signalled)
  } finally {
    await release()
  }
  // The unfinished start keeps the event loop alive.
  if (running === null) process.exit(statusOf(await signalled))
}

async function nextSignal(): Promise<NodeJS.Signals> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  process.on('SIGINT', force)
  process.on('SIGTERM', force)
  return signal
}

async function stopGracefully(
  { stop, stopLimitMs }: Running,
  signal: NodeJS.Signals,
): Promise<void> {
  const deadline = setTimeout(force, stopLimitMs)
  try {
    // An aborted part may keep the event loop alive.
    if (!(await stop(signal))) force()
    process.exitCode = statusOf(signal)
  } finally {
    clearTimeout(deadline)
  }
}

function statusOf(signal: NodeJS.Signals): number {
  return signal === 'SIGINT' ? 130 : 0
}

function force(): never {
  process.exit(1)
}
