import { createGroupCommit, type Entry } from '#src/db/connections/group-commit.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { Problem } from '#src/http/problems.ts'
import type { EventJob } from '#src/queue/queue.ts'
import type { BillingEvent } from './event.ts'
import { newEventJob } from './job.ts'
import type { RecordStore, StoreLimits, VerifiedEvent } from './record-store.ts'

export type Recorded = 'first' | 'ignored' | 'duplicate' | 'duplicate-different-body'

export type RecorderLimits = {
  /** An event that has waited longer is refused. */
  waitMs: number
  /** Latest time after its arrival at which an event is still sent to the database. */
  sendMs: number
  /** Events of one commit. */
  batchEvents: number
  /** Bytes of one commit. A single event may be larger. */
  batchBytes: number
  /** Events and bytes that may wait. */
  waitingEvents: number
  waitingBytes: number
}

/**
 * Contract 5: recorded within 2 s, or 503. An event waits at most 500 ms. 900 ms after its arrival
 * its statement is sent or never will be. One second later the result is known: the server has
 * committed, has refused to begin, or has cancelled the statement.
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

/** Called after each commit. */
export type RecorderObserver = {
  batch?(events: number, seconds: number): void
}

export type Recorder = {
  /**
   * Records a verified event and enqueues its job. When this resolves, both exist exactly once
   * (specification, inbound processing 3 to 5).
   * @param body the bytes as received; the worker parses them again
   * @param origin the request that brought it
   * @throws if nothing was recorded; Problem `unavailable` if too many events wait
   */
  record(
    event: BillingEvent,
    body: Buffer,
    secretIndex: number,
    origin?: RequestOrigin,
  ): Promise<Recorded>
  /** How many events wait, and for how many seconds the oldest has. */
  waiting(): { events: number; seconds: number }
  /** Resolves when every waiting event is recorded or refused. */
  close(): Promise<void>
}

/** The id of a request and its trace context. */
export type RequestOrigin = Pick<EventJob, 'requestId' | 'traceparent'>

type Waiting = Entry<VerifiedEvent, Recorded>

/** Records events by group commit, so that one round trip serves all that arrive during another. */
export function createRecorder(
  store: RecordStore,
  limits: RecorderLimits = recorderLimits,
  observer: RecorderObserver = {},
): Recorder {
  const { waitMs, sendMs, waitingEvents, waitingBytes } = limits
  const group = createGroupCommit<VerifiedEvent, Recorded>({
    commit: (entries) => recordBatch(store, refuseOverdue(entries, waitMs), sendMs),
    maxItems: limits.batchEvents,
    maxBytes: limits.batchBytes,
    bytesOf: ({ body }) => body.length,
    onCommit: (events, ms) => observer.batch?.(events, ms / 1_000),
  })

  return {
    async record(event, body, secretIndex, origin = {}) {
      const { id: eventId, type, ignored } = event
      const { items, bytes, expectedMs } = group.waiting()
      const isBehind =
        items >= waitingEvents || bytes + body.length > waitingBytes || expectedMs > waitMs
      if (isBehind) throw overloaded()
      const job = ignored === null ? newEventJob(eventId, event, origin) : null
      const { requestId = null } = origin
      return group.add({ eventId, type, body, secretIndex, requestId, job, ignored })
    },
    waiting() {
      const { items, oldestMs } = group.waiting()
      return { events: items, seconds: oldestMs / 1_000 }
    },
    close: group.settled,
  }
}

function overloaded(): Problem {
  return new Problem('unavailable', { retryAfterSeconds: 1, reason: 'overloaded' })
}

/** Rejects the entries that have waited too long, and returns the others. */
function refuseOverdue(entries: readonly Waiting[], waitMs: number): readonly Waiting[] {
  const oldest = performance.now() - waitMs
  for (const { addedAt, reject } of entries) if (addedAt < oldest) reject(overloaded())
  return entries.filter(({ addedAt }) => addedAt >= oldest)
}

async function recordBatch(
  store: RecordStore,
  batch: readonly Waiting[],
  sendMs: number,
): Promise<void> {
  if (batch.length === 0) return
  const unique = new Map<string, Waiting>()
  const duplicates: Waiting[] = []
  for (const entry of batch) {
    if (unique.has(entry.item.eventId)) duplicates.push(entry)
    else unique.set(entry.item.eventId, entry)
  }
  // Every process sorts by id, so that two of them cannot deadlock.
  const ordered = [...unique.values()].sort((a, b) => (a.item.eventId < b.item.eventId ? -1 : 1))
  const sendBefore = Math.min(...batch.map(({ addedAt }) => addedAt)) + sendMs
  const inserted = await store.record(
    ordered.map(({ item }) => item),
    sendBefore,
  )
  for (const entry of ordered) {
    const { eventId, job } = entry.item
    if (inserted.has(eventId)) entry.resolve(job === null ? 'ignored' : 'first')
    else duplicates.push(entry)
  }
  if (duplicates.length > 0) void compareDuplicates(store, duplicates)
}

/**
 * Resolves duplicates once their bodies are compared. Their events are recorded already, so the next
 * commit does not wait for this, and an error leaves the plain `duplicate`.
 */
async function compareDuplicates(
  store: RecordStore,
  duplicates: readonly Waiting[],
): Promise<void> {
  const differs = await store.compare(duplicates.map(({ item }) => item)).catch(() => [])
  for (const [index, { resolve }] of duplicates.entries()) {
    resolve(differs[index] === true ? 'duplicate-different-body' : 'duplicate')
  }
}
