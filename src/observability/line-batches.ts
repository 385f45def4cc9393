import { type DestinationStream, levels, pino, symbols } from 'pino'

/** Longest time from logging a line until it is written, unless the reader of the output is slow. */
const maxDelayMs = 50
/**
 * Longest write in bytes, except for a longer line. A pipe takes it whole (PIPE_BUF), so lines stay whole when the
 * process ends while a write is in progress.
 */
const maxWrite = 4_096
/** Lines are written without waiting when they have this many bytes together. */
const minLength = 3_584
const { warn: warnLevel = 40 } = levels.values

type Batches = DestinationStream & {
  [symbols.needsMetadataGsym]: true
  /** The level of the next line; pino sets it. */
  lastLevel: number
  flushSync(): void
}

/**
 * Writes lines together, because each write is a trip through the thread pool: of about 17 system calls of a
 * request that arrives alone, a line each took nine. A line of level `warn` or above is written at once, with those
 * before it. What still waits is written when the process ends, also after an uncaught error; only a killed process
 * loses it.
 * @param fd the file descriptor, which stays open
 */
export function batchLines(fd: number): DestinationStream {
  // Asynchronous, so that a slow reader does not block the process; pino flushes it when the process ends.
  const output = pino.destination({ dest: fd, minLength, maxWrite, sync: false })
  let unwrittenBytes = 0
  let isUrgent = false
  let timer: NodeJS.Timeout | undefined
  const write = () => {
    clearTimeout(timer)
    timer = undefined
    output.flush()
  }
  const writeInTime = () => {
    if (isUrgent) write()
    else timer ??= setTimeout(write, maxDelayMs).unref()
  }
  output.on('write', (bytes) => {
    unwrittenBytes -= bytes
  })
  // A flush does nothing while the lines before are being written.
  output.on('drain', () => {
    if (unwrittenBytes > 0) writeInTime()
    isUrgent = false
  })
  const batches: Batches = {
    [symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line) {
      unwrittenBytes += Buffer.byteLength(line)
      output.write(line)
      isUrgent ||= batches.lastLevel >= warnLevel
      writeInTime()
    },
    flushSync: () => output.flushSync(),
  }
  return batches
}
