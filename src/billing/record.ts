import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { isDatabaseUnavailable, Problem } from '#src/http/problems.ts'
import { type BillingEvent, kindOf } from './event.ts'
import type { Arrival, RecordStore, StoreLimits } from './record-store.ts'

export type Recorded = 'first' | 'ignored' | 'duplicate' | 'duplicate-different-body'

export type RecorderLimits = {
  /** An event that has waited this long is refused rather than begun. */
  waitMs: number
  /** So long after its arrival it is no longer sent to the database. */
  sendMs: number
  /** Events of one commit. */
  batchEvents: number
  /** Bytes of one commit; a single event may be larger. */
  batchBytes: number
  /** Events and bytes that may wait. */
  waitingEvents: number
  waitingBytes: number
}

/**
 * Contract 5: recorded within 2 s, or 503. An event waits 500 ms at most; 900 ms after its arrival
 * its statement has been sent or never will be; 1 s after that the answer is there or given up,
 * and by then the server has refused to begin, or has cancelled what it began.
 */
export const recorderLimits = {
  waitMs: 500,
  sendMs: 900,
  connectMs: 500,
  beginMs: 400,
  statementMs: statementTimeoutsMs.recordEvents,
  batchEvents: 256,
  batchBytes: 8_388_608,
  waitingEvents: 5_000,
  waitingBytes: 67_108_864,
} as const satisfies RecorderLimits & StoreLimits

/** What the inbox tells of itself; nothing by default. */
export type RecorderObserver = {
  batch?(events: number, seconds: number): void
}

export type Recorder = {
  /**
   * Records a verified event and enqueues its work: when this resolves, the event exists once and
   * so does its job (specification, inbound processing 3 to 5).
   * @param body the bytes as received; they are kept for the worker
   * @throws when it could not be recorded; then nothing was. A Refusal `unavailable` when the
   *   inbox is too far behind to try
   */
  record(event: BillingEvent, body: Buffer, secretIndex: number): Promise<Recorded>
  /** How many events wait, and for how many seconds the oldest has. */
  waiting(): { events: number; seconds: number }
  /** Resolves when what waits has been recorded or refused. */
  close(): Promise<void>
}

type Waiting = Arrival & {
  since: number
  resolve(recorded: Recorded): void
  reject(error: unknown): void
}

/**
 * Shared commits: while one is under way, arriving events wait and share the next. There is no
 * timer, so an event that comes alone never waits for company.
 */
export function createRecorder(
  store: RecordStore,
  limits: RecorderLimits = recorderLimits,
  observer: RecorderObserver = {},
): Recorder {
  let queue: Waiting[] = []
  let queuedBytes = 0
  let lastCommitMs = 0
  let running: Promise<void> | null = null

  function refuseWhenBehind(bytes: number): void {
    const batchesAhead = Math.ceil(queue.length / limits.batchEvents)
    const behind =
      queue.length >= limits.waitingEvents ||
      queuedBytes + bytes > limits.waitingBytes ||
      batchesAhead * lastCommitMs > limits.waitMs
    if (behind) throw new Problem('unavailable', { retryAfterSeconds: 1 })
  }

  async function run(): Promise<void> {
    // What is read in the same turn of the event loop shares the first commit.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.length > 0) {
      const batch = takeBatch()
      if (batch.length === 0) continue
      const begun = performance.now()
      await commit(store, batch, limits.sendMs)
      lastCommitMs = performance.now() - begun
      observer.batch?.(batch.length, lastCommitMs / 1000)
    }
    lastCommitMs = 0
    running = null
  }

  function takeBatch(): Waiting[] {
    const batch: Waiting[] = []
    const oldest = performance.now() - limits.waitMs
    let bytes = 0
    let taken = 0
    for (const one of queue) {
      if (batch.length === limits.batchEvents) break
      if (batch.length > 0 && bytes + one.body.length > limits.batchBytes) break
      taken += 1
      queuedBytes -= one.body.length
      if (one.since < oldest) one.reject(new Problem('unavailable', { retryAfterSeconds: 1 }))
      else {
        batch.push(one)
        bytes += one.body.length
      }
    }
    queue = queue.slice(taken)
    return batch
  }

  return {
    async record(event, body, secretIndex) {
      refuseWhenBehind(body.length)
      return new Promise<Recorded>((resolve, reject) => {
        const { id: eventId, type } = event
        const handled = kindOf(type) !== null
        const since = performance.now()
        queue.push({ eventId, type, body, secretIndex, handled, since, resolve, reject })
        queuedBytes += body.length
        running ??= run()
      })
    },
    waiting: () => ({
      events: queue.length,
      seconds: queue[0] === undefined ? 0 : (performance.now() - queue[0].since) / 1000,
    }),
    async close() {
      await running
    },
  }
}

/** Answers every member of the batch. Never rejects: what fails is told to whom it concerns. */
async function commit(
  store: RecordStore,
  batch: readonly Waiting[],
  sendMs: number,
): Promise<void> {
  const firsts = new Map<string, Waiting>()
  const copies: Waiting[] = []
  for (const one of batch) {
    if (firsts.has(one.eventId)) copies.push(one)
    else firsts.set(one.eventId, one)
  }
  // One order of ids in every process, so that two of them never wait for each other in a circle.
  const ordered = [...firsts.values()].sort((a, b) => (a.eventId < b.eventId ? -1 : 1))
  try {
    const fresh = await store.record(ordered, oldestOf(batch) + sendMs)
    for (const one of ordered) {
      if (fresh.has(one.eventId)) one.resolve(one.handled ? 'first' : 'ignored')
      else copies.push(one)
    }
    if (copies.length > 0) answerCopies(store, copies)
  } catch (error) {
    if (batch.length === 1 || isDatabaseUnavailable(error)) {
      for (const one of batch) one.reject(error)
    } else {
      // One of them is bad. It is looked for by halves, so that it answers for itself alone.
      const half = batch.length >> 1
      await commit(store, batch.slice(0, half), sendMs)
      await commit(store, batch.slice(half), sendMs)
    }
  }
}

function oldestOf(batch: readonly Waiting[]): number {
  return Math.min(...batch.map(({ since }) => since))
}

/** The event is recorded whatever comes of the comparison, so nothing waits for it but the answer. */
function answerCopies(store: RecordStore, copies: readonly Waiting[]): void {
  store.compare(copies).then(
    (others) => {
      for (const [index, one] of copies.entries()) {
        one.resolve(others[index] === true ? 'duplicate-different-body' : 'duplicate')
      }
    },
    () => {
      for (const one of copies) one.resolve('duplicate')
    },
  )
}
