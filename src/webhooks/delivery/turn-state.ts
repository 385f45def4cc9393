import { JobGone } from '#src/queue/enter-jobs.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import type { DueAttempt } from './claim.ts'
import { roomOf, type SlotCounts, shareOf } from './slots.ts'

/** The state of one endpoint's turn. Times that are numbers are in ms of `performance.now()`. */
export type TurnState = {
  /** `leaving`: the turn is being ended, handed back or given up. */
  phase: 'working' | 'leaving' | 'over'
  begunAt: number
  /** Attempts that are claimed and not begun, oldest first. */
  ready: readonly Ready[]
  /** Attempts in progress. */
  sending: number
  /** Attempts that were made and are not recorded. */
  unrecorded: number
  /** The claim in progress. */
  claim: OpenClaim | null
  reading: Reading
  /** The last claim found everything that was due. */
  isDry: boolean
  /** The endpoint has a rate limit. */
  isLimited: boolean
  /** Claims that found something. */
  busyClaims: number
  lastWorkAt: number
  /** Nothing is begun or claimed before. */
  pausedUntil: number
  isFinishing: boolean
  failure: { error: unknown } | null
}

type Ready = {
  due: DueAttempt
  readAt: number
  /** Admitted by the rate limit, which counts it as sent, so it is not read again. */
  isAdmitted: boolean
}

/** `position`: as in `Reading` when the claim began. `isWoken`: attempts were added since. */
type OpenClaim = { wanted: number; position: Date | null; isWoken: boolean }

/** How far the due attempts have been read. */
type Reading = {
  /** When the last claimed attempt was due; null to read from the beginning. */
  position: Date | null
  /** The last claim found as many as it asked for. */
  wasFull: boolean
  /** When a claim last began before the position, long before it, and at the beginning. */
  overlapAt: number
  longOverlapAt: number
  wholeAt: number
}

export type TurnEvent =
  /** Time has passed, or a slot is free. */
  | { kind: 'look' }
  /** Attempts may have been added. */
  | { kind: 'wake' }
  | { kind: 'finish' }
  | { kind: 'claimed'; found: readonly DueAttempt[]; admitted: readonly DueAttempt[] }
  | { kind: 'claim-failed'; error: unknown }
  | { kind: 'attempted' }
  | { kind: 'not-attempted'; due: DueAttempt; error: unknown }
  | { kind: 'recorded' }
  | { kind: 'not-recorded'; error: unknown }
  /** The answer to `end`: something was due after all. */
  | { kind: 'not-ended' }
  /** The answer to `end`, `hand-back` and `give-up`. */
  | { kind: 'left' }

export type TurnEffect =
  /** Makes the attempt and records its outcome. */
  | { kind: 'attempt'; due: DueAttempt }
  /** The attempts are not begun: a later claim may return them again. */
  | { kind: 'forget'; attempts: readonly DueAttempt[] }
  | { kind: 'claim'; since: Date | null; room: number }
  | { kind: 'announce' }
  /** Looks again when a slot is free. */
  | { kind: 'wait-for-slot' }
  | { kind: 'look-again'; afterMs: number }
  | { kind: 'end' }
  | { kind: 'hand-back' }
  | { kind: 'give-up'; error: unknown }
  | { kind: 'over' }

export type TurnTimes = {
  /** A turn ends when nothing has been due for this time. */
  idleMs: number
  /** After this time it gives way if other endpoints wait for a turn. */
  longMs: number
  /** How soon it looks again after an error. */
  errorMs: number
}

export type TurnFacts = TurnTimes & {
  /** In ms of `performance.now()`. */
  now: number
  /** The same moment by the clock of the process. */
  time: Date
  slots: SlotCounts
  /** Other endpoints may wait for a turn. */
  isCrowded: boolean
  /** Another worker repeats the job: nothing more is written. */
  isAbandoned: boolean
}

export type TurnStep = { state: TurnState; effects: readonly TurnEffect[] }

/** A claim begins before the end of the last one: a slow transaction adds attempts behind it. */
const overlapMs = 1_000
const overlapEveryMs = 250
const longOverlapMs = 15_000
const longOverlapEveryMs = 1_000
const wholeEveryMs = 60_000
/** After this time an attempt is read again before it is made. */
const staleMs = 1_000
const busyAddressMs = 250
const maxUnrecorded = 256

export function beginTurn(now: number): TurnState {
  return {
    phase: 'working',
    begunAt: now,
    ready: [],
    sending: 0,
    unrecorded: 0,
    claim: null,
    reading: { position: null, wasFull: false, overlapAt: 0, longOverlapAt: 0, wholeAt: 0 },
    isDry: false,
    isLimited: false,
    busyClaims: 0,
    lastWorkAt: now,
    pausedUntil: 0,
    isFinishing: false,
    failure: null,
  }
}

