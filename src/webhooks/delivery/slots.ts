/**
 * The attempts that a process makes at once, and those of one endpoint while there is plenty of room.
 * The share of an endpoint shrinks with the room, and the last quarter is for endpoints with nothing in
 * progress, so that many endpoints that hang leave room for one that responds.
 */
export type SlotLimits = { inFlight: number; perEndpoint: number }

/** `taken`: attempts in progress. */
export type SlotCounts = SlotLimits & { taken: number }

/** Attempts that one endpoint may have in progress now; at least 1. */
export function shareOf({ inFlight, perEndpoint, taken }: SlotCounts): number {
  const shared = inFlight * 0.75
  return Math.max(1, Math.ceil(((shared - taken) * perEndpoint) / shared))
}

/** How many more attempts an endpoint may begin that has `sending` in progress. */
export function roomOf(slots: SlotCounts, sending: number): number {
  let taken = slots.taken
  let room = 0
  while (taken < slots.inFlight && sending + room < shareOf({ ...slots, taken })) {
    taken += 1
    room += 1
  }
  return room
}

export type Slots = {
  counts(): SlotCounts
  take(): void
  free(): void
  /** Calls `then` when a slot is free, in the order of calls. */
  wait(then: () => void): void
  /** Whether this process has all the turns that it takes, so that endpoints may be waiting for one. */
  isCrowded(): boolean
}

export function createSlots(
  { inFlight, perEndpoint }: SlotLimits,
  isCrowded: () => boolean,
): Slots {
  const waiting = new Set<() => void>()
  let taken = 0
  return {
    isCrowded,
    counts: () => ({ inFlight, perEndpoint, taken }),
    take() {
      taken += 1
    },
    free() {
      taken -= 1
      const [next] = waiting
      if (next === undefined) return
      waiting.delete(next)
      next()
    },
    wait(then) {
      waiting.add(then)
    },
  }
}
