type Running = {
  /** False when something had to be cut. */
  stop(signal: NodeJS.Signals): Promise<boolean>
  /** How long a stop takes at most, in milliseconds. */
  stopLimitMs: number
}

/**
 * Starts, waits for SIGINT or SIGTERM, and then stops in order. A second signal, or a stop that
 * takes too long, ends the process at once; so does one that had to cut something, with exit
 * status 1. A signal that comes before everything has started ends it as soon as `release` has.
 * @param release what is let go of in any case, at the end
 */
export async function runUntilSignal(
  start: () => Promise<Running>,
  release: () => Promise<void>,
): Promise<void> {
  // Listened for from now on: the first process of a container gets no signal it does not ask for.
  const signalled = nextSignal()
  let running: Running | null
  try {
    running = await Promise.race([start(), signalled.then(() => null)])
    if (running !== null) await stopInOrder(running, await signalled)
  } finally {
    await release()
  }
  // What was being started holds the process.
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

async function stopInOrder({ stop, stopLimitMs }: Running, signal: NodeJS.Signals): Promise<void> {
  const deadline = setTimeout(force, stopLimitMs)
  try {
    // What was cut may hold the process for ever.
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
