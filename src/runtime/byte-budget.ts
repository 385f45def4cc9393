/** Memory that several requests share: a total, of which one holder gets only a part. */
export type ByteBudget = {
  /** @returns false, and takes nothing, if the total or the part of the holder would be exceeded */
  take(holder: string, bytes: number): boolean
  give(holder: string, bytes: number): void
  /** Bytes that are taken. */
  held(): number
}

/** @param limits in bytes; `perHolder`: how much of `total` one holder can have */
export function createByteBudget(limits: { total: number; perHolder: number }): ByteBudget {
  const holders = new Map<string, number>()
  let held = 0

  return {
    take(holder, bytes) {
      const own = (holders.get(holder) ?? 0) + bytes
      if (held + bytes > limits.total || own > limits.perHolder) return false
      held += bytes
      holders.set(holder, own)
      return true
    },
    give(holder, bytes) {
      held -= bytes
      const own = (holders.get(holder) ?? 0) - bytes
      if (own > 0) holders.set(holder, own)
      else holders.delete(holder)
    },
    held: () => held,
  }
}
