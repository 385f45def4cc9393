const maxCredentials = 4_000 // of half a kilobyte to a few, with the names of the tenants

/**
 * The rows that the latest transactions of credentials returned, for the credentials used last. They are
 * hints: nothing is done on one that the database has not compared.
 */
export type LatestRows = ReturnType<typeof createLatestRows>

export function createLatestRows() {
  const latest = new Map<string, object>()
  return {
    /** @param hash of the credential */
    get: (hash: Uint8Array) => latest.get(keyOf(hash)),
    /** @param row undefined if the credential is not live */
    set(hash: Uint8Array, row: object | undefined): void {
      const key = keyOf(hash)
      latest.delete(key)
      if (row === undefined) return
      const [oldest] = latest.keys()
      if (latest.size >= maxCredentials && oldest !== undefined) latest.delete(oldest)
      latest.set(key, row)
    },
  }
}

export function keyOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64url')
}
