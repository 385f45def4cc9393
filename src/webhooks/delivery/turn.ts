import { JobGone } from '#src/queue/enter-jobs.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { attemptKey, type DueAttempt } from './claim.ts'
import type { DeliveryOutcome } from './outcome.ts'
import type { Slots } from './slots.ts'

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

export type TurnTimes = {
  /** A turn ends when nothing has been due for this time. */
  idleMs: number
  /** After this time it gives way if other endpoints wait for a turn. */
  longMs: number
  /** How soon it looks again after an error. */
  errorMs: number
}

export type Turn = {
  /** Resolves when the turn is over. Never rejects. */
  readonly done: Promise<void>
  /** Looks for what is due. */
  wake(): void
  /** Begins no more attempts; is over once those in progress are recorded. */
  finish(): void
}

/** How far before the last claim the next one begins: a slow transaction adds attempts behind it. */
const overlapMs = 1_000
const overlapEveryMs = 250
const longOverlapMs = 15_000
const longOverlapEveryMs = 1_000
const wholeEveryMs = 60_000
/** After this time an attempt is read again before it is made. */
const staleMs = 1_000
const busyAddressMs = 250
const maxUnrecorded = 256

type Ready = { due: DueAttempt; readAt: number; isAdmitted: boolean }

/**
 * One endpoint's turn: claims what is due, makes the attempts, as many at once as the endpoint's share
 * of the slots, and records them, until nothing is due. It reads ahead two to three times what is in
 * progress: a slot that becomes free is used at once, and a backlog needs few claims.
 */
