const maxCredentials = 10_000 // of about half a kilobyte each

/**
 * The facts that the latest transactions of credentials returned, for the credentials used last. They are
 * hints: no write commits unless the database finds the same facts.
 */
export type LatestRows = ReturnType<typeof createLatestRows>

/**
 * Keeps rows in two maps: a full one replaces the older one. A single map in the order of use would
 * walk over its deleted entries to find the oldest at every read.
 */
export function createLatestRows() {
  let recent = new Map<string, object>()
  let older = new Map<string, object>()
  return {
    /** @param hash of the credential */
    get(hash: Uint8Array): object | undefined {
      const key = keyOf(hash)
      return recent.get(key) ?? older.get(key)
    },
    /** @param row undefined if the credential is not live */
    set(hash: Uint8Array, row: object | undefined): void {
      const key = keyOf(hash)
      if (row === undefined) {
        recent.delete(key)
        older.delete(key)
        return
      }
      if (recent.size >= maxCredentials / 2 && !recent.has(key)) {
        older = recent
        recent = new Map()
      }
      recent.set(key, row)
    },
  }
}

/** The bytes as characters, which is the fastest form. */
export function keyOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
