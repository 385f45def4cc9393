const maxCredentials = 10_000 // of about half a kilobyte each

/**
 * The facts that the latest transactions of credentials returned, for the credentials used last. They are
 * hints: no write commits unless the database finds the same facts.
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
