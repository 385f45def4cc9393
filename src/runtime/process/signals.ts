type Running = {
  /** Resolves to false if something had to be aborted. */
  stop(signal: NodeJS.Signals): Promise<boolean>
  /** The longest duration of a stop in milliseconds. */
  stopLimitMs: number
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

type Signal = (typeof signals)[number]

// 128 and the number of the signal, as shells report it; SIGTERM is the usual end.
const statuses: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 0, SIGHUP: 129 }

const parentCheckMs = 500
const forwardMs = 1_000 // longer than npm takes, shorter than a person who presses Ctrl-C again

/**
 * Starts, waits for SIGINT, SIGTERM or SIGHUP (the terminal was closed), and then shuts down
 * gracefully. A second SIGINT or SIGTERM, a stop that takes longer than its limit and a stop that
 * aborted something exit at once with status 1. A signal during the start exits after `release`.
 * @param release always runs at the end
 * @param underNpm npm or `gatehouse dev` is the parent process, whose end is then a SIGHUP too
 */
export async function runUntilSignal(
  start: () => Promise<Running>,
  release: () => Promise<void>,
  { underNpm }: { underNpm: boolean },
): Promise<void> {
  // Register the handlers now: process 1 of a container ignores signals that it has no handler for.
  const signalled = nextSignal(underNpm)
  let running: Running | null
  try {
    running = await Promise.race([start(), signalled.then(() => null)])
    if (running !== null) await stopGracefully(running, await signalled)
  } finally {
    await release()
  }
  // The unfinished start keeps the event loop alive.
  if (running === null) process.exit(statuses[await signalled])
}

/**
 * Whether npm is the parent process. A script that begins with `exec` has no shell in between.
 * @param env the environment, in which npm puts the text of the script
 */
export function isUnderNpm(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.npm_lifecycle_script?.startsWith('exec ') === true
}

async function nextSignal(underNpm: boolean): Promise<Signal> {
  const { promise, resolve } = Promise.withResolvers<Signal>()
  for (const name of signals) process.on(name, resolve)
  const watch = underNpm ? watchParent(() => resolve('SIGHUP')) : undefined
  const signal = await promise
  clearInterval(watch)
  // A terminal and its shell both send SIGHUP, so a second one says nothing new.
  process.on('SIGHUP', () => {})
  for (const name of signals) process.off(name, resolve)
  // npm forwards the signals that a terminal has sent to all its processes already.
  const forwardedUntil = performance.now() + (underNpm ? forwardMs : 0)
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (name !== signal || performance.now() > forwardedUntil) force()
    })
  }
  return signal
}

/** Polls, because npm forwards neither SIGHUP nor SIGKILL, and no system reports a parent's end. */
function watchParent(onEnd: () => void): NodeJS.Timeout {
  const parent = process.ppid
  return setInterval(() => {
    if (process.ppid !== parent) onEnd()
  }, parentCheckMs).unref()
}

async function stopGracefully({ stop, stopLimitMs }: Running, signal: Signal): Promise<void> {
  const deadline = setTimeout(force, stopLimitMs)
  try {
    // An aborted part may keep the event loop alive.
    if (!(await stop(signal))) force()
    process.exitCode = statuses[signal]
  } finally {
    clearTimeout(deadline)
  }
}

function force(): never {
  process.exit(1)
}
