import pg from 'pg'

/**
 * Prepared statements that a connection keeps, and texts that have a name at one time. Each costs the server
 * about 50 KB on each connection.
 */
export const maxKept = 400

/** What is used of the driver's connection, which its types do not have. */
type Kept = {
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
  close(statement: { type: 'S'; name: string }): void
}

/** A connection of the driver that keeps the statements it used last: it closes the others. */
export class KeepingClient extends pg.Client {
  readonly #names = new Set<string>()

  // The driver's client has many forms of this; the name is in the first argument of each.
  override query = ((...args: Parameters<pg.Client['query']>) => {
    const { name } = Object(args[0])
    if (typeof name === 'string' && name !== '') this.#keep(name)
    return super.query(...args)
  }) as pg.Client['query']

  #keep(name: string): void {
    const names = this.#names
    names.delete(name)
    names.add(name)
    const connection = this.connection as unknown as Kept
    for (const oldest of names) {
      // Not while it is being prepared: the driver would note it as prepared when the answer arrives.
      if (names.size <= maxKept || oldest in connection.submittedNamedStatements) return
      names.delete(oldest)
      if (!(oldest in connection.parsedStatements)) continue
      connection.close({ type: 'S', name: oldest })
      delete connection.parsedStatements[oldest]
    }
  }
}