export function startTurn(
  work: TurnWork,
  slots: Slots,
  { idleMs, longMs, errorMs }: TurnTimes,
  clock: Clock,
  abandoned: AbortSignal,
): Turn {
  const { promise: done, resolve: resolveDone } = Promise.withResolvers<void>()
  const begunAt = performance.now()
  let ready: Ready[] = []
  /** Attempts that are ready, in progress, or not yet recorded, and when they were due. */
  const known = new Map<string, Date>()
  let sending = 0
  let unrecorded = 0
  let isClaiming = false
  let isWoken = false
  let isDry = false
  let isLeaving = false
  let isOver = false
  let isFinishing = false
  let failure: unknown
  let pausedUntil = 0
  let position: Date | null = null
  let wasFull = false
  let overlapAt = 0
  let longClaimAt = 0
  let wholeClaimAt = 0
  let busyClaims = 0
  let isLimited = false
  let lastWorkAt = begunAt
  let timer: NodeJS.Timeout | undefined

  function step(): void {
    if (isOver || isLeaving) return
    if (abandoned.aborted) {
      over()
      return
    }
    const now = performance.now()
    if (now - begunAt > longMs && slots.isCrowded()) isFinishing = true
    if (isFinishing || failure !== undefined) {
      for (const { due } of ready.splice(0)) known.delete(attemptKey(due))
      if (sending + unrecorded === 0 && !isClaiming) void leave()
      return
    }
    if (now < pausedUntil) {
      again(pausedUntil - now)
      return
    }
    begin(now)
    // What the rate limit has admitted is not read again before it is sent, so nothing is read ahead.
    const share = slots.share()
    const [most, low] = isLimited ? [share, share / 2] : [4 * share, share]
    const wanted = most - sending - ready.length
    const isLow = ready.length <= low
    if (!isDry && !isClaiming && isLow && wanted > 0 && unrecorded < maxUnrecorded) {
      void claim(wanted)
    }
    const isIdle = ready.length + sending + unrecorded === 0
    if (isIdle && isDry && !isClaiming) {
      const restMs = lastWorkAt + idleMs - now
      if (restMs > 0) again(restMs)
      else void leave()
    }
  }

  /** Begins the attempts that there is room for. */
  function begin(now: number): void {
    for (;;) {
      const [next] = ready
      if (next === undefined || unrecorded >= maxUnrecorded) return
      if (!next.isAdmitted && now - next.readAt > staleMs) {
        discard()
        return
      }
      if (sending >= slots.share() || !slots.take()) {
        if (sending === 0) slots.wait(step)
        return
      }
      ready.shift()
      sending += 1
      void run(next.due)
    }
  }

  /** Reads what is ready once more. */
  function discard(): void {
    const stale = ready.filter(({ isAdmitted }) => !isAdmitted)
    ready = ready.filter(({ isAdmitted }) => isAdmitted)
    for (const { due } of stale) known.delete(attemptKey(due))
    position = stale[0]?.due.dueAt ?? position
    isDry = false
  }

  async function run(due: DueAttempt): Promise<void> {
    const outcome = await outcomeOf(due)
    if (outcome === undefined) known.delete(attemptKey(due))
    else unrecorded += 1
    sending -= 1
    lastWorkAt = performance.now()
    slots.free()
    step()
    if (outcome === undefined) return
    try {
      await work.record(due, outcome)
    } catch (error) {
      if (!abandoned.aborted) {
        failure ??= error
        work.failed('delivery outcome not recorded', { deliveryId: due.deliveryId, err: error })
      }
    }
    unrecorded -= 1
    known.delete(attemptKey(due))
    lastWorkAt = performance.now()
    step()
  }

  /** @returns undefined if no attempt was made */
  async function outcomeOf(due: DueAttempt): Promise<DeliveryOutcome | null | undefined> {
    try {
      return await work.attempt(due)
    } catch (error) {
      notAttempted(due, error)
      return undefined
    }
  }

  function notAttempted(due: DueAttempt, error: unknown): void {
    if (abandoned.aborted) return
    if (error instanceof PostponedError) work.postponed(error)
    else work.failed('delivery attempt failed', { deliveryId: due.deliveryId, err: error })
    if (error instanceof PostponedError && error.reason === 'address-busy') {
      pausedUntil = performance.now() + busyAddressMs
      if (position === null || due.dueAt < position) position = due.dueAt
      isDry = false
    } else failure ??= error
  }

  async function claim(wanted: number): Promise<void> {
    isClaiming = true
    isWoken = false
    const since = sinceWhen()
    const before = position
    try {
      const found = await work.claim(since, knownSince(since), wanted)
      isDry = found.length < wanted
      wasFull = !isDry
      const last = found.at(-1)?.dueAt ?? null
      // Unless it was set back meanwhile.
      if (position === before && last !== null && (before === null || last > before))
        position = last
      for (const due of found) known.set(attemptKey(due), due.dueAt)
      const admitted = new Set(await work.admit(found))
      for (const due of found) if (!admitted.has(due)) known.delete(attemptKey(due))
      const readAt = performance.now()
      for (const due of admitted) {
        isLimited = due.delivery?.endpoint.isLimited === true
        ready.push({ due, readAt, isAdmitted: isLimited })
      }
      if (found.length > 0) lastWorkAt = readAt
      if (admitted.size > 0) announce()
    } catch (error) {
      claimFailed(error)
    }
    isClaiming = false
    // What was added meanwhile may be missing.
    if (isWoken) isDry = false
    step()
  }

  function claimFailed(error: unknown): void {
    if (error instanceof JobGone) {
      failure = error
      return
    }
    work.failed('due deliveries could not be read', { err: error })
    pausedUntil = performance.now() + errorMs
  }

  /**
   * Most claims of a backlog begin where the last one ended. Now and then, and when nothing was left,
   * they begin before it, because a transaction that took longer has added attempts behind it.
   */
  function sinceWhen(): Date | null {
    const now = performance.now()
    if (position === null || now - wholeClaimAt > wholeEveryMs) {
      wholeClaimAt = now
      longClaimAt = now
      return null
    }
    if (wasFull && now - overlapAt < overlapEveryMs) return position
    overlapAt = now
    const isLong = now - longClaimAt > longOverlapEveryMs
    if (isLong) longClaimAt = now
    const earliest = clock.now().getTime() - (isLong ? longOverlapMs : overlapMs)
    return new Date(Math.min(position.getTime(), earliest))
  }

  function knownSince(since: Date | null): string[] {
    const all = [...known]
    return all.flatMap(([key, dueAt]) => (since === null || dueAt >= since ? [key] : []))
  }

  function announce(): void {
    busyClaims += 1
    if (busyClaims !== 2) return
    work.announce().catch((error) => {
      if (!(error instanceof JobGone)) work.failed('turn not announced', { err: error })
    })
  }

  /** Ends, or goes on if something is due after all. */
  async function leave(): Promise<void> {
    isLeaving = true
    try {
      if (failure !== undefined) await (failure instanceof JobGone || work.giveUp(failure))
      else if (isFinishing) await work.handBack()
      else if (!(await work.end())) {
        isLeaving = false
        isDry = false
        position = null
        lastWorkAt = performance.now() - idleMs / 2
        return step()
      }
    } catch (error) {
      // Without a heartbeat the job returns by itself.
      if (!(error instanceof JobGone)) work.failed('turn not ended', { err: error })
    }
    over()
  }

  function again(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(step, Math.ceil(ms))
  }

  function over(): void {
    isOver = true
    clearTimeout(timer)
    resolveDone()
  }

  step()
  return {
    done,
    wake() {
      isDry = false
      isWoken = true
      step()
    },
    finish() {
      isFinishing = true
      step()
    },
  }
}
