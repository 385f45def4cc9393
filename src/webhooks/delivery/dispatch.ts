import pLimit from 'p-limit'
import type { PgBoss } from 'pg-boss'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import {
  createGroupCommit,
  type GroupCommit,
  runTogether,
} from '#src/db/connections/group-commit.ts'
import type { Database } from '#src/db/database.ts'
import type { AttemptLog } from '#src/observability/attempt-log.ts'
import { createFailureLog } from '#src/observability/failure-log.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { OutboundMetrics } from '#src/observability/metrics.ts'
import { type Tracing, untraced } from '#src/observability/tracing.ts'
import type { Dispatch } from '#src/queue/consumer.ts'
import { enterTries, type Try } from '#src/queue/job-table.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { repeat } from '#src/runtime/repeat.ts'
import type { Sender } from '#src/webhooks/client/sender.ts'
import { holdBeyondLimit } from '#src/webhooks/delivery/held/hold.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { createRunner } from './attempt.ts'
import { type Claim, claimDue, type DueAttempt, loneRoom } from './claim.ts'
import { announceTurn, endTurns, handBackTurn } from './end-turns.ts'
import { fetchTurns, type TurnJob } from './fetch-turns.ts'
import { decideStart } from './outcome.ts'
import { createRecorder } from './record.ts'
import { createSlots } from './slots.ts'
import { startTurn, type Turn, type TurnWork } from './turn.ts'
import type { TurnTimes } from './turn-state.ts'

export type DispatchDeps = {
  queue: PgBoss
  db: Database
  sender: Sender
  keys: EncryptionKeys
  retrySeconds: readonly number[]
  clock: Clock
  metrics: OutboundMetrics
  tracing?: Tracing
  logger: JobLog
  attemptLog: AttemptLog
}

export type DispatchLimits = TurnTimes & {
  /** Attempts in progress in this process, and those of one endpoint while there is room. */
  inFlight: number
  perEndpoint: number
  /** Turns in progress from which on the longest give way. */
  turns: number
  /** Between looks for due attempts: no notification is sent when a retry becomes due. */
  pollMs: number
}

export type Dispatcher = {
  /** As `fetchTurns`. What it has read for a turn is left out if more may have been added meanwhile. */
  fetch(atMost: number): Promise<TurnJob[]>
  run: Dispatch<TurnJob>
  /** Wakes the turns of the tenant's endpoints; all turns if `tenantId` is empty. */
  wake(tenantId: string): void
  /** Begins no more attempts, and gives the turns back. */
  finish(): void
}

const concurrentTenants = 4 // transactions of several statements
/** Tenants of one packet. One that reads answers all at once, so few wait for the backlog of another. */
const tenantsOfRead = 8
const tenantsOfRecord = 32

