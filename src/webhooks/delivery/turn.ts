import { JobGone } from '#src/queue/enter-jobs.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { attemptKey, type DueAttempt } from './claim.ts'
import type { DeliveryOutcome } from './outcome.ts'
import type { Slots } from './slots.ts'
import { beginTurn, step, type TurnEffect, type TurnEvent, type TurnTimes } from './turn-state.ts'

/** What a turn does, apart from its order. */
export type TurnWork = {
  /** At most `room` due attempts of its endpoint, oldest first, without those of the keys in `known`. */
  claim(since: Date | null, known: readonly string[], room: number): Promise<DueAttempt[]>
  /** Those of them that are within the rate limit of the endpoint; the others are held. */
  admit(due: readonly DueAttempt[]): Promise<readonly DueAttempt[]>
  /** @returns what to record; null if the attempt is no longer due */
  attempt(due: DueAttempt): Promise<DeliveryOutcome | null>
  /** Ends the due attempt with its outcome. Lasts while the database is unavailable. */
  record(due: DueAttempt, outcome: DeliveryOutcome | null): Promise<void>
  /** Lets new deliveries rely on the turn, instead of adding a job each. */
  announce(): Promise<void>
  /** Ends the turn if nothing is due. @returns whether it has ended */
  end(): Promise<boolean>
  /** Gives the endpoint to another worker, or to this one again, at the end of the line. */
  handBack(): Promise<void>
  /** The same after a wait, because of an error. */
  giveUp(error: unknown): Promise<void>
  /** An attempt was not made, for a reason of ours. */
  postponed(error: PostponedError): void
  failed(message: string, facts: object): void
}

export type Turn = {
  /** Resolves when the turn is over. Never rejects. */
  readonly done: Promise<void>
  /** Looks for what is due. */
  wake(): void
  /** Begins no more attempts; is over once those in progress are recorded. */
  finish(): void
}

/** One endpoint's turn: carries out what `step` decides, until nothing is due. */
export function startTurn(
  work: TurnWork,
  slots: Slots,
  times: TurnTimes,
  clock: Clock,
  abandoned: AbortSignal,
): Turn {
  const { promise: done, resolve: resolveDone } = Promise.withResolvers<void>()
  const { attempt, claim, leave, forget, failed } = createCalls(work, slots, abandoned)
  let state = beginTurn(performance.now())
  let timer: NodeJS.Timeout | undefined

  function handle(event: TurnEvent): void {
    const facts = {
      ...times,
      now: performance.now(),
      time: clock.now(),
      slots: slots.counts(),
      isCrowded: slots.isCrowded(),
      isAbandoned: abandoned.aborted,
    }
    const next = step(state, event, facts)
    state = next.state
    for (const effect of next.effects) carryOut(effect)
  }

  const look = () => handle({ kind: 'look' })

  function carryOut(effect: TurnEffect): void {
    switch (effect.kind) {
      case 'attempt':
        slots.take()
        void attempt(effect.due, handle)
        break
      case 'forget':
        forget(effect.attempts)
        break
      case 'claim':
        void claim(effect.since, effect.room).then(handle)
        break
      case 'announce':
        void work.announce().catch((error) => failed('turn not announced', error))
        break
      case 'wait-for-slot':
        slots.wait(look)
        break
      case 'look-again':
        clearTimeout(timer)
        timer = setTimeout(look, Math.ceil(effect.afterMs))
        break
      case 'over':
        clearTimeout(timer)
        resolveDone()
        break
      default:
        void leave(effect).then(handle)
    }
  }

  look()
  return {
    done,
    wake: () => handle({ kind: 'wake' }),
    finish: () => handle({ kind: 'finish' }),
  }
}

/** What a turn calls its work for. None rejects: what came of it is an event. */
function createCalls(work: TurnWork, slots: Slots, abandoned: AbortSignal) {
  /** Attempts that are ready, in progress, or not recorded, and when they were due. */
  const known = new Map<string, Date>()

  async function attempt(due: DueAttempt, handle: (event: TurnEvent) => void): Promise<void> {
    const made = await work.attempt(due).then(
      (outcome) => ({ outcome }),
      (error) => ({ error }),
    )
    slots.free()
    if ('error' in made) {
      forget([due])
      notAttempted(due, made.error)
      return handle({ kind: 'not-attempted', due, error: made.error })
    }
    handle({ kind: 'attempted' })
    const event = await record(due, made.outcome)
    forget([due])
    handle(event)
  }

  function notAttempted({ deliveryId }: DueAttempt, error: unknown): void {
    if (!(error instanceof PostponedError)) failed('delivery attempt failed', error, { deliveryId })
    else if (!abandoned.aborted) work.postponed(error)
  }

  async function record(due: DueAttempt, outcome: DeliveryOutcome | null): Promise<TurnEvent> {
    try {
      await work.record(due, outcome)
      return { kind: 'recorded' }
    } catch (error) {
      failed('delivery outcome not recorded', error, { deliveryId: due.deliveryId })
      return { kind: 'not-recorded', error }
    }
  }

  async function claim(since: Date | null, room: number): Promise<TurnEvent> {
    let found: readonly DueAttempt[] = []
    try {
      const own = [...known].flatMap(([key, at]) => (since === null || at >= since ? [key] : []))
      found = await work.claim(since, own, room)
      for (const due of found) known.set(attemptKey(due), due.dueAt)
      const admitted = await work.admit(found)
      const isAdmitted = new Set(admitted)
      forget(found.filter((due) => !isAdmitted.has(due)))
      return { kind: 'claimed', found, admitted }
    } catch (error) {
      forget(found)
      failed('due deliveries could not be read', error)
      return { kind: 'claim-failed', error }
    }
  }

  async function leave(effect: Leaving): Promise<TurnEvent> {
    try {
      if (effect.kind === 'give-up') await work.giveUp(effect.error)
      else if (effect.kind === 'hand-back') await work.handBack()
      else if (!(await work.end())) return { kind: 'not-ended' }
    } catch (error) {
      // Without a heartbeat the job returns by itself.
      failed('turn not ended', error)
    }
    return { kind: 'left' }
  }

  function forget(attempts: readonly DueAttempt[]): void {
    for (const due of attempts) known.delete(attemptKey(due))
  }

  /** A job that another worker has is no failure. */
  function failed(message: string, error: unknown, facts: object = {}): void {
    if (!abandoned.aborted && !(error instanceof JobGone))
      work.failed(message, { ...facts, err: error })
  }

  return { attempt, claim, leave, forget, failed }
}

type Leaving = Extract<TurnEffect, { kind: 'end' | 'hand-back' | 'give-up' }>