/**
 * Decides what a turn does after an event. It claims what is due, makes as many attempts at once as the
 * share of the endpoint allows, and leaves when nothing is due. It reads ahead two to three times what
 * is in progress: a slot that becomes free is used at once, and a backlog needs few claims.
 */
export function step(state: TurnState, event: TurnEvent, facts: TurnFacts): TurnStep {
  const noted = note(state, event, facts)
  if (noted.phase !== 'working') {
    const isLast = event.kind === 'left'
    return { state: noted, effects: isLast ? [{ kind: 'over' }] : [] }
  }
  const after = proceed(noted, facts)
  const isAnnounced = event.kind === 'claimed' && noted.busyClaims === 2 && state.busyClaims === 1
  return isAnnounced ? { ...after, effects: [{ kind: 'announce' }, ...after.effects] } : after
}

/** The state with the event in it. */
function note(state: TurnState, event: TurnEvent, { now, idleMs, errorMs }: TurnFacts): TurnState {
  const { sending, unrecorded, claim, reading, failure } = state
  switch (event.kind) {
    case 'look':
      return state
    case 'wake':
      return { ...state, isDry: false, claim: claim && { ...claim, isWoken: true } }
    case 'finish':
      return { ...state, isFinishing: true }
    case 'claimed':
      return claim === null ? state : noteClaimed(state, claim, event, now)
    case 'claim-failed': {
      const isGone = event.error instanceof JobGone
      return {
        ...state,
        claim: null,
        isDry: state.isDry && claim?.isWoken !== true,
        failure: isGone ? { error: event.error } : failure,
        pausedUntil: isGone ? state.pausedUntil : now + errorMs,
      }
    }
    case 'attempted':
      return { ...state, sending: sending - 1, unrecorded: unrecorded + 1, lastWorkAt: now }
    case 'not-attempted':
      return noteNotAttempted({ ...state, sending: sending - 1, lastWorkAt: now }, event, now)
    case 'recorded':
      return { ...state, unrecorded: unrecorded - 1, lastWorkAt: now }
    case 'not-recorded':
      return {
        ...state,
        unrecorded: unrecorded - 1,
        lastWorkAt: now,
        failure: failure ?? { error: event.error },
      }
    case 'not-ended':
      return {
        ...state,
        phase: 'working',
        isDry: false,
        reading: { ...reading, position: null },
        lastWorkAt: now - idleMs / 2,
      }
    case 'left':
      return { ...state, phase: 'over' }
  }
}

function noteClaimed(
  state: TurnState,
  claim: OpenClaim,
  { found, admitted }: Extract<TurnEvent, { kind: 'claimed' }>,
  now: number,
): TurnState {
  const wasFull = found.length >= claim.wanted
  const last = found.at(-1)?.dueAt ?? null
  const { position } = state.reading
  const isSetBack = position !== claim.position
  const isFurther = last !== null && (position === null || last > position)
  const isLimited = admitted.at(-1)?.delivery?.endpoint.isLimited === true
  return {
    ...state,
    claim: null,
    ready: [
      ...state.ready,
      ...admitted.map((due) => {
        return { due, readAt: now, isAdmitted: due.delivery?.endpoint.isLimited === true }
      }),
    ],
    reading: {
      ...state.reading,
      wasFull,
      position: isFurther && !isSetBack ? last : position,
    },
    // What was added during the claim may be missing.
    isDry: !wasFull && !claim.isWoken,
    isLimited: admitted.length === 0 ? state.isLimited : isLimited,
    busyClaims: admitted.length === 0 ? state.busyClaims : state.busyClaims + 1,
    lastWorkAt: found.length === 0 ? state.lastWorkAt : now,
  }
}

/** Waits for an address that has enough connections. Any other error is a reason to give up. */
function noteNotAttempted(
  state: TurnState,
  { due, error }: Extract<TurnEvent, { kind: 'not-attempted' }>,
  now: number,
): TurnState {
  if (!(error instanceof PostponedError) || error.reason !== 'address-busy') {
    return { ...state, failure: state.failure ?? { error } }
  }
  const { position } = state.reading
  const isEarlier = position === null || due.dueAt < position
  return {
    ...state,
    isDry: false,
    pausedUntil: now + busyAddressMs,
    reading: { ...state.reading, position: isEarlier ? due.dueAt : position },
  }
}

function proceed(state: TurnState, facts: TurnFacts): TurnStep {
  const { now, longMs, isCrowded, isAbandoned } = facts
  if (isAbandoned) return { state: { ...state, phase: 'over' }, effects: [{ kind: 'over' }] }
  const isFinishing = state.isFinishing || (isCrowded && now - state.begunAt > longMs)
  if (isFinishing || state.failure !== null) return windUp({ ...state, isFinishing })
  if (now < state.pausedUntil) {
    return { state, effects: [{ kind: 'look-again', afterMs: state.pausedUntil - now }] }
  }
  const begun = begin(state, facts)
  const claimed = claimMore(begun.state, facts)
  const rested = rest(claimed.state, facts)
  return { ...rested, effects: [...begun.effects, ...claimed.effects, ...rested.effects] }
}