/** Works on endpoints, in the scopes of their tenants. Calls at the same time share a statement. */
export function createDispatcher(deps: DispatchDeps, limits: DispatchLimits): Dispatcher {
  const { db, queue, clock, metrics, logger, tracing = untraced } = deps
  const readTogether = runTogether(tenantsOfRead)
  const writeLimit = pLimit(concurrentTenants)
  const writeTogether = runTogether(tenantsOfRecord)
  const recorder = createRecorder(deps, { together: writeTogether, limit: writeLimit })
  const runAttempt = createRunner({ ...deps, tracing })
  const faults = createFailureLog(logger, 'delivery attempts postponed: the fault is ours')
  const turns = new Map<string, { tenantId: string; turn: Turn }>()
  const slots = createSlots(limits, () => turns.size >= limits.turns)
  let isFinishing = false
  let wakes = 0

  const claims = groupByTenant<Claim, DueAttempt[]>((tenantId, asked) =>
    readTogether(() => claimDue(db, { tenantId }, asked, clock.now())),
  )
  const ends = groupByTenant<TurnJob, boolean>((_tenantId, jobs) =>
    writeTogether(() => endTurns(db, jobs, clock.now())),
  )

  function workOf(job: TurnJob, abandoned: AbortSignal): TurnWork {
    const turn = { id: job.id, retryCount: job.retryCount }
    const { tenantId, endpointId } = job.data
    const facts = { tenantId, endpointId }
    return {
      claim: firstsBefore(job, (since, known, room) =>
        claims(tenantId, { turn, endpointId, since, known, room }),
      ),
      admit: (due) => admit(deps, turn, due, writeLimit),
      attempt: (due) => runAttempt(due),
      async record({ deliveryId, series, number }, outcome) {
        const ended = { tenantId, deliveryId, series, number, turn, outcome }
        await recorder.record(ended, abandoned)
      },
      announce: () => writeLimit(() => announceTurn(db, job)),
      end: () => ends(tenantId, job),
      handBack: () => handBackTurn(db, queue, job),
      async giveUp(error) {
        await queue.fail(endpointTurnQueue, job, { message: String(error) })
      },
      postponed(error) {
        const { reason } = error
        metrics.postponed.inc({ reason })
        // A busy address and a stop are no faults.
        if (reason !== 'address-busy' && reason !== 'stopped') faults.add(error)
      },
      failed: (message, more) => logger.error({ ...facts, ...more }, message),
    }
  }

  function wake(tenantId: string): void {
    wakes += 1
    for (const one of turns.values()) {
      if (tenantId === '' || one.tenantId === tenantId) one.turn.wake()
    }
  }

  async function run(job: TurnJob, abandoned: AbortSignal): Promise<void> {
    const turn = startTurn(workOf(job, abandoned), slots, limits, clock, abandoned)
    turns.set(job.id, { tenantId: job.data.tenantId, turn })
    // Each by itself: a look of all turns at the same time would hold up a delivery that arrives.
    const poll = repeat(async () => turn.wake(), { everyMs: limits.pollMs })
    if (isFinishing) turn.finish()
    await turn.done
    void poll.stop()
    turns.delete(job.id)
  }

  return {
    async fetch(atMost) {
      const before = wakes
      const jobs = await fetchTurns(queue, db, atMost, clock.now())
      return wakes === before ? jobs : jobs.map((job) => ({ ...job, firsts: undefined }))
    },
    run: (jobs, abandoned) => jobs.map((job) => run(job, abandoned)),
    wake,
    finish() {
      isFinishing = true
      for (const { turn } of turns.values()) turn.finish()
    },
  }
}

/** The first claim of a turn is what was read with it, if that is known; the next ones are `claim`. */
function firstsBefore({ firsts }: TurnJob, claim: TurnWork['claim']): TurnWork['claim'] {
  let unused = firsts
  return async (since, known, room) => {
    const found = unused
    unused = undefined
    return found !== undefined && room >= loneRoom ? [...found] : claim(since, known, room)
  }
}

/** Only endpoints with a rate limit, or that are paused, need it. */
async function admit(
  { db, queue, clock, retrySeconds }: DispatchDeps,
  turn: Try,
  due: readonly DueAttempt[],
  writeLimit: ReturnType<typeof pLimit>,
): Promise<readonly DueAttempt[]> {
  const now = clock.now()
  const limited = due.flatMap((one) => {
    const { delivery, deliveryId, endpointId } = one
    if (delivery?.endpoint.isLimited !== true) return []
    if (one.released && !delivery.endpoint.isPaused) return []
    const isDue = decideStart(one, delivery, retrySeconds, now) === 'attempt'
    return isDue ? [{ deliveryId, endpointId, createdAt: delivery.createdAt }] : []
  })
  if (limited.length === 0) return due
  const held = await writeLimit(() =>
    db.write(enterTries(endpointTurnQueue, [turn]), (tx, scope) =>
      holdBeyondLimit(tx, queue, scope, limited, now),
    ),
  )
  return due.filter(({ deliveryId }) => !held.has(deliveryId))
}

/** Calls made for a tenant while one is under way share the next one. */
function groupByTenant<Asked, Answer>(
  work: (tenantId: string, asked: readonly Asked[]) => Promise<readonly Answer[]>,
): (tenantId: string, asked: Asked) => Promise<Answer> {
  const groups = new Map<string, GroupCommit<Asked, Answer>>()
  return (tenantId, asked) => {
    const group =
      groups.get(tenantId) ??
      createGroupCommit<Asked, Answer>({
        async commit(entries) {
          const answers = await work(
            tenantId,
            entries.map(({ item }) => item),
          )
          for (const [n, { resolve }] of entries.entries()) resolve(answers[n] as Answer)
        },
        onIdle: () => groups.delete(tenantId),
      })
    groups.set(tenantId, group)
    return group.add(asked)
  }
}
