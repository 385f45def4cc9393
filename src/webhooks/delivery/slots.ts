/**
 * The attempts that a process makes at once, and the share of them that an endpoint may use. The share
 * shrinks with the room, and the last quarter is for endpoints with nothing in progress, so that many
 * endpoints that hang leave room for one that responds.
 */
export type Slots = {
  /** Attempts that one endpoint may have in progress now; at least 1. */
  share(): number
  /** @returns false if every slot is taken */
  take(): boolean
  free(): void
  /** Calls `then` when a slot is free, in the order of calls. */
  wait(then: () => void): void
  /** Whether endpoints may be waiting for a turn, because this process has as many as it takes. */
  isCrowded(): boolean
}

/** @param limits attempts in progress, and those of one endpoint while there is plenty of room */
export function createSlots(
  { inFlight, perEndpoint }: { inFlight: number; perEndpoint: number },
  isCrowded: () => boolean,
): Slots {
  const reserved = inFlight / 4
  const shareOfRoom = perEndpoint / (inFlight - reserved)
  const waiting = new Set<() => void>()
  let taken = 0
  return {
    isCrowded,
    share: () => Math.max(1, Math.ceil((inFlight - reserved - taken) * shareOfRoom)),
    take() {
      if (taken >= inFlight) return false
      taken += 1
      return true
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