/** Begins nothing more, and leaves once everything is recorded. */
function windUp(state: TurnState): TurnStep {
  const { ready, sending, unrecorded, claim, failure } = state
  const forgotten = forget(ready)
  const left = { ...state, ready: [] }
  if (sending + unrecorded > 0 || claim !== null) return { state: left, effects: forgotten }
  if (failure?.error instanceof JobGone) {
    return { state: { ...left, phase: 'over' }, effects: [...forgotten, { kind: 'over' }] }
  }
  const last: TurnEffect =
    failure === null ? { kind: 'hand-back' } : { kind: 'give-up', error: failure.error }
  return { state: { ...left, phase: 'leaving' }, effects: [...forgotten, last] }
}

/** Begins the attempts that there is room for. If the next one was read too long ago, all are read again. */
function begin(state: TurnState, { now, slots }: TurnFacts): TurnStep {
  const { ready, sending, unrecorded } = state
  if (unrecorded >= maxUnrecorded) return { state, effects: [] }
  const isStale = (one: Ready) => !one.isAdmitted && now - one.readAt > staleMs
  const firstStale = ready.findIndex(isStale)
  const fresh = firstStale === -1 ? ready.length : firstStale
  const begun = ready.slice(0, Math.min(fresh, roomOf(slots, sending)))
  const rest = ready.slice(begun.length)
  const effects: TurnEffect[] = begun.map(({ due }) => ({ kind: 'attempt', due }))
  const after = { ...state, ready: rest, sending: sending + begun.length }
  const [next] = rest
  if (next === undefined) return { state: after, effects }
  if (isStale(next)) {
    const discarded = discard(after)
    return { ...discarded, effects: [...effects, ...discarded.effects] }
  }
  if (after.sending === 0) effects.push({ kind: 'wait-for-slot' })
  return { state: after, effects }
}

/** Gives back what is ready, so that it is claimed again. */
function discard(state: TurnState): TurnStep {
  const { ready, reading } = state
  const stale = ready.filter(({ isAdmitted }) => !isAdmitted)
  const position = stale[0]?.due.dueAt ?? reading.position
  return {
    state: {
      ...state,
      ready: ready.filter(({ isAdmitted }) => isAdmitted),
      reading: { ...reading, position },
      isDry: false,
    },
    effects: forget(stale),
  }
}

function forget(ready: readonly Ready[]): TurnEffect[] {
  return ready.length === 0 ? [] : [{ kind: 'forget', attempts: ready.map(({ due }) => due) }]
}

/** With a rate limit nothing is read ahead, because what it has admitted is not read again. */
function claimMore(state: TurnState, facts: TurnFacts): TurnStep {
  const { ready, sending, unrecorded, isDry, isLimited } = state
  const share = shareOf(facts.slots)
  const [most, low] = isLimited ? [share, share / 2] : [4 * share, share]
  const wanted = most - sending - ready.length
  const isWanted = wanted > 0 && ready.length <= low && unrecorded < maxUnrecorded
  if (isDry || state.claim !== null || !isWanted) return { state, effects: [] }
  const { since, reading } = nextClaim(state.reading, facts)
  const claim = { wanted, position: reading.position, isWoken: false }
  return { state: { ...state, claim, reading }, effects: [{ kind: 'claim', since, room: wanted }] }
}

/**
 * Most claims of a backlog begin where the last one ended. Now and then, and when nothing was left,
 * they begin before it, because a transaction that took longer has added attempts behind it.
 */
function nextClaim(
  reading: Reading,
  { now, time }: TurnFacts,
): { since: Date | null; reading: Reading } {
  const { position, wasFull, overlapAt, longOverlapAt, wholeAt } = reading
  if (position === null || now - wholeAt > wholeEveryMs) {
    return { since: null, reading: { ...reading, longOverlapAt: now, wholeAt: now } }
  }
  if (wasFull && now - overlapAt < overlapEveryMs) return { since: position, reading }
  const isLong = now - longOverlapAt > longOverlapEveryMs
  const earliest = time.getTime() - (isLong ? longOverlapMs : overlapMs)
  return {
    since: new Date(Math.min(position.getTime(), earliest)),
    reading: { ...reading, overlapAt: now, longOverlapAt: isLong ? now : longOverlapAt },
  }
}

/** Ends the turn when nothing was due for a while. */
function rest(state: TurnState, { now, idleMs }: TurnFacts): TurnStep {
  const { ready, sending, unrecorded, claim, isDry, lastWorkAt } = state
  if (ready.length + sending + unrecorded > 0 || !isDry || claim !== null) {
    return { state, effects: [] }
  }
  const afterMs = lastWorkAt + idleMs - now
  return afterMs > 0
    ? { state, effects: [{ kind: 'look-again', afterMs }] }
    : { state: { ...state, phase: 'leaving' }, effects: [{ kind: 'end' }] }
}
